import test from 'ava'
import { startTestService, type TestService } from '../helpers/service.ts'

/** More than have a tombstone each. */
const MANY = 1_500

async function addMoons({ database }: TestService, planet: string, count: number): Promise<void> {
  await database.client.pool.query(
    `INSERT INTO moons (planet_id, id, name)
      SELECT '${planet}', 'moon-' || n, 'Moon ' || n FROM generate_series(1, ${count}) AS n`,
  )
}

async function countOf({ database }: TestService, table: string): Promise<number> {
  const { rows } = await database.client.pool.query(`SELECT count(*)::int AS count FROM ${table}`)
  return rows[0].count
}

const versionOf = (headers: Headers) => Number(/:(\d+)"$/.exec(headers.get('etag') ?? '')?.[1])

test('a parent with very many children is deleted with one record of them, not with one for each', async (t) => {
  const service = await startTestService(t)
  const { writer } = service
  await writer.put('/planets/full', { id: 'full', name: 'Full' })
  await addMoons(service, 'full', MANY)
  t.is((await writer.delete('/planets/full')).status, 204)
  t.is(await countOf(service, 'moons'), 0)
  t.is(await countOf(service, 'tombstones'), 1)
  t.is(await countOf(service, 'tombstone_sets'), 1)
})

test('each child of a mass deletion reads as gone, one that never existed as unknown', async (t) => {
  const service = await startTestService(t)
  const { writer } = service
  const planet = { id: 'full', name: 'Full' }
  await writer.put('/planets/full', planet)
  await addMoons(service, 'full', MANY)
  await writer.delete('/planets/full')
  for (const planetIsBack of [false, true]) {
    if (planetIsBack) t.is((await writer.put('/planets/full', planet)).status, 201)
    for (const [id, status] of [
      ['moon-1', 410],
      [`moon-${MANY}`, 410],
      ['moon-0', 404],
    ]) {
      t.is((await writer.get(`/planets/full/moons/${id}`)).status, status as number, `${id} ${planetIsBack}`)
    }
  }
  t.is((await writer.get('/planets/full/moons')).body.total_count, 0)
})

test('no child of a mass deletion gets a version that it had before', async (t) => {
  const service = await startTestService(t)
  const { writer } = service
  const planet = { id: 'full', name: 'Full' }
  const moon = { id: 'moon-7', name: 'Seven' }
  await writer.put('/planets/full', planet)
  let last = 0
  let stale = ''
  for (let round = 0; round < 3; round++) {
    await addMoons(service, 'full', MANY)
    const { headers } = await writer.get('/planets/full/moons/moon-7')
    t.true(versionOf(headers) > last, `round ${round}`)
    await writer.patch('/planets/full/moons/moon-7', { name: `Seven ${round}` })
    const changed = await writer.get('/planets/full/moons/moon-7')
    last = versionOf(changed.headers)
    stale = changed.headers.get('etag') as string
    await writer.delete('/planets/full')
    await writer.put('/planets/full', planet)
  }
  const created = await writer.put('/planets/full/moons/moon-7', moon)
  t.is(created.status, 201)
  t.true(versionOf(created.headers) > last)
  t.is((await writer.delete('/planets/full/moons/moon-7', { 'If-Match': stale })).status, 409)
  await writer.delete('/planets/full/moons/moon-7')
  t.is((await writer.get('/planets/full/moons/moon-7')).status, 410)
  const again = await writer.put('/planets/full/moons/moon-7', moon)
  t.true(versionOf(again.headers) > versionOf(created.headers))
})

test('a mass deletion that does not finish leaves every child, and no tombstone', async (t) => {
  const service = await startTestService(t)
  const { writer } = service
  await writer.put('/planets/full', { id: 'full', name: 'Full' })
  await writer.post('/missions', { name: 'There', destination_planet_id: 'full' })
  await addMoons(service, 'full', MANY)
  t.is((await writer.delete('/planets/full')).status, 409)
  t.is((await writer.get('/planets/full/moons')).body.total_count, MANY)
  t.is(await countOf(service, 'tombstones'), 0)
  t.is(await countOf(service, 'tombstone_sets'), 0)
})

test('children that a statement deletes beneath many parents are told apart by their parents', async (t) => {
  const service = await startTestService(t)
  const { writer } = service
  for (const id of ['one', 'two', 'three']) await writer.put(`/planets/${id}`, { id, name: id })
  await addMoons(service, 'one', MANY)
  await addMoons(service, 'two', 2)
  await service.database.client.pool.query('DELETE FROM moons')
  for (const [path, status] of [
    ['one/moons/moon-3', 410],
    ['two/moons/moon-2', 410],
    ['two/moons/moon-3', 404],
    ['three/moons/moon-1', 404],
  ]) {
    t.is((await writer.get(`/planets/${path}`)).status, status as number, path as string)
  }
})
