import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import type { Settings } from '../../src/settings.ts'
import { type Client, createClient } from '../helpers/client.ts'
import { createOwnServer, findPrograms, type OwnServer } from '../helpers/own-server.ts'
import { createDatabaseOn } from '../helpers/postgres-server.ts'
import { startTestService, type TestService } from '../helpers/service.ts'
import { processToken, startProcess } from '../helpers/service-process.ts'

const programs = await findPrograms((reason) => console.log(`consistency token: ${reason}`))
const claim = programs ? test : test.skip

const HEADER = 'consistency-token'

/** A primary and a standby that replays when a test says so, or after a delay. */
async function createPair(t: ExecutionContext, standbySettings: readonly string[] = []) {
  const primary = await createOwnServer(t, programs as NonNullable<typeof programs>)
  const databaseUrl = await createDatabaseOn(primary.address, t)
  const standby = await primary.standby(standbySettings)
  const replicaUrl = onServer(databaseUrl, standby)
  const control = new pg.Client({ connectionString: replicaUrl })
  control.on('error', () => {})
  await control.connect()
  t.teardown(() => control.end())
  await control.query("SET default_transaction_isolation TO 'read committed'")
  return { primary, standby, databaseUrl, replicaUrl, control }
}

function onServer(databaseUrl: string, { address }: OwnServer): string {
  const url = new URL(databaseUrl)
  url.port = new URL(address).port
  return url.href
}

/** A process that has read from the replica already. A replica may lag for as long as a test takes. */
async function startFollowing(
  t: ExecutionContext,
  urls: { readonly databaseUrl: string; readonly replicaUrl: string },
  overrides: Partial<Settings> = {},
): Promise<TestService> {
  const fit: number[] = []
  const settings = { replicaLag: 600_000, databaseTimeout: 10_000, metrics: true, ...overrides }
  const service = await startTestService(
    t,
    { databaseUrl: urls.databaseUrl, databaseReplicaUrls: [urls.replicaUrl], ...settings },
    { reportReplicas: (count) => fit.push(count) },
  )
  for (let wait = 0; fit.at(-1) !== 1 && wait < 400; wait++) await delay(50)
  t.is(fit.at(-1), 1)
  return service
}

/** The same as a process of its own, and a client of it. */
async function startFollowingProcess(
  t: ExecutionContext,
  { databaseUrl, replicaUrl }: { readonly databaseUrl: string; readonly replicaUrl: string },
) {
  const environment = { REPLICA_LAG: '600000', DATABASE_TIMEOUT: '10000', METRICS: 'true', LOG_LEVEL: 'info' }
  const addresses = { DATABASE_URL: databaseUrl, DATABASE_REPLICA_URLS: replicaUrl }
  const { origin: listening, output } = startProcess({ ...environment, ...addresses }, t)
  const origin = await listening
  for (let wait = 0; !output().includes('"fit":1,"all":1') && wait < 400; wait++) await delay(50)
  const base = `${origin}/api/v1`
  const anonymous = createClient(origin, base, undefined)
  return { origin, anonymous, elsewhere: createClient(origin, base, processToken('writer')) }
}

/** How many operations of a process began with reads from somewhere. */
async function reads(
  { anonymous, origin }: Pick<TestService, 'anonymous' | 'origin'>,
  from: string,
): Promise<number> {
  const { text } = await anonymous.get(`${origin}/metrics`)
  return Number(new RegExp(`^halgraph_database_reads_total\\{from="${from}"\\} (\\d+)$`, 'm').exec(text)?.[1])
}

async function untilVisible(client: Client, path: string): Promise<void> {
  for (let wait = 0; (await client.get(path)).status !== 200 && wait < 400; wait++) await delay(50)
}

claim('a read with the token of a write sees it in another process, over a replica that lags', async (t) => {
  const pair = await createPair(t)
  const writer = (await startFollowing(t, pair)).withSubject('writer')
  const there = await startFollowingProcess(t, pair)
  const { elsewhere } = there
  await pair.control.query('SELECT pg_wal_replay_pause()')

  const created = await writer.post('/planets', { name: 'Far ahead' })
  const path = `/planets/${created.body.id}`
  const token = created.headers.get(HEADER) as string
  t.truthy(token)
  t.is((await elsewhere.get(path)).status, 404)
  t.is((await elsewhere.get(path, { [HEADER]: token })).status, 200)
  const list = await elsewhere.get('/planets', { [HEADER]: token })
  t.is(list.body.total_count, 1)
  const query = '{ planetPage { totalCount } }'
  t.is((await elsewhere.graphql(query)).data.planetPage.totalCount, 0)
  t.is((await elsewhere.graphql(query, {}, { [HEADER]: token })).data.planetPage.totalCount, 1)
  t.is(await reads(there, 'primary_for_token'), 3)

  // Each kind of write has a token, and one that changes the resource again names a later position.
  const patched = await writer.patch(path, { habitable: true })
  const newer = patched.headers.get(HEADER) as string
  t.is((await elsewhere.get(path, { [HEADER]: newer })).body.habitable, true)
  const { headers } = await writer.graphql('mutation { deletePlanet(id: "none") { outcome } }')
  t.truthy(headers.get(HEADER))
  t.falsy((await writer.get(path)).headers.get(HEADER))

  await pair.control.query('SELECT pg_wal_replay_resume()')
  await untilVisible(elsewhere, path)
  const before = await reads(there, 'replica')
  t.is((await elsewhere.get(path, { [HEADER]: newer })).body.habitable, true)
  t.is(await reads(there, 'replica'), before + 1)
})

claim('a read with a token waits for a replica that follows with a short delay', async (t) => {
  const pair = await createPair(t, ['recovery_min_apply_delay=40ms'])
  const [here, there] = [await startFollowing(t, pair), await startFollowing(t, pair)]
  const [writer, elsewhere] = [here.withSubject('writer'), there.withSubject('writer')]
  const before = await reads(there, 'replica')
  for (let number = 0; number < 20; number++) {
    const { body, headers } = await writer.post('/planets', { name: `Planet ${number}` })
    const { status } = await elsewhere.get(`/planets/${body.id}`, {
      [HEADER]: headers.get(HEADER) as string,
    })
    t.is(status, 200)
  }
  // On a busy machine some of them are read from the primary.
  t.true((await reads(there, 'replica')) > before)
})

claim('tokens that are forged, malformed, or of another secret do no harm', async (t) => {
  const pair = await createPair(t)
  const here = await startFollowing(t, pair)
  const there = await startFollowing(t, pair, { consistencySecret: 'another secret of thirty-two bytes' })
  const [writer, elsewhere] = [here.withSubject('writer'), there.withSubject('writer')]
  await pair.control.query('SELECT pg_wal_replay_pause()')
  const { body, headers } = await writer.post('/planets', { name: 'Far ahead' })
  const token = headers.get(HEADER) as string
  const [timeline, , expiry, signature] = token.split('.')
  const forged = [
    token,
    `${timeline}.1fffffffffffff.${expiry}.${signature}`,
    `${token}x`,
    token.slice(0, -1),
    'x',
    '1.1.1.',
    '"',
    'ÿ',
    '.'.repeat(10_000),
  ]
  for (const one of forged) {
    t.is((await elsewhere.get(`/planets/${body.id}`, { [HEADER]: one })).status, 200, one.slice(0, 100))
  }
  t.is(await reads(there, 'primary_for_token'), forged.length)
  t.is((await elsewhere.get(`/planets/${body.id}`)).status, 404)
})

claim('after a failover, a read with a token sees what the new primary has', async (t) => {
  const pair = await createPair(t)
  const before = (await startFollowing(t, pair)).withSubject('writer')
  const old = await before.post('/planets', { name: 'Before the failover' })
  const path = `/planets/${old.body.id}`
  await untilReplayed(pair.control, pair.databaseUrl)
  await pair.primary.kill()
  // Its database is dropped at the end.
  t.teardown(() => pair.primary.start())
  await pair.control.query('SELECT pg_promote()')
  const next = await pair.standby.standby()
  const urls = { databaseUrl: pair.replicaUrl, replicaUrl: onServer(pair.databaseUrl, next) }
  const [here, there] = [await startFollowing(t, urls), await startFollowing(t, urls)]
  const [writer, elsewhere] = [here.withSubject('writer'), there.withSubject('writer')]

  const token = old.headers.get(HEADER) as string
  t.is((await elsewhere.get(path, { [HEADER]: token })).status, 200)
  t.is(await reads(there, 'primary_for_token'), 1)
  const { body, headers } = await writer.post('/planets', { name: 'After the failover' })
  const newer = headers.get(HEADER) as string
  t.not(newer.split('.')[0], token.split('.')[0])
  for (let wait = 0; (await reads(there, 'replica')) === 0 && wait < 200; wait++) {
    t.is((await elsewhere.get(`/planets/${body.id}`, { [HEADER]: newer })).status, 200)
    await delay(20)
  }
  t.true((await reads(there, 'replica')) > 0)
})

/** Waits until a standby has replayed everything that its primary has written. */
async function untilReplayed(standby: pg.Client, databaseUrl: string): Promise<void> {
  const primary = new pg.Client({ connectionString: databaseUrl })
  await primary.connect()
  const { rows } = await primary.query('SELECT pg_current_wal_lsn()::text AS written')
  await primary.end()
  const statement = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS caught_up'
  while (!(await standby.query(statement, [rows[0].written])).rows[0].caught_up) await delay(20)
}
