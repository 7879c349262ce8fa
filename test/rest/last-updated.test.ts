import test from 'ava'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

/** Runs a statement as it is, without the triggers that keep versions and moments. */
async function withoutTriggers(statement: string): Promise<void> {
  const client = await service().database.pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('SET LOCAL session_replication_role = replica')
    await client.query(statement)
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

test('last_updated never decreases, even if the clock does', async (t) => {
  const { writer, database } = service()
  await writer.put('/planets/ahead', { id: 'ahead', name: 'Ahead' })
  // Written while the clock was an hour ahead.
  await withoutTriggers("UPDATE planets SET last_updated = now() + interval '1 hour' WHERE id = 'ahead'")
  const before = await writer.get('/planets/ahead')
  t.is((await writer.patch('/planets/ahead', { habitable: true })).status, 204)
  const after = await writer.get('/planets/ahead')
  t.is(after.body.habitable, true)
  t.not(after.headers.get('etag'), before.headers.get('etag'))
  t.true(after.body.last_updated >= before.body.last_updated)
  t.true(
    new Date(after.headers.get('last-modified') ?? '') >= new Date(before.headers.get('last-modified') ?? ''),
  )

  await database.pool.query("UPDATE planets SET habitable = FALSE WHERE id = 'ahead'")
  const edited = await writer.get('/planets/ahead')
  t.true(edited.body.last_updated >= after.body.last_updated)
})
