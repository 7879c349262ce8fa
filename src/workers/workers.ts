import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { RateLimiterClusterMaster } from 'rate-limiter-flexible'
import { mergeWorkerMetrics } from './worker-metrics.ts'

/** The message that tells a worker to stop. */
const STOP = 'stop'

/** Limits the processor time that a worker takes which cannot start. */
const RESTART_MILLISECONDS = 1_000

/**
 * Runs the service in several processes that share one port and replaces a process that dies. The first one
 * starts alone, so that a problem is printed once, and the service ends if it cannot start. Later ones are tried
 * again until they start, because the database can be away for a while. The first signal stops all processes
 * gracefully, the second kills them.
 */
export function superviseWorkers(count: number, logger: Logger): void {
  // Counts the requests of each caller over all workers, for RATE_LIMIT.
  new RateLimiterClusterMaster()
  mergeWorkerMetrics()
  const listening = new Set<Worker>()
  let hasStarted = false
  let isStopping = false
  const stop = () => {
    isStopping = true
    for (const worker of workers()) {
      if (listening.has(worker)) worker.send(STOP)
      else worker.process.kill()
    }
  }
  cluster.on('listening', (worker) => listening.add(worker))
  cluster.on('exit', async (worker, status, signal) => {
    if (isStopping) return
    logger.error({ worker: worker.process.pid, status, signal }, 'worker died')
    listening.delete(worker)
    if (!hasStarted) {
      process.exitCode = 1
      return stop()
    }
    await delay(RESTART_MILLISECONDS)
    if (!isStopping) cluster.fork()
  })
  onSignal(() => {
    if (isStopping) for (const worker of workers()) worker.process.kill('SIGKILL')
    else stop()
  })
  cluster.once('listening', () => {
    hasStarted = true
    for (let number = 1; number < count && !isStopping; number++) cluster.fork()
  })
  cluster.fork()
}

/**
 * Calls back when this process must stop: on a signal; in a worker, when the primary process sends the message
 * or ends. (A terminal sends its signal to all processes, so a worker ignores signals.)
 */
export function onStop(stop: () => void): void {
  if (cluster.isPrimary) {
    onSignal(stop)
    return
  }
  onSignal(() => {})
  process.on('message', (message) => {
    if (message === STOP) stop()
  })
  process.once('disconnect', stop)
}

/** The terminal and npm both forward one Ctrl-C, so a second signal within this time is ignored. */
const SAME_SIGNAL_MILLISECONDS = 500

function onSignal(stop: () => void): void {
  let since: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (since !== undefined && performance.now() - since <= SAME_SIGNAL_MILLISECONDS) return
      since ??= performance.now()
      stop()
    })
  }
}

/** Whether this is the only process or the first worker, which prints the introduction. */
export function isFirstProcess(): boolean {
  return cluster.isPrimary || cluster.worker?.id === 1
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
