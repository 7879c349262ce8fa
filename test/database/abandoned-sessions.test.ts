import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import pg from 'pg'
import { AbandonedSessions } from '../../src/database/abandoned-sessions.ts'
import type { DatabaseUse } from '../../src/database/client.ts'
import { createPool } from '../../src/database/pool.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { until } from '../helpers/process/until.ts'

/** Sessions whose server answers `running` how many statements are too long, or fails with it. */
function abandoned(running: () => number | Error | undefined) {
  const asked: unknown[] = []
  const query = async (_: string, values: unknown[]) => {
    asked.push(...values)
    const answer = running()
    if (answer instanceof Error) throw answer
    // A server that does not respond.
    if (answer === undefined) return new Promise(() => {})
    return { rows: [{ count: answer }] }
  }
  const sessions = new AbandonedSessions({ query } as unknown as pg.Pool, 700)
  let held = 0
  sessions.hold = () => {
    held++
    return () => held--
  }
  return { sessions, asked, held: () => held }
}

test('abandoned sessions are held until the server has ended them', async (t) => {
  let running = 3
  const { sessions, asked, held } = abandoned(() => running)
  for (let added = 0; added < 3; added++) sessions.add()
  await until(() => asked.length >= 2)
  t.deepEqual([sessions.count, held()], [3, 3])
  running = 1
  await until(() => sessions.count < 3)
  t.deepEqual([sessions.count, held()], [1, 1])
  // Sessions of other processes count, too.
  running = 4
  sessions.add()
  const before = asked.length
  await until(() => asked.length >= before + 2)
  t.is(held(), 2)
  running = 0
  await until(() => held() === 0)
  t.deepEqual(new Set(asked), new Set([700]))
  const last = asked.length
  await delay(1_000)
  t.is(asked.length, last, 'it is not asked without need')
  sessions.add()
  await until(() => held() === 0)
  t.true(asked.length > last)
})

test('sessions that the server does not show are forgotten; without an answer, it is asked again', async (t) => {
  const refusing = abandoned(() => new pg.DatabaseError('permission denied', 0, 'error'))
  refusing.sessions.add()
  await until(() => refusing.held() === 0)
  const silent = abandoned(() => undefined)
  silent.sessions.add()
  await until(() => silent.asked.length >= 2)
  const lost = abandoned(() => new Error('Connection terminated'))
  lost.sessions.add()
  await until(() => lost.asked.length >= 2)
  t.deepEqual([silent.held(), lost.held()], [1, 1])
})

test('abandoned sessions take connections from the pool, but at most half of them', async (t) => {
  const pool = createPool({ host: '127.0.0.1', port: 1 }, {
    databasePoolSize: 5,
    databaseTimeout: 100,
  } as DatabaseUse)
  t.teardown(() => pool.end())
  const sizes = [pool.options.max]
  for (let added = 0; added < 4; added++) {
    pool.abandoned.add()
    sizes.push(pool.options.max)
  }
  t.deepEqual(sizes, [5, 4, 3, 3, 3])
})

const server = findServer((reason) => console.log(`abandoned-sessions: ${reason}`))
const claim = server ? test : test.skip
const LONG = 'SELECT pg_sleep(60)'

claim(
  'a session is held while the database executes a long statement of its role, and no other one',
  async (t) => {
    const address = await createDatabaseOn(server as string, t)
    const connect = async (connectionString: string) => {
      const client = new pg.Client({ connectionString })
      client.on('error', () => {})
      await client.connect()
      t.teardown(() => client.end())
      return client
    }
    const pool = new pg.Pool({ connectionString: address })
    t.teardown(() => pool.end())
    const sessions = new AbandonedSessions(pool, 500)
    const [client, idle, elsewhere] = [
      await connect(address),
      await connect(address),
      await connect(server as string),
    ]
    /** Waits until the database executes the long statement for longer than the timeout. */
    const executes = (database: pg.Pool | pg.Client) =>
      until(async () => {
        const { rowCount } = await database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = $1 AND state = 'active'
            AND query_start < clock_timestamp() - interval '600 ms'`,
          [LONG],
        )
        return Boolean(rowCount)
      })
    await idle.query('BEGIN; SELECT 1')
    elsewhere.query(LONG).catch(() => {})
    await executes(await connect(server as string))
    sessions.add()
    await until(() => sessions.count === 0)

    const sleeps = client.query(LONG).catch(() => {})
    await executes(pool)
    sessions.add()
    await delay(800)
    t.is(sessions.count, 1)
    await pool.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query = $1',
      [LONG],
    )
    await until(() => sessions.count === 0)
    await sleeps
  },
)
