import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { RateLimiterClusterMaster } from 'rate-limiter-flexible'

/** What a worker is told by the process that started it. */
const STOP = 'stop'

/** Keeps a worker that dies at once each time from taking all of a processor. */
const RESTART_MILLISECONDS = 1_000

/**
 * Runs the service in several processes that share one port, and starts another where one dies. Where one
 * ends before it listens, the service cannot be started, and all of them are stopped. The first signal
 * stops all of them and the second one does not wait.
 */
export function superviseWorkers(count: number, logger: Logger): void {
  // Counts the requests of callers for all workers, when they are to be counted.
  new RateLimiterClusterMaster()
  const listening = new Set<Worker>()
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
    logger.error({ worker: worker.process.pid, status, signal }, 'a worker has died')
    if (!listening.delete(worker)) {
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
  for (let number = 0; number < count; number++) cluster.fork()
}

/**
 * Calls back when this process is told to stop: by a signal; a worker by the process that started it, or
 * by its end. (A terminal sends its signal to all of them, so that a worker would get it twice.)
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

/** Both the terminal and npm pass one Ctrl-C on: so soon, a second signal is the first one again. */
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
