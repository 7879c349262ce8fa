import cluster, { type Worker } from 'node:cluster'
import { on } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry } from 'prom-client'
import { RateLimiterClusterMaster } from 'rate-limiter-flexible'
import { DomainError } from '../model/errors.ts'

const STOP = 'stop'

/** From a worker: whether it may stop listening, and for the metrics of all workers. */
type Question = 'leave' | 'metrics'

/** From a worker: it no longer listens. */
const LEFT = 'left'

/** The answer to `leave` while other workers listen. */
const OTHERS_LISTEN = 'others listen'

interface Message {
  readonly question: Question
  readonly answer?: string | undefined
}

/** Limits the processor time of a worker that fails at every start. */
const RESTART_MILLISECONDS = 1_000

/**
 * Runs the service in several processes that share one port. Each accepts connections itself; if this process did, which
 * is Node's default, some would be left at the end of a stop. The first worker starts alone, so that a problem is printed
 * once; if it fails, the service ends. Workers that die later are replaced until they succeed, because the database can be
 * unavailable for a while. The first signal stops all processes gracefully, the second kills them.
 *
 * @param module the main module of a worker
 */
export function superviseWorkers(module: string, count: number, logger: Logger): void {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: module, args: [] })
  // RATE_LIMIT: counts the requests of each caller over all workers.
  new RateLimiterClusterMaster()
  const metrics = new AggregatorRegistry()
  const running = new Set<Worker>()
  const listening = new Set<Worker>()
  const leaving = new Set<Worker>()
  let hasStarted = false
  let isStopping = false
  const stop = () => {
    isStopping = true
    for (const worker of running) {
      if (listening.has(worker)) worker.send(STOP)
      else worker.process.kill()
    }
  }
  const fork = () => {
    const worker = cluster.fork()
    running.add(worker)
    // Sending a message to a worker that has just died fails.
    worker.on('error', () => {})
  }
  const answer = (worker: Worker, question: Question, answer?: string) =>
    worker.send({ question, answer } satisfies Message)
  // It listens until the others have left, so that new connections are still accepted.
  const releaseLast = () => {
    const [last] = leaving
    if (!last || listening.size > 1) return
    leaving.delete(last)
    // Closes the port in this process first, so that no connection comes after the last that the worker accepts.
    last.disconnect()
    answer(last, 'leave')
  }
  const forget = (worker: Worker) => {
    listening.delete(worker)
    leaving.delete(worker)
    releaseLast()
  }
  cluster.on('message', async (worker, message: Partial<Message> | typeof LEFT | null) => {
    if (message === LEFT) forget(worker)
    else if (message?.question === 'leave') {
      leaving.add(worker)
      if (leaving.size < listening.size) answer(worker, 'leave', OTHERS_LISTEN)
      else releaseLast()
    } else if (message?.question === 'metrics') {
      const text = await metrics.clusterMetrics().catch(() => undefined)
      if (worker.isConnected()) answer(worker, 'metrics', text)
    }
  })
  cluster.on('listening', (worker) => {
    listening.add(worker)
    if (isStopping) worker.send(STOP)
  })
  cluster.on('exit', async (worker, status, signal) => {
    running.delete(worker)
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
    if (isStopping) for (const worker of running) worker.process.kill('SIGKILL')
    else stop()
  })
  cluster.once('listening', () => {
    hasStarted = true
    for (let number = 1; number < count && !isStopping; number++) fork()
  })
  fork()
}

/**
 * Calls back when this process must stop: on a signal, or in a worker when the primary process sends {@link STOP}. A
 * worker ignores signals, because a terminal sends them to all processes. Node ends it when the primary process has died.
 */
export function onStop(stop: () => void): void {
  onSignal(cluster.isPrimary ? stop : () => {})
  if (cluster.isPrimary) return
  process.on('message', (message) => {
    if (message === STOP) stop()
  })
}

/** @throws {DomainError} SERVICE_UNAVAILABLE (503) if a worker has just died and does not respond */
export async function readWorkerMetrics(): Promise<string> {
  const text = await askPrimary('metrics')
  if (text !== undefined) return text
  throw new DomainError('SERVICE_UNAVAILABLE', 'A worker did not report its metrics in time.')
}

/**
 * Resolves when this process may stop listening.
 *
 * @returns whether other workers listen on the port
 */
export async function mayLeave(): Promise<boolean> {
  return (await askPrimary('leave')) === OTHERS_LISTEN
}

/** To call when this process no longer listens and others do. */
export function reportLeft(): void {
  process.send?.(LEFT, undefined, {}, () => {})
}

/** Resolves when the primary process answers, or immediately if there is none. */
async function askPrimary(question: Question): Promise<string | undefined> {
  if (!cluster.isWorker || !process.connected) return undefined
  const messages = on(process, 'message', { close: ['disconnect'] })
  process.send?.({ question } satisfies Message, undefined, {}, () => {})
  for await (const [message] of messages)
    if ((message as Partial<Message> | null)?.question === question) return message.answer
  return undefined
}

/** Ignores a second signal within this time: one Ctrl-C can arrive twice, from the terminal and from npm. */
const SAME_SIGNAL_MILLISECONDS = 500

function onSignal(stop: () => void): void {
  let since: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (since !== undefined && performance.now() - since <= SAME_SIGNAL_MILLISECONDS) return
      since ??= performance.now()
      stop()
    })
  }
}
