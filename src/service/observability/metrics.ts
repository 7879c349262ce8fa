import cluster from 'node:cluster'
import {
  AggregatorRegistry,
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client'
import type { Database } from '../../database/database.ts'
import { FAILURE_REASONS } from '../../database/errors.ts'
import type { Readers } from '../../database/replicas/readers.ts'
import type { LoadCounts } from '../../features/feature.ts'
import type { AnsweredRequest } from '../../http/access-log.ts'
import { METHODS } from '../../http/errors.ts'
import { type Route, reads } from '../../http/routes.ts'
import { SERVICE_NAME } from '../../observability/service-name.ts'
import { readWorkerMetrics } from '../workers.ts'

/** Includes the metrics of Node (event-loop delay, memory). A worker serves the metrics of all workers. */
export function createMetrics(
  database: Database,
  readers: Readers | undefined,
  state: { readonly refusedConnections: number },
  load: LoadCounts = { running: 0, waiting: 0, shed: {} },
  byNamespace = false,
) {
  const registry = new Registry()
  const metric = metricsOf(registry)
  if (cluster.isWorker) {
    AggregatorRegistry.setRegistries(registry)
    // Responds to the primary process, which merges the metrics.
    new AggregatorRegistry()
  }
  collectDefaultMetrics({ register: registry })
  // By default, workers are averaged, which hides a busy one.
  Object.assign(registry.getSingleMetric('nodejs_eventloop_lag_p99_seconds') as object, { aggregator: 'max' })
  addDatabaseMetrics(metric, database, readers ?? {})
  new Gauge({
    ...metric('operations', 'GraphQL operations that are running or waiting for their turn.', 'state'),
    collect() {
      this.set({ state: 'running' }, load.running)
      this.set({ state: 'waiting' }, load.waiting)
    },
  })
  const shed = 'Requests that received 503 to keep the load within limits.'
  addCounts(metric('requests_shed_total', shed, 'reason'), load.shed)
  new Counter({
    ...metric(
      'connections_refused_total',
      'Connections closed at once because the process already had MAX_CONNECTIONS.',
    ),
    collect() {
      this.reset()
      this.inc(state.refusedConnections)
    },
  })
  const durations = new Histogram({
    ...metric(
      'http_request_duration_seconds',
      'Duration of HTTP requests by method, route template and status.',
      'method',
      'route',
      'status',
      ...(byNamespace ? (['namespace'] as const) : []),
    ),
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  const route: Route = {
    path: '/metrics',
    access: 'probe',
    methods: reads({
      async handle(ctx) {
        ctx.set('Content-Type', registry.contentType)
        ctx.body = await (cluster.isWorker ? readWorkerMetrics() : registry.metrics())
      },
    }),
  }
  return {
    route,
    report({ method, namespace, route = 'none', status, seconds }: AnsweredRequest) {
      // Callers can invent methods and names, and each label value stays in memory.
      const known = METHODS.includes(method) ? method : 'other'
      const where = byNamespace ? [(status !== 404 && status !== 403 && namespace) || 'none'] : []
      durations.labels(known, route, String(status), ...where).observe(seconds)
    },
  }
}

/** A replica is named by its host and port. */
function addDatabaseMetrics(
  metric: ReturnType<typeof metricsOf>,
  primary: Database,
  { choices, replicas = [] }: Partial<Readers>,
): void {
  const pools = [
    { name: 'primary', pool: primary.pool.server ?? primary.pool },
    ...replicas.map(({ name, database }) => ({ name, pool: database.pool })),
  ]
  new Gauge({
    ...metric(
      'database_pool_connections',
      'Connections to each database, and requests waiting for one.',
      'database',
      'state',
    ),
    collect() {
      for (const { name: database, pool } of pools) {
        this.set({ database, state: 'idle' }, pool.idleCount)
        this.set({ database, state: 'busy' }, pool.totalCount - pool.idleCount)
        this.set({ database, state: 'waiting' }, pool.waitingCount)
      }
    },
  })
  const wait = 'How long statements and transactions waited for a connection, including the time to open one.'
  const waits = new Histogram({
    ...metric('database_pool_wait_seconds', wait, 'database'),
    buckets: [0.001, 0.01, 0.1, 0.25, 0.5, 1, 2.5, 5],
  })
  const failed = 'Connections that failed, and statements that the database could not serve.'
  const failures = new Counter(metric('database_failures_total', failed, 'database', 'reason'))
  for (const { name: database, pool } of pools) {
    waits.zero({ database })
    for (const reason of FAILURE_REASONS) failures.inc({ database, reason }, 0)
    pool.observer = {
      waited: (seconds) => waits.observe({ database }, seconds),
      failed: (reason) => failures.inc({ database, reason }),
    }
  }
  const lagging = 'How far each replica lags behind the primary; no value if unknown, as without the primary.'
  new Gauge({
    ...metric('replica_lag_seconds', lagging, 'replica'),
    aggregator: 'max',
    collect() {
      this.reset()
      for (const { name, lag } of replicas)
        if (Number.isFinite(lag)) this.set({ replica: name }, Number(lag) / 1_000)
    },
  })
  const usable =
    'Whether the replica is used for reads (1), or excluded because it lags or does not respond (0).'
  new Gauge({
    ...metric('replica_usable', usable, 'replica'),
    aggregator: 'min',
    collect() {
      for (const { name, isUsable } of replicas) this.set({ replica: name }, Number(isUsable))
    },
  })
  const reads = 'Operations by the database they read from: a replica, or the primary and the reason.'
  if (choices) addCounts(metric('database_reads_total', reads, 'from'), choices)
}

/** What the options of each metric have. */
function metricsOf(registry: Registry) {
  return <Label extends string>(name: string, help: string, ...labelNames: Label[]) => {
    return { name: `${SERVICE_NAME}_${name}`, help, labelNames, registers: [registry] }
  }
}

/** A counter of what is counted elsewhere, by its only label. */
function addCounts(described: CounterConfiguration<string>, counts: Readonly<Record<string, number>>): void {
  const [label = ''] = described.labelNames ?? []
  new Counter({
    ...described,
    collect() {
      this.reset()
      for (const [value, count] of Object.entries(counts)) this.inc({ [label]: value }, count)
    },
  })
}
