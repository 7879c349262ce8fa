import cluster from 'node:cluster'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import { FAILURE_REASONS } from '../database/errors.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { OperationLimiter } from '../graph/execution/operation-limiter.ts'
import type { ReportRequest } from '../http/access-log.ts'
import { METHODS } from '../http/errors.ts'
import type { Limiter } from '../http/limiter.ts'
import { type Route, reads } from '../http/routes.ts'
import { SERVICE_NAME } from '../observability/service-name.ts'
import { readWorkerMetrics } from './workers.ts'

/** The metrics, with those of Node itself (event-loop delay, memory). A worker serves those of all workers. */
export function createMetrics(
  database: Database,
  readers: Readers,
  state: { readonly refusedConnections: number },
  operations: OperationLimiter,
  connections: Limiter,
): { readonly report: ReportRequest; readonly route: Route } {
  const registry = new Registry()
  if (cluster.isWorker) respondToPrimary(registry)
  collectDefaultMetrics({ register: registry })
  // The default for several workers, their average, hides a busy one.
  Object.assign(registry.getSingleMetric('nodejs_eventloop_lag_p99_seconds') as object, { aggregator: 'max' })
  addDatabaseMetrics(registry, database, readers, connections)
  addMetric(registry, Gauge, {
    name: 'operations',
    help: 'GraphQL operations that run, and that wait for their turn.',
    labels: ['state'],
    read: () => [
      [{ state: 'running' }, operations.running],
      [{ state: 'waiting' }, operations.waiting],
    ],
  })
  addMetric(registry, Counter, {
    name: 'requests_shed_total',
    help: 'Requests that received 503 to keep the load within limits.',
    labels: ['reason'],
    read: () => Object.entries(operations.shed).map(([reason, count]) => [{ reason }, count]),
  })
  addMetric(registry, Counter, {
    name: 'connections_refused_total',
    help: 'Connections that were closed at once because there were as many as the process accepts.',
    read: () => [[{}, state.refusedConnections]],
  })
  const durations = new Histogram({
    name: named('http_request_duration_seconds'),
    help: 'Duration of HTTP requests by method, route template and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  return {
    report({ method, route = 'none', status, seconds }) {
      // Callers can invent methods, and each label value stays in memory.
      durations.labels(METHODS.includes(method) ? method : 'other', route, String(status)).observe(seconds)
    },
    route: {
      path: '/metrics',
      access: 'probe',
      methods: reads({
        async handle(ctx) {
          ctx.set('Content-Type', registry.contentType)
          ctx.body = await (cluster.isWorker ? readWorkerMetrics() : registry.metrics())
        },
      }),
    },
  }
}

/** The primary process merges the metrics of all workers. A new AggregatorRegistry responds to its messages. */
function respondToPrimary(registry: Registry): void {
  AggregatorRegistry.setRegistries(registry)
  new AggregatorRegistry()
}

/** A replica is named by its host and port. Requests for the primary wait in front of its pool. */
function addDatabaseMetrics(
  registry: Registry,
  primary: Database,
  { choices, replicas }: Readers,
  connections: Limiter,
): void {
  const pools = [
    { name: 'primary', pool: primary.pool },
    ...replicas.map(({ name, database }) => ({ name, pool: database.pool })),
  ]
  addMetric(registry, Gauge, {
    name: 'database_pool_connections',
    help: 'Connections to each database, and requests waiting for one.',
    labels: ['database', 'state'],
    read: () =>
      pools.flatMap(({ name: database, pool }) => {
        const { totalCount, idleCount: idle, waitingCount } = pool
        const waiting = waitingCount + (pool === primary.pool ? connections.waiting : 0)
        return Object.entries({ idle, busy: totalCount - idle, waiting }).map(
          ([state, value]) => [{ database, state }, value] as const,
        )
      }),
  })
  const waits = new Histogram({
    name: named('database_pool_wait_seconds'),
    help: 'How long statements and transactions have waited for a connection, including the time to open one.',
    labelNames: ['database'],
    buckets: [0.001, 0.01, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  const failures = new Counter({
    name: named('database_failures_total'),
    help: 'Connections that failed, and statements that the database could not serve.',
    labelNames: ['database', 'reason'],
    registers: [registry],
  })
  for (const { name: database, pool } of pools) {
    waits.zero({ database })
    for (const reason of FAILURE_REASONS) failures.inc({ database, reason }, 0)
    pool.observer = {
      waited: (seconds) => waits.observe({ database }, seconds),
      failed: (reason) => failures.inc({ database, reason }),
    }
  }
  addMetric(registry, Gauge, {
    name: 'replica_lag_seconds',
    help: 'How far each replica lags behind the primary; without a value if that is not known.',
    labels: ['replica'],
    aggregator: 'max',
    read: () =>
      replicas.flatMap(({ name, lag }) =>
        Number.isFinite(lag) ? [[{ replica: name }, Number(lag) / 1_000] as const] : [],
      ),
  })
  addMetric(registry, Gauge, {
    name: 'replica_usable',
    help: 'Whether each replica is read from (1), or excluded because it lags or does not respond (0).',
    labels: ['replica'],
    aggregator: 'min',
    read: () => replicas.map(({ name, isUsable }) => [{ replica: name }, Number(isUsable)]),
  })
  if (!choices) return
  addMetric(registry, Counter, {
    name: 'database_reads_total',
    help: 'Operations by the database that they read from: a replica, or the primary and why.',
    labels: ['from'],
    read: () => Object.entries(choices).map(([from, count]) => [{ from }, count]),
  })
}

function named(metric: string): string {
  return `${SERVICE_NAME}_${metric}`
}

/** A metric whose values are read on each scrape. */
interface ReadMetric {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  readonly read: () => readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]
  /** How the values of several workers are merged; by default added. */
  readonly aggregator?: 'max' | 'min'
}

function addMetric(
  registry: Registry,
  Metric: typeof Counter | typeof Gauge,
  { name, labels = [], read, ...options }: ReadMetric,
): void {
  ;new (Metric as typeof Gauge)({
    ...options,
    name: named(name),
    labelNames: labels,
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of read()) this.inc(labels, value)
    },
  })
}
