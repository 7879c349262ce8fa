import test from 'ava'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

async function query(text: string, values: unknown[] = []) {
  return (await service().database.pool.query(text, values)).rows
}

test.serial('an origin edited in the database moves the reference with it', async (t) => {
  const { writer, reader, base } = service()
  for (const name of ['Ogygia', 'Scheria']) await writer.put(`/planets/${name}`, { id: name, name })
  await writer.put('/species/wanderer', { id: 'wanderer', scientific_name: 'Vaga', planet_origin: 'Ogygia' })
  const planet = async () => (await reader.get('/species/wanderer')).body._links.planet?.href
  const before = (await reader.get('/species/wanderer')).headers.get('etag')
  t.is(await planet(), `${base}/planets/Ogygia`)

  await query("UPDATE species SET planet_origin = 'scheria' WHERE id = 'wanderer'")
  t.is(await planet(), `${base}/planets/Scheria`)
  t.not((await reader.get('/species/wanderer')).headers.get('etag'), before)

  await query("UPDATE species SET planet_origin = 'nowhere' WHERE id = 'wanderer'")
  t.is(await planet(), undefined)
  await query("UPDATE species SET planet_id = 'Ogygia' WHERE id = 'wanderer'")
  t.is(await planet(), undefined)
})

test.serial('a species added to the database refers to the planet that its origin names', async (t) => {
  const { writer } = service()
  await writer.put('/planets/ithaca', { id: 'ithaca', name: 'Ithaca' })
  const [row] = await query(
    "INSERT INTO species (id, scientific_name, planet_origin, discovery_status) VALUES ('native', 'Nativa', 'ITHACA', 'confirmed') RETURNING planet_id",
  )
  t.deepEqual(row, { planet_id: 'ithaca' })
})

test.serial('a planet that is renamed keeps the species that refer to it', async (t) => {
  const { writer, reader, base } = service()
  await writer.put('/planets/aeaea', { id: 'aeaea', name: 'Old Aeaea' })
  await writer.put('/species/resident', {
    id: 'resident',
    scientific_name: 'Fixa',
    planet_origin: 'Old Aeaea',
  })
  await writer.patch('/planets/aeaea', { name: 'New Aeaea' })
  await writer.patch('/species/resident', { habitat: 'cave' })
  t.is((await reader.get('/species/resident')).body._links.planet.href, `${base}/planets/aeaea`)
  t.deepEqual(await query('SELECT * FROM inconsistent_references()'), [])
})

test.serial('a mission edited in the database goes from status to status as the rules say', async (t) => {
  await query("INSERT INTO missions (id, name, status) VALUES ('direct', 'Direct', 'planned')")
  const move = (status: string) => query('UPDATE missions SET status = $1 WHERE id = $2', [status, 'direct'])
  await t.throwsAsync(move('completed'), { message: 'a mission that is planned cannot become completed' })
  await move('active')
  await t.throwsAsync(move('planned'), { message: 'a mission that is active cannot become planned' })
  await move('completed')
  await t.throwsAsync(move('active'), { message: 'a mission that is completed cannot become active' })
})
