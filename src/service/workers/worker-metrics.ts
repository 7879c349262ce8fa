import cluster from 'node:cluster'
import { AggregatorRegistry } from 'prom-client'
import { DomainError } from '../../model/errors.ts'

/** A worker asks with it for the metrics of all workers; the primary process answers with their text. */
interface Message {
  readonly type: typeof TYPE
  readonly request: number
  readonly text?: string | undefined
}

const TYPE = 'halgraph:worker-metrics'

/** Answers the workers, in the primary process, with the metrics of all of them together. */
export function mergeWorkerMetrics(): void {
  const registry = new AggregatorRegistry()
  cluster.on('message', async (worker, message: unknown) => {
    if (!isMessage(message)) return
    const text = await registry.clusterMetrics().catch(() => undefined)
    if (worker.isConnected()) worker.send({ ...message, text } satisfies Message)
  })
}

const waiting = new Map<number, (text: string | undefined) => void>()
let requests = 0

/**
 * The metrics of all workers together, in the Prometheus text format, asked for by one of them.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) when one of them does not respond, because it has just died
 */
export async function readWorkerMetrics(): Promise<string> {
  if (requests === 0) process.on('message', receive)
  requests += 1
  const message: Message = { type: TYPE, request: requests }
  const text = await new Promise<string | undefined>((resolve) => {
    waiting.set(message.request, resolve)
    process.send?.(message)
  })
  if (text !== undefined) return text
  throw new DomainError('SERVICE_UNAVAILABLE', 'A worker did not report its metrics in time.')
}

function receive(message: unknown): void {
  if (!isMessage(message)) return
  waiting.get(message.request)?.(message.text)
  waiting.delete(message.request)
}

function isMessage(message: unknown): message is Message {
  return (message as Partial<Message> | null)?.type === TYPE
}
