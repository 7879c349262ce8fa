import anyTest from 'ava'
import pg from 'pg'
import { findServer } from '../helpers/postgres-server.ts'
import { startTestService, type TestService } from '../helpers/service.ts'
import { startServiceOverLink } from '../helpers/service-over-link.ts'

const server = await findServer((reason) => console.log(`metrics of failures: ${reason}`))
const test = server ? anyTest : anyTest.skip

/** The value of a metric; NaN where there is none. */
async function readMetric({ anonymous, origin }: TestService, metric: string): Promise<number> {
  const { text } = await anonymous.get(`${origin}/metrics`)
  const line = text.split('\n').find((line) => line.startsWith(`${metric} `))
  return Number(line?.slice(metric.length))
}

const failures = (reason: string) => `halgraph_database_failures_total{reason="${reason}"}`

anyTest('every wait for a connection is measured', async (t) => {
  const service = await startTestService(t, { metrics: true, databasePoolSize: 1 })
  const waits = 'halgraph_database_pool_wait_seconds_count'
  const before = await readMetric(service, waits)
  await service.reader.get('/species/none')
  t.true((await readMetric(service, waits)) > before)
  t.true((await readMetric(service, 'halgraph_database_pool_wait_seconds_sum')) > 0)
})

anyTest('requests that are shed are counted by reason', async (t) => {
  const limits = { concurrentOperations: 1, waitingOperations: 0, callerShare: 100 }
  const service = await startTestService(t, { metrics: true, ...limits })
  const responses = await Promise.all(Array.from({ length: 30 }, () => service.reader.get('/species')))
  const refused = responses.filter(({ status }) => status === 503).length
  t.true(refused > 0)
  t.is(await readMetric(service, 'halgraph_requests_shed_total{reason="capacity"}'), refused)
  t.is(await readMetric(service, 'halgraph_requests_shed_total{reason="caller_share"}'), 0)
})

test('failures of the database are counted by reason', async (t) => {
  const { service, link, direct } = await startServiceOverLink(t, server, {
    databasePoolSize: 2,
    databaseTimeout: 500,
    metrics: true,
  })
  const control = new pg.Client({ connectionString: direct })
  control.on('error', () => {})
  await control.connect()
  const write = async () => (await service.writer.post('/planets', { name: 'Not written' })).status

  t.is(await readMetric(service, failures('connection')), 0)
  link.set('down')
  t.is(await write(), 503)
  link.set('open')
  t.true((await readMetric(service, failures('connection'))) > 0)

  await control.query('BEGIN; LOCK TABLE public.planets IN ACCESS EXCLUSIVE MODE')
  t.is(await write(), 503)
  t.true((await readMetric(service, 'halgraph_requests_shed_total{reason="deadline"}')) > 0)
  await control.query('ROLLBACK')

  const name = new URL(direct).pathname.slice(1)
  await control.query(`ALTER DATABASE ${name} SET default_transaction_read_only TO on`)
  link.reset()
  t.is(await write(), 503)
  t.true((await readMetric(service, failures('read_only'))) > 0)
  await control.end()
})
