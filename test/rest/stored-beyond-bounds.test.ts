import test from 'ava'
import { shareTestService } from '../helpers/service/service.ts'

// Rows that were stored before their constraints: an upgrade keeps them, and no request makes a 500 of one.
const service = shareTestService(test)

/** Runs statements as if a constraint did not exist yet; then it is there, and not valid. */
async function before(table: string, column: string, statement: string): Promise<void> {
  const name = `${table}_${column}_check`
  const { pool } = service().database
  const { rows } = await pool.query(
    'SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = $1',
    [name],
  )
  await pool.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  await pool.query(statement)
  await pool.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${rows[0].text}`)
}

test.serial(
  'a PATCH of a row with a text that is too long is 400, and one that shortens it is taken',
  async (t) => {
    const { writer } = service()
    await writer.put('/planets/long', { id: 'long', name: 'Long' })
    await before('planets', 'host_star', "UPDATE planets SET host_star = repeat('x', 501) WHERE id = 'long'")
    const refused = await writer.patch('/planets/long', { habitable: true })
    t.is(refused.status, 400)
    t.like(refused.body.error, {
      code: 'VALIDATION_FAILED',
      details: [{ field: 'host_star', code: 'TOO_LONG' }],
    })
    t.is((await writer.patch('/planets/long', { host_star: 'Short', habitable: true })).status, 204)
  },
)

test.serial('a row whose read-only field is too long is 409 to change, and can be deleted', async (t) => {
  const { writer } = service()
  await writer.put('/species/long', { id: 'long', scientific_name: 'Longa' })
  const statement = "UPDATE species SET discovery_status = repeat('x', 501) WHERE id = 'long'"
  await before('species', 'discovery_status', statement)
  for (const answer of [
    await writer.patch('/species/long', { habitat: 'reef' }),
    await writer.put('/species/long', { scientific_name: 'Longa', habitat: 'reef' }),
  ]) {
    t.is(answer.status, 409)
    t.is(answer.body.error.code, 'DEPENDENCY_CONFLICT')
    t.notRegex(answer.text, /species_|constraint/)
  }
  t.is((await writer.delete('/species/long')).status, 204)
})

test.serial('a write that also changes such a row is 409, and changes nothing', async (t) => {
  const { writer } = service()
  const { body: mission } = await writer.post('/missions', { name: 'Lantern' })
  const { body: astronaut } = await writer.post('/astronauts', { name: 'Ines' })
  const member = { astronaut_id: astronaut.id, role: 'pilot' }
  const crew = `/missions/${mission.id}/crew`
  const { body: aboard } = await writer.post(crew, member)
  await before(
    'astronauts',
    'rank',
    `UPDATE astronauts SET rank = repeat('x', 501) WHERE id = '${astronaut.id}'`,
  )
  const requests = [
    () => writer.patch(`/missions/${mission.id}`, { status: 'aborted' }),
    () => writer.delete(`${crew}/${aboard.id}`),
    () => writer.delete(`/missions/${mission.id}`),
  ]
  for (const request of requests) {
    const { status, body } = await request()
    t.is(status, 409)
    t.is(body.error.code, 'DEPENDENCY_CONFLICT')
  }
  t.is((await writer.get(`/missions/${mission.id}`)).body.status, 'planned')
  t.is((await writer.patch(`/astronauts/${astronaut.id}`, { rank: 'colonel' })).status, 204)
  for (const request of requests) t.is((await request()).status, 204)
})

test.serial('an astronaut whose row is beyond a bound cannot join a crew: 409', async (t) => {
  const { writer } = service()
  const { body: mission } = await writer.post('/missions', { name: 'Beacon' })
  const { body: astronaut } = await writer.post('/astronauts', { name: 'Ada' })
  await before(
    'astronauts',
    'rank',
    `UPDATE astronauts SET rank = repeat('x', 501) WHERE id = '${astronaut.id}'`,
  )
  const { status } = await writer.post(`/missions/${mission.id}/crew`, {
    astronaut_id: astronaut.id,
    role: 'pilot',
  })
  t.is(status, 409)
})
