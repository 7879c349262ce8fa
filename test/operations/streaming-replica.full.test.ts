import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import pg from 'pg'
import { createOwnServer, findPrograms, type Programs } from '../helpers/database/own-server.ts'
import { createDatabaseOn } from '../helpers/database/postgres-server.ts'
import {
  createPair,
  onPort,
  onServer,
  startFollowing,
  untilVisible,
  watchReplicas,
} from '../helpers/database/replica-pair.ts'
import { createFaultyLink } from '../helpers/process/faulty-link.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import { startTestService } from '../helpers/service/service.ts'
import { subscribe } from '../helpers/service/subscribe.ts'

const programs = await findPrograms((reason) => console.log(`streaming replica: ${reason}`))
const claim = programs ? test : test.skip

claim(
  'a streaming replica is read from while it follows, and set aside while it does not or is gone',
  async (t) => {
    const primary = await createOwnServer(t, programs as Programs)
    const databaseUrl = await createDatabaseOn(primary.address, t)
    const standby = await primary.standby()
    const replica = new URL(onServer(databaseUrl, standby))
    const { reports, become } = watchReplicas(t, 60)
    const service = await startTestService(
      t,
      {
        databaseUrl,
        databaseReplicaUrls: [replica.href],
        replicaLag: 8_000,
        databaseTimeout: 10_000,
        metrics: true,
      },
      reports,
    )
    const [writer, reader] = [service.withSubject('one who writes'), service.withSubject('one who reads')]
    // A busy machine may be late with an answer, or with seeing that the replica is there again.
    const read = async (client: Client, path: string) => {
      let answer = await client.get(path)
      for (let wait = 0; answer.status === 503 && wait < 200; wait++) {
        await delay(50)
        answer = await client.get(path)
      }
      return answer
    }
    const metric = async (name: string) => {
      const { text } = await service.anonymous.get(`${service.origin}/metrics`)
      const line = new RegExp(`^halgraph_replica_${name}\\{replica="${replica.host}"\\} (.+)$`, 'm')
      return Number(line.exec(text)?.[1])
    }
    // Unknown for a moment, when the primary of a busy machine is late.
    const untilLag = async (holds: (lag: number) => boolean) => {
      let lag = await metric('lag_seconds')
      for (let wait = 0; !holds(lag) && wait < 200; wait++) {
        await delay(50)
        lag = await metric('lag_seconds')
      }
      t.true(holds(lag), `${lag}`)
    }
    await become(1)
    t.is(await metric('usable'), 1)
    await untilLag((lag) => lag < 4)

    const control = new pg.Client({ connectionString: replica.href })
    control.on('error', () => {})
    await control.connect()
    // The default of the test database, serializable, is not possible on a standby.
    await control.query("SET default_transaction_isolation TO 'read committed'")
    // What it has not replayed yet cannot be read there, and a caller who did not write reads there. On a busy
    // machine it may be set aside before it is read from; then that is tried again.
    let unseen = ''
    let status = 200
    for (let attempt = 1; status === 200 && attempt <= 20; attempt++) {
      await control.query('SELECT pg_wal_replay_resume()')
      await become(1)
      await control.query('SELECT pg_wal_replay_pause()')
      unseen = (await writer.post('/planets', { name: `Not replayed yet ${attempt}` })).body.id
      t.is((await read(writer, `/planets/${unseen}`)).status, 200)
      status = (await read(reader, `/planets/${unseen}`)).status
    }
    t.is(status, 404)

    await become(0)
    t.is((await read(reader, `/planets/${unseen}`)).status, 200)
    t.is(await metric('usable'), 0)
    await untilLag((lag) => lag > 4)

    await control.query('SELECT pg_wal_replay_resume()')
    await become(1)
    t.is((await read(reader, `/planets/${unseen}`)).status, 200)

    await standby.kill()
    await become(0)
    await untilLag(Number.isNaN)
    t.is((await read(reader, `/planets/${unseen}`)).status, 200)
    await standby.start()
    await become(1)

    const { total_count: count } = (await read(reader, '/planets')).body
    await primary.kill()
    t.is((await read(reader, `/planets/${unseen}`)).status, 200)
    t.is((await read(reader, '/planets')).body.total_count, count)
    t.is((await writer.post('/planets', { name: 'Nowhere to put it' })).status, 503)
    // Without the primary, nobody knows what the replica lacks.
    await untilLag(Number.isNaN)
    t.is(await metric('usable'), 1)
    await primary.start()
    await untilLag((lag) => lag < 4)
  },
)

claim(
  'a replica is read from soon after a failover, even if its new primary lacks the last writes',
  async (t) => {
    const primary = await createOwnServer(t, programs as Programs)
    const databaseUrl = await createDatabaseOn(primary.address, t)
    const successor = await primary.standby()
    const replica = await successor.standby()
    const address = new URL(primary.address)
    const link = await createFaultyLink(address, t)
    const { reports, become } = watchReplicas(t, 30)
    const service = await startTestService(
      t,
      {
        databaseUrl: onPort(databaseUrl, link.port),
        databaseReplicaUrls: [onServer(databaseUrl, replica)],
        replicaLag: 8_000,
        databaseTimeout: 10_000,
      },
      reports,
    )
    await become(1)
    const { body } = await service.writer.post('/planets', { name: 'Replicated' })
    const path = `/planets/${body.id}`
    while ((await service.reader.get(path)).status !== 200) await delay(50)

    // The successor no longer follows, and the primary writes much more than the successor will.
    await run(successor.address, "ALTER SYSTEM SET primary_conninfo TO ''", 'SELECT pg_reload_conf()')
    await run(primary.address, "SELECT pg_logical_emit_message(false, 'lost', repeat('x', 50000000))")
    await become(0)
    await primary.kill()
    // Its database is dropped at the end.
    t.teardown(() => primary.start())
    await run(successor.address, 'SELECT pg_promote()')
    address.port = new URL(successor.address).port
    link.reset()
    await become(1)
    t.is((await service.reader.get(path)).status, 200)
  },
)

claim(
  'a copy of lists from a standby that lags is completed by the feed that they link to, or that began before them',
  async (t) => {
    const { databaseUrl, replicaUrl, control } = await createPair(t, programs as Programs)
    const service = await startFollowing(t, { databaseUrl, replicaUrl })
    const writer = service.withSubject('one who writes')
    const copied = (list: { body: Json }) => list.body._embedded.planets.map(({ id }: { id: string }) => id)
    await writer.put('/planets/early', { id: 'early', name: 'Early' })
    await untilVisible(service.withSubject('one who waits'), '/planets/early')
    await control.query('SELECT pg_wal_replay_pause()')
    await writer.put('/planets/late', { id: 'late', name: 'Late' })
    // Gives it a position, at the primary.
    t.is((await writer.get('/changes')).body._embedded.changes.length, 2)

    const list = await service.withSubject('one who copies').get('/planets')
    t.deepEqual(copied(list), ['early'])
    const [, url = ''] = /<([^>]*)>; rel="changes"/.exec(list.headers.get('link') ?? '') ?? []
    const { body } = await service.withSubject('one who copies').get(url)
    t.true(body._embedded.changes.some(({ id }: { id: string }) => id === 'late'))
    const page = await service.withSubject('one who copies').post(`${service.origin}/graphql`, {
      query: '{ planetPage { changesCursor items { id } } }',
    })
    t.deepEqual(page.body.data.planetPage.items, [{ id: 'early' }])
    t.is(page.body.data.planetPage.changesCursor, new URL(url).searchParams.get('since'))

    const follower = service.withSubject('one who follows')
    const begun = await follower.get('/changes?since=now')
    t.truthy(begun.headers.get('consistency-token'))
    t.deepEqual(copied(await follower.get('/planets')), ['early', 'late'])
    t.is((await follower.get(begun.body._links.next.href)).body._embedded.changes.length, 0)

    const { authorization, get } = service.withSubject('one who subscribes')
    const subscription = await subscribe(service.origin, authorization, 'subscription { changes { id } }')
    t.deepEqual(copied(await get('/planets')), ['early', 'late'])
    subscription.leave()
  },
)

claim('a replica that was promoted is not read from', async (t) => {
  const { databaseUrl, replicaUrl, control } = await createPair(t, programs as Programs)
  const { reports, become } = watchReplicas(t, 30)
  // It may lag for longer than the test takes, so that it cannot be set aside for that.
  const settings = {
    databaseUrl,
    databaseReplicaUrls: [replicaUrl],
    replicaLag: 600_000,
    databaseTimeout: 10_000,
  }
  const { reader } = await startTestService(t, settings, reports)
  await become(1)
  await control.query('SELECT pg_promote()')
  await become(0)
  await control.query(
    `SET search_path TO public, public_internal; INSERT INTO planets (id, name) VALUES ('other', 'Diverged')`,
  )
  for (let read = 0; read < 20; read++) t.is((await reader.get('/planets/other')).status, 404)
})

claim(
  'a replica whose connections have got stuck is read from again soon after DATABASE_TIMEOUT',
  async (t) => {
    const primary = await createOwnServer(t, programs as Programs)
    const databaseUrl = await createDatabaseOn(primary.address, t)
    const standby = await primary.standby()
    const link = await createFaultyLink(new URL(standby.address), t)
    const { reports, become } = watchReplicas(t, 30)
    await startTestService(
      t,
      {
        databaseUrl,
        databaseReplicaUrls: [onPort(databaseUrl, link.port)],
        databasePoolSize: 4,
        databaseTimeout: 2_500,
      },
      reports,
    )
    await become(1)
    link.set('black hole')
    await become(0)
    // More polls than there are connections.
    await delay(6_000)
    link.set('open')
    await become(1)
  },
)

async function run(address: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
