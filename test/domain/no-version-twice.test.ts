import { setTimeout as delay } from 'node:timers/promises'
import anyTest from 'ava'
import { openDatabase } from '../../src/domain/database/open-database.ts'
import { createTestDatabase } from '../helpers/database.ts'

const server = process.env['TEST_DATABASE_URL']
// The embedded database has one session, in which nothing waits for anything.
const test = server ? anyTest : anyTest.skip

const INSERT = "INSERT INTO planets (id, name) VALUES ('flicker', 'Flicker')"

test('a creation that had to wait for a deletion gives way, and has another version the next time (needs TEST_DATABASE_URL)', async (t) => {
  const database = await openDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  const { pool } = database.client
  await pool.query(INSERT)
  const one = await pool.connect()
  await one.query('BEGIN')
  await one.query("DELETE FROM planets WHERE id = 'flicker'")
  const creation = t.throwsAsync(pool.query(INSERT), { code: '40001' })
  // Until it waits for the deletion; were it too early, it would not wait, and there would be no error.
  while ((await waiting()) === 0) await delay(10)
  await one.query('COMMIT')
  one.release()
  await creation
  await pool.query(INSERT)
  const { rows } = await pool.query("SELECT version FROM planets WHERE id = 'flicker'")
  t.is(rows[0].version, 2)

  async function waiting(): Promise<number> {
    const text =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return (await pool.query(text)).rowCount ?? 0
  }
})
