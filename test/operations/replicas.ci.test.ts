import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { Replica } from '../../src/database/replicas/replica-watch.ts'
import { FeedWatch } from '../../src/features/history/feed/watch.ts'
import type { Settings } from '../../src/service/settings/settings.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { reads } from '../helpers/database/replica-pair.ts'
import { startTestService } from '../helpers/service/service.ts'

const server = findServer((reason) => console.log(`replicas: ${reason}`))
const claim = server ? test : test.skip

claim(
  'reads go to a replica, but those of a caller who wrote to the primary until it has caught up',
  async (t) => {
    const { service, writer } = await startWithStaleReplica(t)
    const reader = service.withSubject('one who reads')
    const { body: planet } = await writer.post('/planets', { name: 'Only on the primary' })
    await service.database.client.prisma.planet.create({
      data: { id: 'direct', name: 'Written past the service' },
    })

    t.is((await writer.get(`/planets/${planet.id}`)).status, 200)
    // The feed knows how far replicas may lag.
    const lags: unknown[] = []
    const { startFor } = FeedWatch.prototype
    FeedWatch.prototype.startFor = function (this: FeedWatch, position) {
      lags.push(this.replicaLag)
      return startFor.call(this, position)
    }
    t.teardown(() => {
      FeedWatch.prototype.startFor = startFor
    })
    t.is((await writer.get('/planets')).body.total_count, 2)
    // Other tests of this file read lists, too.
    t.true(lags.includes(60_000))
    t.is((await reader.get(`/planets/${planet.id}`)).status, 404)
    t.is((await reader.get('/planets')).body.total_count, 0)
    const query = '{ planetPage { totalCount } }'
    t.is((await writer.graphql(query)).data.planetPage.totalCount, 2)
    t.is((await reader.graphql(query)).data.planetPage.totalCount, 0)

    // A write that looks first looks where it writes.
    t.is((await reader.patch(`/planets/${planet.id}`, { habitable: true })).status, 204)
    t.is((await reader.get(`/planets/${planet.id}`)).body.habitable, true)
  },
)

test('a replica that is always behind a busy primary is usable while its lag is short', async (t) => {
  let replayed = 0
  const client = { $rows: async () => [{ offset: replayed }] }
  const replica = new Replica('busy', { client } as unknown as Database)
  const allowed = { maximumLag: 3_600_000, unknownLag: false }
  // At each poll it has what the primary had at the last but one.
  for (const written of [100, 200, 300, 400, 500]) {
    replayed = written - 200
    await replica.poll({ at: performance.now(), offset: written }, allowed)
    t.is(replica.isUsable, replayed >= 100, `${replayed} of ${written}`)
  }
})

test('a replica has no known lag without its primary, and is not used once it does not respond', async (t) => {
  const read = { fails: false }
  const client = {
    $rows: async () => {
      if (read.fails) throw new Error('It does not respond.')
      return [{ offset: 100 }]
    },
  }
  const replica = new Replica('alone', { client } as unknown as Database)
  const allowed = { maximumLag: 60_000, unknownLag: false }
  const state = () => [replica.isUsable, replica.lag !== undefined]
  t.deepEqual(state(), [false, false])
  await replica.poll({ at: performance.now(), offset: 100 }, allowed)
  t.deepEqual(state(), [true, true])
  await replica.poll(undefined, allowed)
  t.deepEqual(state(), [true, false])
  read.fails = true
  await replica.poll({ at: performance.now(), offset: 100 }, allowed)
  t.deepEqual(state(), [false, false])
})

claim('when the lag is over, a caller who wrote reads from the replica again', async (t) => {
  const { writer } = await startWithStaleReplica(t, { replicaLag: 0 })
  const { body } = await writer.post('/planets', { name: 'Only on the primary' })
  t.is((await writer.get(`/planets/${body.id}`)).status, 404)
})

claim('the metrics count the reads of each database, by reason', async (t) => {
  const { service, writer } = await startWithStaleReplica(t, { metrics: true })
  const choices = ['replica', 'primary_after_write', 'primary_for_token', 'primary_without_replica']
  const counts = () => Promise.all(choices.map((from) => reads(service, from)))
  t.deepEqual(await counts(), [0, 0, 0, 0])
  t.is((await service.reader.get('/planets')).status, 200)
  t.deepEqual(await counts(), [1, 0, 0, 0])
  const { body } = await writer.post('/planets', { name: 'Counted' })
  t.is((await writer.get(`/planets/${body.id}`)).status, 200)
  t.is(await reads(service, 'primary_after_write'), 1)
})

claim('what a mutation wrote is shown with its relations as they are on the primary', async (t) => {
  const { service, writer } = await startWithStaleReplica(t)
  await service.database.client.prisma.planet.create({
    data: { id: 'direct', name: 'Written past the service' },
  })
  const { data, text } = await writer.graphql(`mutation {
    createMoon(planetId: "direct", input: { name: "Moon" }) {
      moon { planet {
        name hasAtmosphere
        moons(page: 1, limit: 5) { totalCount items { name planet { name } } }
        moonsConnection(first: 5) { nodes { name } }
      } }
    }
  }`)
  t.deepEqual(
    data?.createMoon.moon.planet,
    {
      name: 'Written past the service',
      hasAtmosphere: false,
      moons: { totalCount: 1, items: [{ name: 'Moon', planet: { name: 'Written past the service' } }] },
      moonsConnection: { nodes: [{ name: 'Moon' }] },
    },
    text,
  )
})

claim('of callers without a subject, only the one who wrote is kept off the replica', async (t) => {
  const { service } = await startWithStaleReplica(t)
  const [writer, reader] = [
    service.withScope('planets:write planets:read'),
    service.withScope('planets:read'),
  ]
  await writer.post('/planets', { name: 'Only on the primary' })
  t.is((await writer.get('/planets')).body.total_count, 1)
  t.is((await reader.get('/planets')).body.total_count, 0)
})

claim(
  'a replica that does not report its position is read from only with REPLICA_POSITION=optional',
  async (t) => {
    const [databaseUrl, primary, engine] = [
      await createDatabaseOn(server as string, t),
      await createDatabaseOn(server as string, t),
      await createDatabaseOn(server as string, t),
    ]
    await refusePositions(engine)
    const fit: number[] = []
    const start = (replicaPosition: 'required' | 'optional') => {
      const settings = { databaseUrl, databaseReplicaUrls: [primary, engine], replicaLag: 0, replicaPosition }
      return startTestService(t, settings, { reportReplicas: (count) => fit.push(count) })
    }
    const { writer } = await start('required')
    const { body } = await writer.post('/planets', { name: 'Only on the primary' })
    t.is((await writer.get(`/planets/${body.id}`)).status, 200)
    t.deepEqual(fit, [0])
    const { reader } = await start('optional')
    for (let wait = 0; fit.at(-1) !== 2 && wait < 200; wait++) await delay(50)
    t.is(fit.at(-1), 2)
    t.is((await reader.get(`/planets/${body.id}`)).status, 404)
  },
)

/** Makes a database refuse to report its position, as a reader of Aurora does. */
async function refusePositions(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`SET allow_system_table_mods TO on; SET standard_conforming_strings TO on;
    CREATE OR REPLACE FUNCTION pg_catalog.pg_last_wal_replay_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'currently not supported' USING ERRCODE = 'feature_not_supported'; END $$`)
  await client.end()
}

/** A service with a second database that stands for a replica which has fallen behind for good. */
async function startWithStaleReplica(t: ExecutionContext, overrides: Partial<Settings> = {}) {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const replica = await createDatabaseOn(server as string, t)
  const settings = {
    databaseUrl,
    databaseReplicaUrls: [replica],
    replicaPosition: 'optional',
    replicaLag: 60_000,
    ...overrides,
  } as const
  const service = await startTestService(t, settings)
  return { service, writer: service.withSubject('one who writes') }
}
