import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { embeddedConnection } from '../../src/database/embedded/embedded-database.ts'
import { prepareFolder } from '../../src/database/embedded/folder.ts'
import { valuesComeBack } from '../helpers/database/round-trip.ts'
import { shareTestService, type TestService } from '../helpers/service/service.ts'

// Other clients of the embedded database, such as psql, share the session of its engine.

/** One client can make all of them in this order. */
const CHANGES: Readonly<Record<string, string>> = {
  'temporary tables that hide others':
    'CREATE TEMP TABLE missions (id text); CREATE TEMP TABLE row_counts (id text)',
  'a prepared statement': 'PREPARE halgraph_1 AS SELECT 1',
  'a channel and a lock': 'LISTEN news; SELECT pg_advisory_lock(1)',
  'another time zone': "SET timezone TO 'America/New_York'",
  'another date style': 'SET datestyle TO German',
  'shorter floats': 'SET extra_float_digits TO -10',
  'another search path': 'SET search_path TO pg_catalog',
  'old escapes': 'SET standard_conforming_strings TO off',
  'another encoding': 'SET client_encoding TO LATIN1',
  'serializable transactions': 'SET default_transaction_isolation TO serializable',
  'read-only transactions': 'SET default_transaction_read_only TO on',
  'another role': 'SET ROLE stranger',
  'another user': 'SET SESSION AUTHORIZATION stranger',
}

const shared = shareTestService(test, { databaseUrl: undefined, migrateOnStart: true })

/** The service on an embedded database, and a function that connects other clients. */
async function start(t: ExecutionContext) {
  const service = shared()
  const { socketFolder } = await prepareFolder(service.settings.dataDir)
  const connect = async () => {
    const client = new pg.Client(embeddedConnection(socketFolder))
    client.on('error', () => {})
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  const administrator = await connect()
  await administrator.query(
    'DO $$ BEGIN CREATE ROLE stranger; EXCEPTION WHEN duplicate_object THEN NULL; END $$',
  )
  await administrator.end()
  return { service, connect }
}

async function worksAsBefore(t: ExecutionContext, { writer, anonymous, origin }: TestService): Promise<void> {
  // Statements that a client sent before it disconnected end first.
  const until = Date.now() + 60_000
  while ((await anonymous.get(`${origin}/health/ready`)).status !== 200) t.true(Date.now() < until)
  await valuesComeBack(t, writer)
  const { body } = await writer.get('/missions')
  for (const { id } of body._embedded.missions) t.is((await writer.delete(`/missions/${id}`)).status, 204)
}

/** The socket of a client. */
interface Wire {
  readonly stream: { destroy(): void }
  parse(statement: { name: string; text: string; types: number[] }): void
  bind(config: object): void
  execute(config: object): void
  flush(): void
  sync(): void
  once(event: string, heard: (message: unknown) => void): void
}

const wireOf = (client: pg.Client) => (client as unknown as { connection: Wire }).connection

async function killed(client: pg.Client): Promise<void> {
  wireOf(client).stream.destroy()
  await client.end().catch(() => {})
}

test.serial('the connections of the service are one session, which other clients do not share', async (t) => {
  const { service, connect } = await start(t)
  const { pool } = service.database
  const [one, other, client] = [await pool.connect(), await pool.connect(), await connect()]
  const shown = async (session: pg.ClientBase) =>
    (await session.query("SELECT current_setting('halgraph.shared', true) AS value")).rows[0].value
  try {
    await one.query("SET halgraph.shared = 'yes'")
    t.is(await shown(other), 'yes')
    t.not(await shown(client), 'yes')
  } finally {
    await one.query('RESET halgraph.shared')
    one.release()
    other.release()
  }
})

test.serial('settings of a connected client apply only to that client', async (t) => {
  const { service, connect } = await start(t)
  for (const [title, change] of Object.entries(CHANGES)) {
    const client = await connect()
    await client.query(change)
    await t.notThrowsAsync(worksAsBefore(t, service), title)
    await client.end()
  }
})

test.serial('settings of a client end with its connection', async (t) => {
  const { service, connect } = await start(t)
  for (const leave of [(client: pg.Client) => client.end(), killed]) {
    const client = await connect()
    for (const change of Object.values(CHANGES)) await client.query(change)
    await leave(client)
    await worksAsBefore(t, service)
  }
  const next = await connect()
  const { rows } = await next.query(
    `SELECT session_user, current_user, current_setting('timezone') AS zone, to_regclass('pg_temp.missions') AS hidden,
       (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
       (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory') AS locks,
       (SELECT count(*)::int FROM pg_listening_channels()) AS channels`,
  )
  const clean = { zone: 'UTC', hidden: null, statements: 0, locks: 0, channels: 0 }
  t.deepEqual(rows, [{ session_user: 'postgres', current_user: 'postgres', ...clean }])
})

test.serial('a client keeps its settings, its role and its statements while others work', async (t) => {
  const { service, connect } = await start(t)
  const [first, second] = [await connect(), await connect()]
  await first.query(
    "SET timezone TO 'Asia/Kolkata'; SET search_path TO ''; SET work_mem TO '7MB'; SET ROLE stranger",
  )
  await second.query('SET timezone TO 1; CREATE TEMP TABLE notes (id int)')
  const named = { name: 'one', text: 'SELECT 1 AS one' }
  await first.query(named)
  await worksAsBefore(t, service)
  const { rows } = await first.query(
    `SELECT current_user, current_setting('timezone') AS zone, current_setting('search_path') AS path,
       current_setting('work_mem') AS memory`,
  )
  t.deepEqual(rows, [{ current_user: 'stranger', zone: 'Asia/Kolkata', path: '""', memory: '7MB' }])
  t.deepEqual((await first.query(named)).rows, [{ one: 1 }])
  await first.end()
  t.is((await second.query('SELECT FROM notes')).rowCount, 0)
})

test.serial(
  'a client killed in a transaction, also in the middle of its first statement, leaves nothing',
  async (t) => {
    const { service, connect } = await start(t)
    for (const work of [
      'BEGIN',
      'BEGIN; SELECT 1 / 0',
      'BEGIN; SELECT count(*) FROM generate_series(1, 3e6)',
    ]) {
      const client = await connect()
      await client.query('SET ROLE stranger')
      const answer = client.query(work).catch(() => {})
      if (work === 'BEGIN') await answer
      await killed(client)
      await worksAsBefore(t, service)
    }
  },
)

test.serial('a client killed after an error and before Sync leaves nothing', async (t) => {
  const { service, connect } = await start(t)
  const client = await connect()
  await client.query('BEGIN')
  const wire = wireOf(client)
  await new Promise((resolve) => {
    wire.once('errorMessage', resolve)
    wire.parse({ name: '', text: 'SELECT nothing', types: [] })
    wire.flush()
  })
  await killed(client)
  await worksAsBefore(t, service)
})

test.serial('a client killed before it has asked for a response leaves nothing', async (t) => {
  const { service, connect } = await start(t)
  for (const text of ['SELECT nothing', "INSERT INTO planets (id, name) VALUES ('half', 'Half')"]) {
    const client = await connect()
    const wire = wireOf(client)
    wire.parse({ name: '', text, types: [] })
    wire.bind({})
    wire.execute({})
    await new Promise((resolve) => setImmediate(resolve))
    await killed(client)
    await worksAsBefore(t, service)
  }
  t.is((await service.writer.get('/planets/half')).status, 404)
})

test.serial('a client that continues its statement after Flush is not interrupted', async (t) => {
  const { connect } = await start(t)
  const [client, other] = [await connect(), await connect()]
  const wire = wireOf(client)
  await new Promise((resolve) => {
    wire.once('bindComplete', resolve)
    wire.parse({ name: '', text: "SELECT 'mine' AS answer", types: [] })
    wire.bind({})
    wire.flush()
  })
  const interrupting = other.query('SELECT 1 AS answer')
  // The other statement is sent first.
  await new Promise((resolve) => setImmediate(resolve))
  const row = await new Promise<unknown>((resolve, reject) => {
    wire.once('dataRow', resolve)
    wire.once('errorMessage', reject)
    wire.execute({})
    wire.sync()
  })
  t.like(row, { fields: ['mine'] })
  t.deepEqual((await interrupting).rows, [{ answer: 1 }])
})

test.serial('a client whose role has been dropped is disconnected, and others continue', async (t) => {
  const { service, connect } = await start(t)
  const client = await connect()
  await client.query('SET ROLE stranger')
  const administrator = await connect()
  await administrator.query('DROP ROLE stranger')
  await t.throwsAsync(client.query('SELECT 1'))
  await worksAsBefore(t, service)
})
