import cluster from 'node:cluster'
import type { Database } from '../database/database.ts'
import { FAILURE_REASONS } from '../database/errors.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { OperationLimiter } from '../graph/execution/operation-limiter.ts'
import type { Limiter } from '../http/limiter.ts'
import { createMetrics, type Metrics } from '../http/metrics/metrics.ts'
import { readWorkerMetrics } from './workers/worker-metrics.ts'

/** Of all processes if this is one of several. A replica is named by its host and port. */
export function createServiceMetrics(
  { pool }: Database,
  { choices, replicas }: Readers,
  state: { readonly refusedConnections: number },
  operations: OperationLimiter,
  connections: Limiter,
): Metrics {
  const measured = {
    pools: [
      { name: 'primary', pool, queued: () => connections.waiting },
      ...replicas.map(({ name, database }) => ({ name, pool: database.pool })),
    ],
    failureReasons: FAILURE_REASONS,
    reads: choices && (() => choices),
    replicas,
    operations: () => ({ running: operations.running, waiting: operations.waiting }),
    shed: operations.shed,
    refusedConnections: () => state.refusedConnections,
  }
  return createMetrics(measured, cluster.isWorker ? readWorkerMetrics : undefined)
}
