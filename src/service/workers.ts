import cluster, { type Worker } from 'node:cluster'
import { on } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry } from 'prom-client'
import { RateLimiterClusterMaster } from 'rate-limiter-flexible'
import { DomainError } from '../model/errors.ts'

const STOP = 'stop'

/** From a worker: whether it may stop listening, that it has, and for the metrics of all workers. */
type Question = 'leave' | 'left' | 'metrics'

interface Message {
  readonly question: Question
  readonly answer?: string | undefined
}

/** Limits the processor time of a worker that fails at every start. */
const RESTART_MILLISECONDS = 1_000

/**
 * Runs the service in several processes that share one port. The first worker starts alone, so that a problem is printed
 * once; if it fails, the service ends. Workers that die later are replaced until they succeed, because the database can be
 * unavailable for a while. The first signal stops all processes gracefully, the second kills them.
 */
export function superviseWorkers(count: number, logger: Logger): void {
  // RATE_LIMIT: counts the requests of each caller over all workers.
  new RateLimiterClusterMaster()
  const metrics = new AggregatorRegistry()
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
  const answer = (worker: Worker, question: Question, answer?: string) =>
    worker.send({ question, answer } satisfies Message)
  const forget = (worker: Worker) => {
    listening.delete(worker)
    leaving.delete(worker)
    const [last] = leaving
    if (last && listening.size === 1) answer(last, 'leave')
  }
  cluster.on('message', async (worker, message: Partial<Message> | null) => {
    switch (message?.question) {
      case 'leave':
        leaving.add(worker)
        // The last worker listens until the others have left, so that new connections are still accepted.
        if (leaving.size < listening.size || listening.size === 1) answer(worker, 'leave')
        break
      case 'left':
        forget(worker)
        answer(worker, 'left')
        break
      case 'metrics': {
        const text = await metrics.clusterMetrics().catch(() => undefined)
        if (worker.isConnected()) answer(worker, 'metrics', text)
      }
    }
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
 * Node's cluster passes one connection at a time to a worker, and closes its own handle once the worker has accepted it.
 * If the worker is killed before that, Node forgets the handle, and the connection would stay open without a response.
 * So this function closes it.
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

/** @throws {DomainError} SERVICE_UNAVAILABLE (503) if a worker has just died and does not respond */
export async function readWorkerMetrics(): Promise<string> {
  const text = await askPrimary('metrics')
  if (text !== undefined) return text
  throw new DomainError('SERVICE_UNAVAILABLE', 'A worker did not report its metrics in time.')
}

/**
 * Resolves when the primary process answers, or immediately if there is none. It answers `leave` when this process may
 * stop listening, and `left` when it has closed the port, unless another worker uses it.
 */
export async function askPrimary(question: Question): Promise<string | undefined> {
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
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (since !== undefined && performance.now() - since <= SAME_SIGNAL_MILLISECONDS) return
      since ??= performance.now()
      stop()
    })
  }
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
