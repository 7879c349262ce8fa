import { setTimeout as delay } from 'node:timers/promises'
import anyTest from 'ava'
import { openDatabase } from '../../src/database/open-database.ts'
import { createTestDatabase } from '../helpers/database.ts'

const server = process.env['TEST_DATABASE_URL']
// The embedded database has one session, in which nothing waits for anything.
const test = server ? anyTest : anyTest.skip

interface Race {
  readonly prepare: string
  readonly deletion: string
  readonly creation: string
}

const RACES: Readonly<Record<string, Race>> = {
  'a deletion': {
    prepare: "INSERT INTO planets (id, name) VALUES ('flicker', 'Flicker')",
    deletion: "DELETE FROM planets WHERE id = 'flicker'",
    creation: "INSERT INTO planets (id, name) VALUES ('flicker', 'Flicker') RETURNING version",
  },
  'a mass deletion': {
    prepare: `INSERT INTO planets (id, name) VALUES ('full', 'Full');
      INSERT INTO moons (planet_id, id, name) SELECT 'full', 'moon-' || n, 'Moon' FROM generate_series(1, 1500) AS n`,
    deletion: 'DELETE FROM moons',
    creation: "INSERT INTO moons (planet_id, id, name) VALUES ('full', 'moon-7', 'Moon') RETURNING version",
  },
}

for (const [what, { prepare, deletion, creation }] of Object.entries(RACES)) {
  test(`a creation that had to wait for ${what} gives way, and has another version the next time (needs TEST_DATABASE_URL)`, async (t) => {
    const database = await openDatabase(await createTestDatabase(t))
    t.teardown(() => database.close())
    const { pool } = database
    await pool.query(prepare)
    const one = await pool.connect()
    await one.query('BEGIN')
    await one.query(deletion)
    const created = t.throwsAsync(pool.query(creation), { code: '40001' })
    // Until it waits for the deletion; were it too early, it would not wait, and there would be no error.
    while ((await waiting()) === 0) await delay(10)
    await one.query('COMMIT')
    one.release()
    await created
    t.deepEqual((await pool.query(creation)).rows, [{ version: 2 }])

    async function waiting(): Promise<number> {
      const text =
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
      return (await pool.query(text)).rowCount ?? 0
    }
  })
}
