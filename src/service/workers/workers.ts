import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { RateLimiterClusterMaster } from 'rate-limiter-flexible'
import { mergeWorkerMetrics } from './worker-metrics.ts'

/** Tells a worker to stop. */
const STOP = 'stop'

/** A worker asks whether it may stop listening, then reports that it has. The primary confirms with the same message. */
const LEAVE = 'leave'
const LEFT = 'left'

/** Limits the processor time of a worker that fails at every start. */
const RESTART_MILLISECONDS = 1_000

/**
 * Runs the service in several processes that share one port, and replaces a process that dies. The first worker starts
 * alone, so that a problem is printed once; if it fails, the service ends. Workers that fail later are restarted until
 * they succeed, because the database can be unavailable for a while. The first signal stops all processes gracefully,
 * the second kills them.
 */
export function superviseWorkers(count: number, logger: Logger): void {
  // RATE_LIMIT: counts the requests of each caller over all workers.
  new RateLimiterClusterMaster()
  mergeWorkerMetrics()
  const listening = new Set<Worker>()
  const leaving = new Set<Worker>()
  let hasStarted = false
  let isStopping = false
  const stop = () => {
    isStopping = true
    for (const worker of workers()) {
      if (listening.has(worker)) worker.send(STOP)
      else worker.process.kill()
    }
  }
  // The last worker listens until the others have left, so that new connections are accepted meanwhile.
  const letLeave = (worker: Worker) => {
    leaving.add(worker)
    if (leaving.size < listening.size || listening.size === 1) worker.send(LEAVE)
  }
  const forget = (worker: Worker) => {
    listening.delete(worker)
    leaving.delete(worker)
    const [last] = leaving
    if (last && listening.size === 1) last.send(LEAVE)
  }
  cluster.on('message', (worker, message) => {
    if (message === LEAVE) letLeave(worker)
    if (message !== LEFT) return
    forget(worker)
    worker.send(LEFT)
  })
  cluster.on('listening', (worker) => {
    listening.add(worker)
    if (isStopping) worker.send(STOP)
  })
  cluster.on('exit', async (worker, status, signal) => {
    forget(worker)
    if (isStopping) return
    logger.error({ worker: worker.process.pid, status, signal }, 'worker died')
    if (!hasStarted) {
      process.exitCode = 1
      return stop()
    }
    await delay(RESTART_MILLISECONDS)
    if (!isStopping) fork()
  })
  onSignal(() => {
    if (isStopping) for (const worker of workers()) worker.process.kill('SIGKILL')
    else stop()
  })
  cluster.once('listening', () => {
    hasStarted = true
    for (let number = 1; number < count && !isStopping; number++) fork()
  })
  fork()
}

/**
 * Starts a worker. Node's cluster passes one connection at a time to a worker, and closes its own handle once the worker
 * has accepted it. If the worker is killed before that, Node forgets the handle and the connection would stay open
 * without a response, so this function closes it.
 */
function fork(): void {
  const worker = cluster.fork()
  // Sending a message to a worker that has just died fails.
  worker.on('error', () => {})
  const { process: child } = worker
  const send = child.send.bind(child) as (...parameters: unknown[]) => boolean
  let handedOver: { close(): void } | undefined
  child.send = (...parameters: unknown[]) => {
    handedOver = (parameters[1] as typeof handedOver) ?? handedOver
    return send(...parameters)
  }
  child.once('exit', () => handedOver?.close())
}

/**
 * Calls back when this process must stop: on a signal, or in a worker when the primary process sends {@link STOP} or
 * ends. A worker ignores signals, because a terminal sends them to all processes.
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

/** Resolves when this process may stop listening. */
export const mayLeave = () => askPrimary(LEAVE)

/** Reports that this process has stopped listening. Resolves when the primary knows, and has closed the port if unused. */
export const hasLeft = () => askPrimary(LEFT)

function askPrimary(question: string): Promise<void> {
  return new Promise((resolve) => {
    if (!cluster.isWorker || !process.connected) return resolve()
    process.on('message', (message) => {
      if (message === question) resolve()
    })
    process.once('disconnect', resolve)
    process.send?.(question, undefined, {}, () => {})
  })
}

/** One Ctrl-C can arrive twice, from the terminal and from npm, so a second signal within this time is ignored. */
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

/** The first process prints the introduction. */
export function isFirstProcess(): boolean {
  return cluster.isPrimary || cluster.worker?.id === 1
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
