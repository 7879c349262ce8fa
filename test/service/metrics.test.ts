import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import anyTest from 'ava'
import pg from 'pg'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { createFaultyLink } from '../helpers/process/faulty-link.ts'
import { until } from '../helpers/process/until.ts'
import { startTestService, type TestService } from '../helpers/service/service.ts'
import { startServiceOverLink } from '../helpers/service/service-over-link.ts'

const server = findServer((reason) => console.log(`metrics of failures: ${reason}`))
const test = server ? anyTest : anyTest.skip

/** The value of a metric; NaN where there is none. */
async function readMetric({ anonymous, origin }: TestService, metric: string): Promise<number> {
  const { text } = await anonymous.get(`${origin}/metrics`)
  const line = text.split('\n').find((line) => line.startsWith(`${metric} `))
  return Number(line?.slice(metric.length))
}

const failures = (reason: string) => `halgraph_database_failures_total{database="primary",reason="${reason}"}`

anyTest('every wait for a connection is measured', async (t) => {
  const service = await startTestService(t, { metrics: true, databasePoolSize: 1 })
  const waits = 'halgraph_database_pool_wait_seconds_count{database="primary"}'
  const before = await readMetric(service, waits)
  await service.reader.get('/species/none')
  t.true((await readMetric(service, waits)) > before)
  t.true((await readMetric(service, 'halgraph_database_pool_wait_seconds_sum{database="primary"}')) > 0)
})

test('the pool of a replica is measured like that of the primary', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  // The same database at another address stands for a replica.
  const link = await createFaultyLink(new URL(databaseUrl), t)
  const replica = new URL(databaseUrl)
  replica.host = `127.0.0.1:${link.port}`
  const settings = {
    metrics: true,
    databasePoolSize: 1,
    databaseReplicaUrls: [replica.href],
    replicaPosition: 'optional',
  } as const
  const service = await startTestService(t, { databaseUrl, ...settings })
  const label = `database="${replica.host}"`
  const waits = (part: string) => `halgraph_database_pool_wait_seconds_${part}{${label}}`
  const before = await readMetric(service, waits('count'))
  // On a busy machine, the replica is not always usable, and the primary is read.
  for (let round = 0; round < 50 && (await readMetric(service, waits('count'))) < before + 20; round++) {
    const read = () => service.reader.get('/planets?limit=1')
    const answers = await Promise.all(Array.from({ length: 20 }, read))
    t.true(answers.every(({ status }) => status === 200))
  }
  t.true((await readMetric(service, waits('count'))) >= before + 20)
  t.true((await readMetric(service, waits('sum'))) > 0)
  t.true((await readMetric(service, 'halgraph_database_reads_total{from="replica"}')) >= 20)
  // The watch of the replica uses the connection, too, now and then.
  const busy = `halgraph_database_pool_connections{${label},state="busy"}`
  let connections = await readMetric(service, busy)
  for (let wait = 0; connections > 0 && wait < 200; wait++) {
    await delay(50)
    connections = await readMetric(service, busy)
  }
  t.is(connections, 0)
  t.is(await readMetric(service, failures('connection')), 0)
  link.set('down')
  const lost = `halgraph_database_failures_total{${label},reason="connection"}`
  for (let wait = 0; (await readMetric(service, lost)) === 0 && wait < 200; wait++) await delay(50)
  t.true((await readMetric(service, lost)) > 0)
  t.is(await readMetric(service, failures('connection')), 0)
})

anyTest('connections beyond MAX_CONNECTIONS are closed and counted', async (t) => {
  const { origin } = await startTestService(t, { metrics: true, maximumConnections: 3 })
  const { hostname, port } = new URL(origin)
  const sockets = Array.from({ length: 5 }, () => connect(Number(port), hostname).on('error', () => {}))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (let wait = 0; sockets.filter(({ closed }) => closed).length < 2 && wait < 200; wait++) await delay(50)
  const [accepted, ...others] = sockets.filter(({ closed }) => !closed)
  t.is(others.length, 2)
  accepted?.write(`GET /metrics HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  t.regex(await text(accepted as Socket), /^halgraph_connections_refused_total 2$/m)
})

anyTest('requests that are shed are counted by reason', async (t) => {
  const limits = { loadCapacity: 1, callerShare: 1 }
  const service = await startTestService(t, { metrics: true, ...limits })
  let refused = 0
  // On a busy machine, they may arrive one after the other.
  await until(async () => {
    const responses = await Promise.all(Array.from({ length: 30 }, () => service.reader.get('/species')))
    refused += responses.filter(({ status }) => status === 503).length
    return refused > 0
  })
  t.is(await readMetric(service, 'halgraph_requests_shed_total{reason="capacity"}'), refused)
  t.is(await readMetric(service, 'halgraph_requests_shed_total{reason="caller_share"}'), 0)
})

test('failures of the database are counted by reason', async (t) => {
  const { service, link, direct } = await startServiceOverLink(t, server, {
    databasePoolSize: 2,
    databaseTimeout: 1_000,
    metrics: true,
  })
  const control = new pg.Client({ connectionString: direct })
  control.on('error', () => {})
  await control.connect()
  /** Writes in vain until the failure is counted; on a busy machine, a write can fail for another reason. */
  const isCounted = async (metric: string) => {
    for (let attempt = 0; attempt < 20 && !((await readMetric(service, metric)) > 0); attempt++)
      t.is((await service.writer.post('/planets', { name: 'Not written' })).status, 503)
    t.true((await readMetric(service, metric)) > 0, metric)
  }

  t.is(await readMetric(service, failures('connection')), 0)
  link.set('down')
  await isCounted(failures('connection'))
  link.set('open')

  await control.query('BEGIN; LOCK TABLE public.planets IN ACCESS EXCLUSIVE MODE')
  await isCounted('halgraph_requests_shed_total{reason="deadline"}')
  await control.query('ROLLBACK')

  const name = new URL(direct).pathname.slice(1)
  await control.query(`ALTER DATABASE ${name} SET default_transaction_read_only TO on`)
  link.reset()
  await isCounted(failures('read_only'))
  await control.end()
})
