import test, { type ExecutionContext } from 'ava'
import { createTestDatabase } from '../helpers/database/database.ts'
import { startCollector } from '../helpers/service/collector.ts'
import { PROCESS_TOKEN, startProcess } from '../helpers/service/service-process.ts'

const DASHBOARD =
  'query Dashboard { planet(id: "x") { id } } mutation Cleanup { deletePlanet(id: "x") { outcome } }'

/** Runs the service with these variables for a few requests; resolves to the spans that it sent. */
async function trace(
  t: ExecutionContext,
  environment: NodeJS.ProcessEnv,
  requests: (origin: string) => Promise<void>,
) {
  const collector = await startCollector(t)
  const { databaseUrl, dataDir } = await createTestDatabase(t)
  const place = { DATA_DIR: dataDir, ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }) }
  // The endpoint of a collector may end with a slash.
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`, METRICS: 'true', ...environment }
  const service = startProcess({ ...place, ...tracing }, t)
  await requests(await service.origin)
  service.kill('SIGTERM')
  await service.exited
  return collector.spans
}

const headers = { Authorization: `Bearer ${PROCESS_TOKEN}`, 'Content-Type': 'application/json' }

async function readPlanets(origin: string): Promise<void> {
  await (await fetch(`${origin}/api/v1/planets`, { headers })).text()
}

test.serial('the service is halgraph in traces, or what the environment names it', async (t) => {
  for (const [environment, name] of [
    [{}, 'halgraph'],
    [
      { OTEL_SERVICE_NAME: 'catalogue', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test' },
      'catalogue',
    ],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test' }, 'other'],
  ] as const) {
    const spans = await trace(t, environment, readPlanets)
    t.true(spans.length > 0)
    for (const { resource } of spans) {
      t.is(resource['service.name'], name)
      t.is(resource['deployment.environment.name'], name === 'halgraph' ? undefined : 'test')
      t.is(resource['telemetry.sdk.language'], 'nodejs')
    }
  }
})

test.serial('health and metrics are not traced, and neither are statements of no request', async (t) => {
  const spans = await trace(t, {}, async (origin) => {
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      for (const method of ['GET', 'HEAD', 'POST']) await (await fetch(`${origin}${path}`, { method })).text()
    }
    await readPlanets(origin)
  })
  const roots = spans.filter(({ parentSpanId }) => !parentSpanId)
  t.deepEqual(
    roots.map(({ name, attributes }) => [
      name,
      attributes['http.route'],
      attributes['http.response.status_code'],
    ]),
    [['GET /api/v1/planets', '/api/v1/planets', 200]],
  )
})

test.serial('the spans of GraphQL requests carry the type and the name of their operation', async (t) => {
  const spans = await trace(t, {}, async (origin) => {
    const post = async (body: object) =>
      (await fetch(`${origin}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) })).text()
    await post({ query: DASHBOARD, operationName: 'Dashboard' })
    await post({ query: DASHBOARD, operationName: 'Cleanup' })
    await post({ query: '{ planet(id: "x") { id } }' })
    await post({ query: '{ planets' })
    await readPlanets(origin)
  })
  const graphql = spans.filter(({ name }) => name.startsWith('GraphQL'))
  t.deepEqual(
    graphql.map(({ name, attributes }) => [
      name,
      attributes['graphql.operation.type'],
      attributes['graphql.operation.name'],
    ]),
    [
      ['GraphQL query Dashboard', 'query', 'Dashboard'],
      ['GraphQL mutation Cleanup', 'mutation', 'Cleanup'],
      ['GraphQL query', 'query', undefined],
      ['GraphQL request', undefined, undefined],
      ['GraphQL query planetPage', 'query', undefined],
    ],
  )
  const parents = graphql
    .slice(0, 4)
    .map((span) => spans.find(({ spanId }) => spanId === span.parentSpanId)?.name)
  t.deepEqual(parents, Array(4).fill('POST /graphql'))
})
