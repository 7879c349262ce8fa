import test from 'ava'
import pg from 'pg'
import { sessionStatement } from '../../src/database/session.ts'
import { createPooler, findPooler } from '../helpers/pooler.ts'
import { createDatabaseOn, findServer } from '../helpers/postgres-server.ts'
import { valuesComeBack } from '../helpers/round-trip.ts'
import { startTestService } from '../helpers/service.ts'

const log = (reason: string) => console.log(`pooler: ${reason}`)
const server = (await findPooler(log)) ? await findServer(log) : undefined
const claim = server ? test : test.skip

claim(
  'through PgBouncer in session mode, as it is installed, values come back as they were sent',
  async (t) => {
    const databaseUrl = await createPooler(t, await createDatabaseOn(server as string, t), 'session')
    const { writer, anonymous, origin } = await startTestService(t, { databaseUrl, migrateOnStart: true })
    t.is((await anonymous.get(`${origin}/health/ready`)).status, 200)
    await valuesComeBack(t, writer)
  },
)

claim('through PgBouncer in transaction mode a session keeps time zone, dates and escapes', async (t) => {
  const databaseUrl = await createPooler(t, await createDatabaseOn(server as string, t), 'transaction')
  const clients = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      t.teardown(() => client.end())
      await client.query(sessionStatement())
      return client
    }),
  )
  const sessions = new Set<number>()
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      clients.map((client) =>
        client.query(
          `SELECT pg_backend_pid() AS session, pg_sleep(0.01 * random()), '\\x'::text AS text,
             timestamptz '2031-06-01 06:07:08.9'::text AS moment`,
        ),
      ),
    )
    for (const { rows } of answers) {
      sessions.add(rows[0].session)
      t.like(rows[0], { moment: '2031-06-01 06:07:08.9+00', text: '\\x' })
    }
  }
  t.true(sessions.size > 1)
})
