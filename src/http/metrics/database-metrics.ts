import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { counter, named } from './metric-types.ts'

export interface DatabaseMeasured {
  /** The pool of the primary, and that of each replica, by name. */
  readonly pools: readonly MeasuredPool[]
  readonly failureReasons: readonly string[]
  /** The number of operations by the database they read from, if there are replicas. */
  readonly reads?: (() => Readonly<Record<string, number>>) | undefined
  /** The lag is in milliseconds. */
  readonly replicas: readonly {
    readonly name: string
    readonly isUsable: boolean
    readonly lag: number | undefined
  }[]
}

interface MeasuredPool {
  readonly name: string
  readonly pool: Pool
  /** How many requests wait in front of the pool. */
  readonly queued?: () => number
}

/** Open connections, idle ones among them, and requests that wait for one. */
interface Pool {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  observer: { waited(seconds: number): void; failed(reason: string): void } | undefined
}

export function addDatabaseMetrics(registry: Registry, measured: DatabaseMeasured): void {
  const { pools, reads, replicas } = measured
  new Gauge({
    name: named('database_pool_connections'),
    help: 'Connections to each database, and requests waiting for one.',
    labelNames: ['database', 'state'],
    registers: [registry],
    collect() {
      for (const { name: database, pool, queued = () => 0 } of pools) {
        const { totalCount, idleCount: idle, waitingCount } = pool
        const waiting = waitingCount + queued()
        for (const [state, value] of Object.entries({ idle, busy: totalCount - idle, waiting }))
          this.set({ database, state }, value)
      }
    },
  })
  observePools(registry, measured)
  addReplicas(registry, replicas)
  if (!reads) return
  const help = 'Operations by the database that they read from: a replica, or the primary and why.'
  counter(registry, 'database_reads_total', help, { label: 'from', read: reads })
}

function observePools(registry: Registry, { pools, failureReasons }: DatabaseMeasured): void {
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
    for (const reason of failureReasons) failures.inc({ database, reason }, 0)
    pool.observer = {
      waited: (seconds) => waits.observe({ database }, seconds),
      failed: (reason) => failures.inc({ database, reason }),
    }
  }
}

/** Workers measure separately and are merged: the largest lag, and whether all use the replica. */
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
