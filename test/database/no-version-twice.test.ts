import { setTimeout as delay } from 'node:timers/promises'
import anyTest from 'ava'
import { createTestDatabase, openTestDatabase } from '../helpers/database.ts'

const server = process.env['TEST_DATABASE_URL']
// The embedded database has one session, in which statements never wait for each other.
const test = server ? anyTest : anyTest.skip

interface Conflict {
  readonly prepare: string
  readonly deletion: string
  readonly creation: string
}

const CONFLICTS: Readonly<Record<string, Conflict>> = {
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

for (const [what, { prepare, deletion, creation }] of Object.entries(CONFLICTS)) {
  test(`a creation that waited for ${what} fails, and has another version when repeated (needs TEST_DATABASE_URL)`, async (t) => {
    const database = await openTestDatabase(await createTestDatabase(t))
    t.teardown(() => database.close())
    const { pool } = database
    await pool.query(prepare)
    const one = await pool.connect()
    await one.query('BEGIN')
    await one.query(deletion)
    const created = t.throwsAsync(pool.query(creation), { code: '40001' })
    // Until the creation waits for the deletion. Earlier, it would not wait, and there would be no error.
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
