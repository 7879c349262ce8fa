import cluster from 'node:cluster'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
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
) {
  const registry = new Registry()
  if (cluster.isWorker) {
    AggregatorRegistry.setRegistries(registry)
    // Responds to the primary process, which merges the metrics.
    new AggregatorRegistry()
  }
  collectDefaultMetrics({ register: registry })
  // By default, workers are averaged, which hides a busy one.
  Object.assign(registry.getSingleMetric('nodejs_eventloop_lag_p99_seconds') as object, { aggregator: 'max' })
  addDatabaseMetrics(registry, database, readers ?? {})
  new Gauge({
    name: named('operations'),
    help: 'GraphQL operations that are running or waiting for their turn.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'running' }, load.running)
      this.set({ state: 'waiting' }, load.waiting)
    },
  })
  new Counter({
    name: named('requests_shed_total'),
    help: 'Requests that received 503 to keep the load within limits.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(load.shed)) this.inc({ reason }, count)
    },
  })
  new Counter({
    name: named('connections_refused_total'),
    help: 'Connections closed at once because the process already had MAX_CONNECTIONS.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(state.refusedConnections)
    },
  })
  const durations = new Histogram({
    name: named('http_request_duration_seconds'),
    help: 'Duration of HTTP requests by method, route template and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
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
    report({ method, route = 'none', status, seconds }: AnsweredRequest) {
      // Callers can invent methods, and each label value stays in memory.
      durations.labels(METHODS.includes(method) ? method : 'other', route, String(status)).observe(seconds)
    },
  }
}

/** A replica is named by its host and port. */
function addDatabaseMetrics(
  registry: Registry,
  primary: Database,
  { choices, replicas = [] }: Partial<Readers>,
): void {
  const pools = [
    { name: 'primary', pool: primary.pool },
    ...replicas.map(({ name, database }) => ({ name, pool: database.pool })),
  ]
  new Gauge({
    name: named('database_pool_connections'),
    help: 'Connections to each database, and requests waiting for one.',
    labelNames: ['database', 'state'],
    registers: [registry],
    collect() {
      for (const { name: database, pool } of pools) {
        this.set({ database, state: 'idle' }, pool.idleCount)
        this.set({ database, state: 'busy' }, pool.totalCount - pool.idleCount)
        this.set({ database, state: 'waiting' }, pool.waitingCount)
      }
    },
  })
  const waits = new Histogram({
    name: named('database_pool_wait_seconds'),
    help: 'How long statements and transactions waited for a connection, including the time to open one.',
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
  new Gauge({
    name: named('replica_lag_seconds'),
    help: 'How far each replica lags behind the primary; no value if unknown, as without the primary.',
    labelNames: ['replica'],
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.reset()
      for (const { name, lag } of replicas)
        if (Number.isFinite(lag)) this.set({ replica: name }, Number(lag) / 1_000)
    },
  })
  new Gauge({
    name: named('replica_usable'),
    help: 'Whether the replica is used for reads (1), or excluded because it lags or does not respond (0).',
    labelNames: ['replica'],
    aggregator: 'min',
    registers: [registry],
    collect() {
      for (const { name, isUsable } of replicas) this.set({ replica: name }, Number(isUsable))
    },
  })
  if (!choices) return
  new Counter({
    name: named('database_reads_total'),
    help: 'Operations by the database they read from: a replica, or the primary and the reason.',
    labelNames: ['from'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [from, count] of Object.entries(choices)) this.inc({ from }, count)
    },
  })
}

function named(metric: string): string {
  return `${SERVICE_NAME}_${metric}`
}
