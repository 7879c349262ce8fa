import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import type { Settings } from '../../src/service/settings/settings.ts'
import { createServerDatabase } from '../helpers/database/database.ts'
import { findPrograms, type Programs } from '../helpers/database/own-server.ts'
import { createPooler, findPooler } from '../helpers/database/pooler.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { createPair, reads, startFollowing, untilVisible } from '../helpers/database/replica-pair.ts'
import { valuesComeBack } from '../helpers/database/round-trip.ts'
import { workTogether } from '../helpers/load/concurrent-work.ts'
import { runCommand } from '../helpers/service/commands.ts'
import { startTestService, type TestService } from '../helpers/service/service.ts'
import { untilStatus } from '../helpers/service/until-status.ts'

const log = (reason: string) => console.log(`pooler: ${reason}`)
const server = (await findPooler(log)) ? findServer(log) : undefined
const claim = server ? test : test.skip
const programs = server ? await findPrograms(log) : undefined
const claimOfStandby = programs ? test : test.skip

/** A PgBouncer in transaction mode, with few connections to a database whose defaults are hostile. */
async function createSharedSessions(t: ExecutionContext, size: number) {
  const direct = await createDatabaseOn(server as string, t)
  const pooler = await createPooler(t, direct, { mode: 'transaction', size, clients: 200 })
  const start = (overrides: Partial<Settings> = {}) =>
    startTestService(t, { databaseUrl: pooler.address, databasePoolSize: 40, ...overrides })
  return { direct, pooler, start }
}

/** Lets every sixth transaction take long to set itself up. */
const SLOW_SET_UP = `SET allow_system_table_mods TO on;
  ALTER FUNCTION pg_catalog.set_config(text, text, boolean) RENAME TO set_config_at_once;
  CREATE FUNCTION pg_catalog.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS $$
    SELECT pg_catalog.pg_sleep(1) WHERE $1 = 'search_path' AND random() < 1.0 / 6;
    SELECT pg_catalog.set_config_at_once($1, $2, $3) $$`

async function connect(t: ExecutionContext, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

for (const mode of ['session', 'transaction'] as const) {
  claim(`through PgBouncer in ${mode} mode, values come back as they were sent`, async (t) => {
    // The database is empty: the migrations go through PgBouncer as well.
    const direct = await createServerDatabase(server as string, t)
    const { address } = await createPooler(t, direct, { mode })
    const { writer, anonymous, origin } = await startTestService(t, {
      databaseUrl: address,
      migrateOnStart: true,
    })
    t.is((await anonymous.get(`${origin}/health/ready`)).status, 200)
    await valuesComeBack(t, writer)
  })
}

claim(
  'with pooler=session, sessions are set up once, and a pooler in transaction mode is refused',
  async (t) => {
    const direct = await createDatabaseOn(server as string, t)
    const [session, transaction] = [
      await createPooler(t, direct, { mode: 'session', size: 5 }),
      await createPooler(t, direct, { mode: 'transaction' }),
    ]
    const inSession = (address: string) => `${address}?pooler=session`
    const environment = { DATABASE_URL: inSession(session.address) }
    const checked = await runCommand('doctor', environment)
    t.is(checked.status, 0, checked.output + checked.errors)
    t.regex(checked.output, /session: .*TimeZone UTC/)
    // The service has the sessions that the command has left.
    const { writer } = await startTestService(t, {
      databaseUrl: inSession(session.address),
      databasePoolSize: 5,
    })
    await valuesComeBack(t, writer)
    for (const size of ['2', '10']) {
      const variables = { DATABASE_URL: inSession(transaction.address), DATABASE_POOL_SIZE: size }
      const wrong = await runCommand('doctor', variables)
      t.is(wrong.status, 1)
      t.regex(wrong.output, /pooler is in transaction mode/)
    }
    const unknown = await runCommand('doctor', { DATABASE_URL: `${session.address}?pooler=transaction` })
    t.regex(unknown.output, /The pooler in DATABASE_URL can only be session/)
  },
)

claim('commands work through the pool, and doctor names it', async (t) => {
  const { pooler, direct } = await createSharedSessions(t, 4)
  const environment = { DATABASE_URL: pooler.address, DATABASE_TIMEOUT: '60000' }
  const migrated = await runCommand('migrate', environment)
  t.is(migrated.status, 0, migrated.output)
  const seeded = await runCommand('seed', environment)
  t.is(seeded.status, 0, seeded.output)
  const checked = await runCommand('doctor', environment)
  t.notRegex(checked.output, /^(?:FAIL|warn)/m)
  const control = await connect(t, direct)
  await control.query(
    'ALTER TABLE public.crew DROP CONSTRAINT crew_role_check, ADD CONSTRAINT crew_role_check CHECK (TRUE)',
  )
  t.notRegex((await runCommand('doctor', environment, '--repair')).output, /^(?:FAIL|warn)/m)
  t.regex(checked.output, /each transaction, through a pooler: .*TimeZone UTC; DateStyle ISO, MDY/)
  const exported = await runCommand('export', environment, 'planets')
  t.is(exported.status, 0, exported.output)
})

claim('what another client leaves in a session of the pool has no effect', async (t) => {
  const { pooler, direct, start } = await createSharedSessions(t, 1)
  const other = await connect(t, pooler.address)
  const { writer } = await start()
  for (const setting of [
    `timezone TO 'Asia/Kolkata'`,
    'datestyle TO German',
    'search_path TO nowhere',
    'extra_float_digits TO -15',
    'default_transaction_isolation TO serializable',
    'statement_timeout TO 500',
    `client_encoding TO 'LATIN1'`,
    'standard_conforming_strings TO off',
  ]) {
    await other.query(`SET ${setting}`)
    await valuesComeBack(t, writer)
    const control = await connect(t, direct)
    await control.query(`SET search_path TO public; DELETE FROM missions`)
  }
})

claim(
  'a statement_timeout that another client leaves in a session of the pool ends no request',
  async (t) => {
    const { pooler, direct, start } = await createSharedSessions(t, 1)
    const { writer } = await start()
    await (await connect(t, direct)).query(SLOW_SET_UP)
    await (await connect(t, pooler.address)).query('SET statement_timeout TO 50')
    await valuesComeBack(t, writer)
  },
)

claim('the service leaves nothing in a session of the pool', async (t) => {
  const { pooler, start } = await createSharedSessions(t, 1)
  const other = await connect(t, pooler.address)
  const settings = 'SELECT name, setting FROM pg_settings ORDER BY name'
  const statements = 'SELECT count(*)::int AS count FROM pg_prepared_statements'
  const { rows: before } = await other.query(settings)
  const { writer } = await start()
  await valuesComeBack(t, writer)
  const { rows: after } = await other.query(settings)
  // A procedural language that was loaded meanwhile has settings of its own.
  const names = new Set(before.map(({ name }) => name))
  t.deepEqual(
    after.filter(({ name }) => names.has(name)),
    before,
  )
  t.is((await other.query(statements)).rows[0].count, 0)
})

claim('each change is recorded with its own writer, although all share few sessions', async (t) => {
  const { direct, start } = await createSharedSessions(t, 3)
  const { withSubject, database } = await start()
  const editor = await connect(t, direct)
  const write = async (_: unknown, index: number) => {
    const [maker, other] = [withSubject(`maker-${index}`), withSubject(`other-${index}`)]
    const [path, name] = [`/planets/planet-${index}`, `Planet ${index}`]
    await maker.put(path, { id: `planet-${index}`, name }, index % 2 ? {} : { 'If-None-Match': '*' })
    await database.pool.query('UPDATE planets SET habitable = TRUE WHERE id = $1', [`planet-${index}`])
    await other.post('/species', { scientific_name: name, planet_origin: `Origin ${index}` })
    await other.delete(path)
  }
  await Promise.all(Array.from({ length: 40 }, write))
  const text = `SELECT collection, event, regexp_replace(changed_by, '[0-9]+', '') AS writer, count(*)::int AS changes,
      bool_and(changed_by = current_user OR substring(changed_by, '[0-9]+$') = substring(COALESCE(resource ->> 'name', resource ->> 'scientific_name'), '[0-9]+$')) AS own
    FROM public_internal.recorded_changes GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
  const { rows } = await editor.query(text)
  const { user } = editor
  const each = { changes: 40, own: true }
  t.deepEqual(rows, [
    { collection: 'planets', event: 'changed', writer: user, ...each },
    { collection: 'planets', event: 'created', writer: 'maker-', ...each },
    { collection: 'planets', event: 'created', writer: 'other-', ...each },
    { collection: 'planets', event: 'deleted', writer: 'other-', ...each },
    { collection: 'species', event: 'created', writer: 'other-', ...each },
  ])
})

claim('services whose connections are many more than those of the pool contradict no one', async (t) => {
  const { direct, start } = await createSharedSessions(t, 4)
  const services = [await start(), await start()]
  const control = await connect(t, direct)
  const origins = services.map(({ origin }) => origin)
  const { requests, problems } = await workTogether(origins, 48, 2)
  t.deepEqual(problems, [])
  t.true(requests > 48 * 2 * 9)
  const { rows } = await control.query(
    'SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()',
  )
  // Those of the pool, and this one.
  t.true(rows[0].count <= 5, `${rows[0].count} connections`)
})

claim('the limits of a statement and of a transaction hold through the pool', async (t) => {
  const { direct, start } = await createSharedSessions(t, 4)
  const { writer } = await start({ databaseTimeout: 1_000 })
  const control = await connect(t, direct)
  t.is((await untilStatus(200, () => writer.get('/planets'))).status, 200)
  await control.query(
    'SET search_path TO public, public_internal; BEGIN; LOCK TABLE planets, spacecraft, idempotency_keys',
  )
  const answers = await Promise.all([
    writer.get('/planets?filter=name:x'),
    writer.post('/planets', { name: 'Waits' }),
    writer.post('/spacecraft', { name: 'Waits', kind: 'lander' }, { 'idempotency-key': 'waits' }),
  ])
  t.deepEqual(
    answers.map(({ status }) => status),
    [503, 503, 503],
  )
  // The server ends them itself: a statement that waits for a lock does not notice that its client has left. PgBouncer may
  // still have one to send, so one moment without a statement proves nothing.
  const observer = await connect(t, direct)
  const active = `SELECT query FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`
  const seen = new Set<string>()
  let quiet = 0
  for (let check = 0; quiet < 20 && check < 600; check++) {
    const { rows } = await observer.query<{ query: string }>(active)
    for (const { query } of rows) seen.add(query)
    quiet = rows.length === 0 ? quiet + 1 : 0
    await delay(50)
  }
  t.is(quiet, 20, [...seen].join('\n'))
  await control.query('ROLLBACK')
  t.is((await writer.post('/planets', { name: 'No longer waits' })).status, 201)
})

claim('while PgBouncer is gone requests are refused with 503, and afterwards served again', async (t) => {
  const { pooler, start } = await createSharedSessions(t, 4)
  const { writer, anonymous, origin } = await start({ databaseTimeout: 1_500 })
  const ready = () => anonymous.get(`${origin}/health/ready`)
  t.is(
    (await untilStatus(204, () => writer.put('/planets/stays', { id: 'stays', name: 'Stays' }))).status,
    204,
  )
  await pooler.kill()
  for (const { status } of await Promise.all([
    writer.get('/planets'),
    writer.post('/planets', { name: 'Nowhere to put it' }),
    writer.put('/planets/x', { id: 'x', name: 'Nowhere either' }),
  ])) {
    t.is(status, 503)
  }
  t.is((await ready()).status, 503)
  await pooler.start()
  t.is((await untilStatus(200, ready)).status, 200)
  t.is((await untilStatus(200, () => writer.get('/planets/stays'))).status, 200)
  t.is((await untilStatus(200, () => writer.get('/planets'))).body.total_count, 1)
  t.is(
    (await untilStatus(204, () => writer.put('/planets/again', { id: 'again', name: 'Again' }))).status,
    204,
  )
})

claimOfStandby(
  'a standby behind PgBouncer in transaction mode serves reads, also those with a token',
  async (t) => {
    const pair = await createPair(t, programs as Programs)
    const pooler = await createPooler(t, pair.replicaUrl, { mode: 'transaction', size: 2 })
    const urls = { databaseUrl: pair.databaseUrl, replicaUrl: pooler.address }
    const [here, there] = [await startFollowing(t, urls), await startFollowing(t, urls)]
    const { body, headers } = await here.writer.post('/planets', { name: 'Behind a pooler' })
    const path = `/planets/${body.id}`
    const token = { 'consistency-token': headers.get('consistency-token') as string }
    await untilVisible(there.reader, path)
    t.true((await reads(there, 'replica')) > 0)
    t.is((await there.reader.get(path, token)).status, 200)
    t.is(await reads(there, 'primary_for_token'), 1)
    const answers = await Promise.all(Array.from({ length: 50 }, () => there.reader.get(path)))
    t.true(answers.every(({ status }) => status === 200))

    await pair.control.query('SELECT pg_wal_replay_pause()')
    await here.writer.patch(path, { habitable: true })
    t.is((await there.reader.get(path, token)).body.habitable, true)
    t.is(await reads(there, 'primary_for_token'), 2)

    await pair.control.query('SELECT pg_wal_replay_resume()')
    await pair.standby.kill()
    await untilUsable(there, 0)
    t.is((await there.reader.get(path)).status, 200)
    await pair.standby.start()
    await untilUsable(there, 1)
    t.is((await there.reader.get(path)).body.habitable, true)
  },
)

/** Waits until a service reads from its replica (1), or no longer does (0). */
async function untilUsable({ anonymous, origin }: TestService, usable: number): Promise<void> {
  const isSo = async () =>
    new RegExp(`^halgraph_replica_usable\\{.*\\} ${usable}$`, 'm').test(
      (await anonymous.get(`${origin}/metrics`)).text,
    )
  for (let wait = 0; !(await isSo()); wait++) {
    if (wait === 600) throw new Error(`the replica is not ${usable}`)
    await delay(50)
  }
}
