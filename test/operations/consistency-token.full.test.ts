import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { findPrograms, type Programs } from '../helpers/database/own-server.ts'
import { createPair, reads, startFollowing, untilVisible } from '../helpers/database/replica-pair.ts'
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

  // Each kind of write has a token.
  t.truthy((await writer.patch(path, { habitable: true })).headers.get(HEADER))
  const { headers } = await writer.graphql('mutation { deletePlanet(id: "none") { outcome } }')
  t.truthy(headers.get(HEADER))
  t.falsy((await writer.get(path)).headers.get(HEADER))
})

claim('a token holds for its last write as for the first', async (t) => {
  const pair = await createPair(t, programs as Programs)
  const [here, there] = [await startFollowing(t, pair), await startFollowing(t, pair)]
  const [writer, elsewhere] = [here.withSubject('writer'), there.withSubject('writer')]
  const created = await writer.post('/planets', { name: 'Early' })
  const path = `/planets/${created.body.id}`
  const token = { [HEADER]: created.headers.get(HEADER) as string }
  await untilVisible(elsewhere, path)
  await pair.control.query('SELECT pg_wal_replay_pause()')
  await writer.patch(path, { habitable: true })
  t.is((await elsewhere.get(path)).body.habitable, undefined, 'the replica has the earlier write')
  for (const one of [token[HEADER], 'x', '-1', '1e3', '"', 'ÿ', '9'.repeat(2_000), '1.1.6565.abc'])
    t.is((await elsewhere.get(path, { [HEADER]: one })).body.habitable, true, one.slice(0, 100))
})

claimAlone(
  'a token names the primary for as long as a replica may lag and two seconds, and then nothing',
  async (t) => {
    const pair = await createPair(t, programs as Programs)
    const [here, there] = [await startFollowing(t, pair), await startFollowing(t, pair)]
    const [writer, elsewhere] = [here.withSubject('writer'), there.withSubject('writer')]
    await pair.control.query('SELECT pg_wal_replay_pause()')
    const { now } = Date
    t.teardown(() => {
      Date.now = now
    })
    const issued = now()
    Date.now = () => issued
    const { body, headers } = await writer.post('/planets', { name: 'Then' })
    const token = { [HEADER]: headers.get(HEADER) as string }
    Date.now = () => issued + 601_999
    t.is((await elsewhere.get(`/planets/${body.id}`, token)).status, 200)
    t.is(await reads(there, 'primary_for_token'), 1)
    Date.now = () => issued + 602_000
    t.is((await elsewhere.get(`/planets/${body.id}`, token)).status, 404)
    t.is(await reads(there, 'primary_for_token'), 1)
    t.is((await elsewhere.patch(`/planets/${body.id}`, { habitable: true }, token)).status, 204)
  },
)
