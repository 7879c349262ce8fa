import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { createConsistencyTokens } from '../../src/database/replicas/consistency-token.ts'
import { findPrograms, type Programs } from '../helpers/database/own-server.ts'
import {
  createPair,
  onServer,
  reads,
  startFollowing,
  untilVisible,
} from '../helpers/database/replica-pair.ts'
import { createClient } from '../helpers/service/client.ts'
import { processToken, startProcess } from '../helpers/service/service-process.ts'

const programs = await findPrograms((reason) => console.log(`consistency token: ${reason}`))
const claim = programs ? test : test.skip
/** Of tests that set the clock. */
const claimAlone = programs ? test.serial : test.skip

const HEADER = 'consistency-token'

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

claim('a read with the token of a write sees it in another process, over a replica that lags', async (t) => {
  const pair = await createPair(t, programs as Programs)
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

claim('with the token of an earlier write a caller reads its last write', async (t) => {
  const pair = await createPair(t, programs as Programs)
  const service = await startFollowing(t, pair)
  const [writer, other] = [service.withSubject('writer'), service.withSubject('other')]
  const created = await writer.post('/planets', { name: 'Early' })
  const path = `/planets/${created.body.id}`
  const token = { [HEADER]: created.headers.get(HEADER) as string }
  await untilVisible(other, path)
  await pair.control.query('SELECT pg_wal_replay_pause()')
  await writer.patch(path, { habitable: true })
  t.is((await other.get(path, token)).body.habitable, undefined, 'the replica has the earlier write')
  t.is((await writer.get(path, token)).body.habitable, true)
  t.is((await writer.get('/planets', token)).body._embedded.planets[0].habitable, true)
  await pair.control.query('SELECT pg_wal_replay_resume()')
})

claim('a read with a token waits for a replica that follows with a short delay', async (t) => {
  const pair = await createPair(t, programs as Programs, ['recovery_min_apply_delay=40ms'])
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

claim('tokens that are forged, malformed, or of another secret or cluster do no harm', async (t) => {
  const pair = await createPair(t, programs as Programs)
  const here = await startFollowing(t, pair)
  const consistencySecret = 'another secret of thirty-two bytes'
  const there = await startFollowing(t, pair, { consistencySecret })
  const otherCluster = createConsistencyTokens(consistencySecret, '1')
  const [writer, elsewhere] = [here.withSubject('writer'), there.withSubject('writer')]
  await pair.control.query('SELECT pg_wal_replay_pause()')
  const { body, headers } = await writer.post('/planets', { name: 'Far ahead' })
  const token = headers.get(HEADER) as string
  const [timeline, , expiry, signature] = token.split('.')
  const forged = [
    token,
    otherCluster.issue({ timeline: 1, offset: 1 }),
    `${timeline}.1fffffffffffff.${expiry}.${signature}`,
    `${token}x`,
    token.slice(0, -1),
    'x',
    '1.1.1.',
    '"',
    'ÿ',
    '.'.repeat(2_000),
  ]
  for (const one of forged) {
    t.is((await elsewhere.get(`/planets/${body.id}`, { [HEADER]: one })).status, 200, one.slice(0, 100))
  }
  t.is(await reads(there, 'primary_for_token'), forged.length)
  t.is((await elsewhere.get(`/planets/${body.id}`)).status, 404)
})

claimAlone('a token is valid for an hour, and then a read with it is one without a token', async (t) => {
  const pair = await createPair(t, programs as Programs)
  const [here, there] = [await startFollowing(t, pair), await startFollowing(t, pair)]
  const [writer, elsewhere] = [here.withSubject('writer'), there.withSubject('writer')]
  await pair.control.query('SELECT pg_wal_replay_pause()')
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  const issued = now() - 3_600_000
  Date.now = () => issued
  const { body, headers } = await writer.post('/planets', { name: 'An hour ago' })
  const token = { [HEADER]: headers.get(HEADER) as string }

  Date.now = () => issued + 3_600_000
  t.is((await elsewhere.get(`/planets/${body.id}`, token)).status, 200)
  t.is(await reads(there, 'primary_for_token'), 1)
  Date.now = () => issued + 3_601_000
  t.is((await elsewhere.get(`/planets/${body.id}`, token)).status, 404)
  t.is(await reads(there, 'primary_for_token'), 1)
  t.is((await elsewhere.patch(`/planets/${body.id}`, { habitable: true }, token)).status, 204)
})

claim('after a failover, a read with a token sees what the new primary has', async (t) => {
  const pair = await createPair(t, programs as Programs)
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
