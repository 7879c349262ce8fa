import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { SERVICE_NAME } from '../observability/observation.ts'
import type { ReportRequest } from './access-log.ts'
import { METHODS } from './errors.ts'
import { type Route, reads } from './routes.ts'

/** What is measured apart from requests; read when the metrics are. */
export interface Gauges {
  /** Connections to the database: open, of them idle, and requests waiting for one. */
  readonly pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number }
  /** GraphQL operations that run and that wait. */
  readonly operations: () => { readonly running: number; readonly waiting: number }
  /** Operations by the database that they read from, of a service with replicas. */
  readonly reads?: (() => Readonly<Record<string, number>>) | undefined
}

/** The metrics of a service: told of every request, and served at /metrics. */
export interface Metrics {
  readonly report: ReportRequest
  readonly route: Route
}

/**
 * Makes the metrics, in the Prometheus text format, with those of Node itself (event-loop delay, memory).
 *
 * @param readAll reads the metrics of all processes of the service, where this is one of several
 */
export function createMetrics(
  { pool, operations, reads: readReads }: Gauges,
  readAll?: () => Promise<string>,
): Metrics {
  const registry = new Registry()
  if (readAll) respondToPrimary(registry)
  collectDefaultMetrics({ register: registry })
  gauge(
    registry,
    'database_pool_connections',
    'Connections to the database, and requests waiting for one.',
    () => {
      const { totalCount, idleCount: idle, waitingCount: waiting } = pool
      return { idle, busy: totalCount - idle, waiting }
    },
  )
  gauge(registry, 'operations', 'GraphQL operations that run, and that wait for their turn.', () => ({
    ...operations(),
  }))
  if (readReads) countReads(registry, readReads)
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
          ctx.body = await (readAll ? readAll() : registry.metrics())
        },
      }),
    },
  }
}

function named(metric: string): string {
  return `${SERVICE_NAME}_${metric}`
}

/** The primary process merges the metrics of all workers. A new AggregatorRegistry responds to its messages. */
function respondToPrimary(registry: Registry): void {
  AggregatorRegistry.setRegistries(registry)
  new AggregatorRegistry()
}

function countReads(registry: Registry, read: () => Readonly<Record<string, number>>): void {
  new Counter({
    name: named('database_reads_total'),
    help: 'Operations by the database that they read from: a replica, or the primary and why.',
    labelNames: ['from'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [from, value] of Object.entries(read())) this.inc({ from }, value)
    },
  })
}

function gauge(registry: Registry, name: string, help: string, read: () => Record<string, number>): void {
  new Gauge({
    name: named(name),
    help,
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, value] of Object.entries(read())) this.set({ state }, value)
    },
  })
}
