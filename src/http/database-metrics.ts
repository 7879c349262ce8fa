import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { counter, gauge, named } from './metric-types.ts'

/** What is measured of the database. */
export interface DatabaseMeasured {
  readonly pool: Pool
  /** Why a database can be unavailable. */
  readonly failureReasons: readonly string[]
  /** Operations by the database that they read from, of a service with replicas. */
  readonly reads?: (() => Readonly<Record<string, number>>) | undefined
  /** What is known of each replica; the lag is in milliseconds. */
  readonly replicas: readonly {
    readonly name: string
    readonly isUsable: boolean
    readonly lag: number | undefined
  }[]
}

/** A pool of connections: open, of them idle, and requests waiting for one. */
interface Pool {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  observer: { waited(seconds: number): void; failed(reason: string): void } | undefined
}

/** Adds the metrics of the database. */
export function addDatabaseMetrics(registry: Registry, measured: DatabaseMeasured): void {
  const { pool, reads, replicas } = measured
  gauge(
    registry,
    'database_pool_connections',
    'Connections to the database, and requests waiting for one.',
    () => {
      const { totalCount, idleCount: idle, waitingCount: waiting } = pool
      return { idle, busy: totalCount - idle, waiting }
    },
  )
  observePool(registry, measured)
  addReplicas(registry, replicas)
  if (!reads) return
  const help = 'Operations by the database that they read from: a replica, or the primary and why.'
  counter(registry, 'database_reads_total', help, { label: 'from', read: reads })
}

function observePool(registry: Registry, { pool, failureReasons }: DatabaseMeasured): void {
  const waits = new Histogram({
    name: named('database_pool_wait_seconds'),
    help: 'How long statements and transactions have waited for a connection, including the time to open one.',
    buckets: [0.001, 0.01, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  const failures = new Counter({
    name: named('database_failures_total'),
    help: 'Connections that failed, and statements that the database could not serve.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of failureReasons) failures.inc({ reason }, 0)
  pool.observer = {
    waited: (seconds) => waits.observe(seconds),
    failed: (reason) => failures.inc({ reason }),
  }
}

/** Each worker measures on its own; together they serve the largest lag, and whether all of them use the replica. */
function addReplicas(registry: Registry, replicas: DatabaseMeasured['replicas']): void {
  new Gauge({
    name: named('replica_lag_seconds'),
    help: 'How far each replica lags behind the primary; without a value if that is not known.',
    labelNames: ['replica'],
    registers: [registry],
    aggregator: 'max',
    collect() {
      this.reset()
      for (const { name: replica, lag = Number.NaN } of replicas)
        if (Number.isFinite(lag)) this.set({ replica }, lag / 1_000)
    },
  })
  new Gauge({
    name: named('replica_usable'),
    help: 'Whether each replica is read from (1), or excluded because it lags or does not respond (0).',
    labelNames: ['replica'],
    registers: [registry],
    aggregator: 'min',
    collect() {
      for (const { name: replica, isUsable } of replicas) this.set({ replica }, Number(isUsable))
    },
  })
}
