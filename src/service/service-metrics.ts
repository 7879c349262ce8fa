import cluster from 'node:cluster'
import type { Database } from '../database/database.ts'
import { FAILURE_REASONS } from '../database/errors.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { OperationLimiter } from '../graph/execution/operation-limiter.ts'
import type { Limiter } from '../http/limiter.ts'
import { createMetrics, type Metrics } from '../http/metrics/metrics.ts'
import { readWorkerMetrics } from './workers/worker-metrics.ts'

/** The primary among the databases whose pools are measured; replicas have their host and port. */
const PRIMARY = 'primary'

/** What callers wait in. */
interface Limiters {
  readonly operations: OperationLimiter
  readonly connections: Limiter
}

/** Makes the metrics of the service, of all its processes where this is one of several. */
export function createServiceMetrics(
  { pool }: Database,
  { operations, connections }: Limiters,
  { choices, replicas }: Readers,
  refusedConnections: () => number,
): Metrics {
  const measured = {
    pools: [
      { name: PRIMARY, pool, queued: () => connections.waiting },
      ...replicas.map(({ name, database }) => ({ name, pool: database.pool })),
    ],
    failureReasons: FAILURE_REASONS,
    reads: choices && (() => choices),
    replicas,
    operations: () => ({ running: operations.running, waiting: operations.waiting }),
    shed: operations.shed,
    refusedConnections,
  }
  return createMetrics(measured, cluster.isWorker ? readWorkerMetrics : undefined)
}
