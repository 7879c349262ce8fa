import { spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import test from 'ava'
import type { AnsweredRequest } from '../../src/http/access-log.ts'
import { startTracing } from '../../src/service/observability/tracing.ts'
import { openConnection, readToEnd } from '../helpers/process/raw-connection.ts'
import { startCollector } from '../helpers/service/collector.ts'
import { shareTestService, type TestService } from '../helpers/service/service.ts'
import { claimResults } from '../helpers/service/transcript.ts'
import { untilStatus } from '../helpers/service/until-status.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`

const reports = new EventEmitter()
const reportRequest = (request: AnsweredRequest) => void reports.emit('request', request)
const plain = shareTestService(test, {}, { reportRequest })
/** With every setting that the tests below are about. */
const observed = shareTestService(
  test,
  { metrics: true, serverTiming: true, trustProxy: true },
  { reportRequest },
)

test('liveness and readiness need no token, and allow only GET and HEAD', async (t) => {
  const { anonymous, origin } = plain()
  for (const name of ['live', 'ready']) {
    // The check of the database has a second, which may be too short on a busy machine.
    const { status, body } = await untilStatus(200, () => anonymous.get(`${origin}/health/${name}`))
    t.deepEqual([status, body], [200, { status: name }])
    t.is((await untilStatus(200, () => anonymous.head(`${origin}/health/${name}`))).status, 200)
    t.is((await anonymous.post(`${origin}/health/${name}`)).status, 405)
  }
})

test.serial('a request is reported once, by its route and without what was sent', async (t) => {
  const requests: AnsweredRequest[] = []
  const collect = (request: AnsweredRequest) => void requests.push(request)
  reports.on('request', collect)
  const started = performance.now()
  const { headers } = await plain().reader.get('/species/secret-id?x=secret', { traceparent })
  await plain().anonymous.get('/planets')
  await plain().reader.get('/nothing/here')
  // Refused before it reaches its route.
  await plain().anonymous.get('/openapi.json', {
    accept: '*/*',
    'if-none-match': 'x'.repeat(9_000),
  })
  reports.off('request', collect)
  t.deepEqual(
    requests.map(({ method, route, status }) => [method, route, status]),
    [
      ['GET', '/api/v1/species/:id', 400],
      ['GET', '/api/v1/planets', 401],
      ['GET', undefined, 404],
      ['GET', '/api/v1/openapi.json', 431],
    ],
  )
  for (const { seconds } of requests) t.true(seconds > 0 && seconds <= (performance.now() - started) / 1_000)
  t.is(requests[0]?.requestId, headers.get('x-request-id') ?? '')
  t.is(requests[0]?.traceId, TRACE)
  t.notRegex(JSON.stringify(requests), /secret|Bearer/)
})

test.serial(
  'a request without a route is reported with the beginning of its path, and no query',
  async (t) => {
    const { origin } = plain()
    const paths = {
      '/wp-login.php?token=secret': '/wp-login.php',
      [`/${'x'.repeat(300)}`]: `/${'x'.repeat(199)}`,
      '/api/v1/species': undefined,
    }
    for (const [target, path] of Object.entries(paths)) {
      const reported = once(reports, 'request')
      const connection = await openConnection(origin)
      connection.end(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      await readToEnd(connection)
      const [request] = await reported
      t.is(request.path, path, target)
    }
  },
)

test('a request id is taken from a trusted proxy only', async (t) => {
  const id = 'from-the-proxy-1'
  const idFor = async ({ reader }: TestService, sent: string) =>
    (await reader.get('', { 'x-request-id': sent })).headers.get('x-request-id')
  t.not(await idFor(plain(), id), id)
  t.is(await idFor(observed(), id), id)
  for (const accepted of ['A.b_c-12', 'x'.repeat(64)]) t.is(await idFor(observed(), accepted), accepted)
  for (const refused of ['not {sane}', 'A.b_c-1', 'x'.repeat(65)])
    t.not(await idFor(observed(), refused), refused)
})

test.serial('metrics count requests by route and status, only with the setting', async (t) => {
  const { anonymous, reader, origin } = observed()
  await reader.get('/species')
  await reader.request('PROPFIND', '/species')
  const { status, text } = await anonymous.get(`${origin}/metrics`)
  t.is(status, 200)
  const count = 'halgraph_http_request_duration_seconds_count'
  t.true(text.includes(`\n${count}{method="GET",route="/api/v1/species",status="200"} 1\n`))
  t.true(text.includes(`\n${count}{method="other",route="/api/v1/species",status="405"} 1\n`))
  t.regex(text, /^halgraph_database_pool_connections\{database="primary",state="waiting"\} 0$/m)
  t.regex(text, /^halgraph_operations\{state="running"\} 0$/m)
  t.regex(text, /^nodejs_eventloop_lag_p99_seconds /m)
  t.is((await plain().anonymous.get(`${plain().origin}/metrics`)).status, 401)
})

test('metrics have the names, meanings, labels and bounds that metrics.txt says', async (t) => {
  const { anonymous, reader, origin } = observed()
  await reader.get('/species')
  await claimResults(t, 'test/http/metrics.txt', async () => {
    const { text } = await anonymous.get(`${origin}/metrics`)
    const ours = text.split('\n').filter((line) => /^(# (HELP|TYPE) )?halgraph_/.test(line))
    // Other tests use the service, too.
    const own = ours.filter((line) => !line.includes('route=') || /GET.*species".*200/.test(line))
    return own.map((line) => (line.startsWith('#') ? line : line.replace(/ \S+$/, '')))
  })
})

test('the names of metrics are those of the service, of the process or of Node, and promtool accepts ours', async (t) => {
  const { anonymous, reader, origin } = observed()
  await reader.get('/species')
  const { text } = await anonymous.get(`${origin}/metrics`)
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }))
  t.deepEqual(
    types.filter(({ name }) => !/^(?:halgraph|process|nodejs)_/.test(name)),
    [],
  )
  const own = types.filter(({ name }) => name.startsWith('halgraph_'))
  t.is(own.length, 9)
  for (const { name, type } of own) {
    t.regex(text, new RegExp(`^# HELP ${name} [A-Z].*\\.$`, 'm'))
    t.is(type === 'counter', name.endsWith('_total'))
    t.notRegex(name, /[A-Z:]|_(?:count|sum|bucket|info|milliseconds|ms|kilobytes|minutes)$|gauge|histogram/)
  }
  const { error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  })
  if (error) return t.log('promtool is not installed; only the rules above are checked')
  t.notRegex(`${stdout}${stderr}`, /halgraph_|error while linting|parsing/)
})

test('Server-Timing has the durations of the request, only with the setting', async (t) => {
  const { reader, writer } = observed()
  await writer.put('/species/timed', { id: 'timed', scientific_name: 'Timed' })
  const started = performance.now()
  const { headers } = await reader.get('/species/none')
  const elapsed = performance.now() - started
  const timing = headers.get('server-timing') ?? ''
  t.regex(timing, /^auth;dur=.*, graphql;dur=.*, database;dur=.*;desc="2 statements"$/)
  const [auth = 0, graphql = 0, database = 0] = [...timing.matchAll(/dur=([\d.]+)/g)].map(([, dur]) =>
    Number(dur),
  )
  t.true(auth + graphql < elapsed && database > 0 && database < elapsed, `${timing} of ${elapsed} ms`)
  const { headers: found } = await reader.get('/species/timed')
  t.regex(found.get('server-timing') ?? '', /desc="1 statement"$/)
  t.is((await plain().reader.get('/species')).headers.get('server-timing'), null)
})

test.serial('spans go from REST through GraphQL to SQL, in the trace of the caller', async (t) => {
  const collector = await startCollector(t)
  const stopTracing = await startTracing(collector.endpoint)
  await plain().reader.get('/species/none', { traceparent })
  await stopTracing()
  const inTrace = collector.spans.filter(({ traceId }) => traceId === TRACE)
  const rest = inTrace.find(({ name }) => name === 'GET /api/v1/species/:id')
  const graphql = inTrace.find(({ name }) => name === 'GraphQL query species')
  const sql = inTrace.find(({ name }) => name === 'SQL SELECT')
  t.is(rest?.parentSpanId, traceparent.split('-')[2])
  t.is(graphql?.parentSpanId, rest?.spanId)
  t.is(sql?.parentSpanId, graphql?.spanId)
})
