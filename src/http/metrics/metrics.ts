import { AggregatorRegistry, Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { ReportRequest } from '../access-log.ts'
import { METHODS } from '../errors.ts'
import { type Route, reads } from '../routes.ts'
import { addDatabaseMetrics, type DatabaseMeasured } from './database-metrics.ts'
import { counter, gauge, named } from './metric-types.ts'

/** What is measured besides requests; read on each scrape, except for what the pool reports. */
export interface Measured extends DatabaseMeasured {
  readonly operations: () => { readonly running: number; readonly waiting: number }
  /** The number of refused requests, by reason. */
  readonly shed: Readonly<Record<string, number>>
  /** The number of connections that were closed at once because there were too many. */
  readonly refusedConnections: () => number
}

/** Collects requests, and serves the metrics. */
export interface Metrics {
  readonly report: ReportRequest
  readonly route: Route
}

/**
 * Makes the metrics, in the Prometheus text format, with those of Node itself (event-loop delay, memory).
 *
 * @param readAll reads the metrics of all processes, if there are several
 */
export function createMetrics(measured: Measured, readAll?: () => Promise<string>): Metrics {
  const registry = new Registry()
  if (readAll) respondToPrimary(registry)
  collectDefaultMetrics({ register: registry })
  mergeByMaximum(registry, 'nodejs_eventloop_lag_p99_seconds')
  addDatabaseMetrics(registry, measured)
  addLoadMetrics(registry, measured)
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

/** The primary process merges the metrics of all workers. A new AggregatorRegistry responds to its messages. */
function respondToPrimary(registry: Registry): void {
  AggregatorRegistry.setRegistries(registry)
  new AggregatorRegistry()
}

/** Takes the maximum of all workers. The default of the library, the average, hides a busy worker. */
function mergeByMaximum(registry: Registry, name: string): void {
  Object.assign(registry.getSingleMetric(name) as object, { aggregator: 'max' })
}

function addLoadMetrics(registry: Registry, measured: Measured): void {
  gauge(registry, 'operations', 'GraphQL operations that run, and that wait for their turn.', () => ({
    ...measured.operations(),
  }))
  counter(registry, 'requests_shed_total', 'Requests that received 503 to keep the load within limits.', {
    label: 'reason',
    read: () => measured.shed,
  })
  new Counter({
    name: named('connections_refused_total'),
    help: 'Connections that were closed at once because there were as many as the process accepts.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(measured.refusedConnections())
    },
  })
}
