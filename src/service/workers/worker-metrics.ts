import cluster from 'node:cluster'
import { AggregatorRegistry } from 'prom-client'
import { DomainError } from '../../model/errors.ts'

/** A worker asks for the metrics of all workers; the primary process adds their text and sends the message back. */
interface Message {
  readonly type: typeof TYPE
  readonly request: number
  readonly text?: string | undefined
}

const TYPE = 'halgraph:worker-metrics'

/** Makes the primary process answer {@link readWorkerMetrics}. */
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
 * The merged metrics of all workers, in the Prometheus text format.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) if a worker has just died and does not respond
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
