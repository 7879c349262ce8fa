// The thread of the embedded database: PGlite on a Unix socket. Queries do not block the thread that serves HTTP.
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { PGLiteSocketHandler } from '@electric-sql/pglite-socket'
import { openEngine } from './durability.ts'
import { EmbeddedQueue } from './queue.ts'
import { RESET_SESSION } from './sessions.ts'
import type { ThreadData } from './thread.ts'

const MAXIMUM_CONNECTIONS = 20

const { dataFolder, socket, fsync } = workerData as ThreadData

const engine = await openEngine(dataFolder, fsync)
const handlers = new Map<number, PGLiteSocketHandler>()
const server = socket && (await listen(socket))

parentPort?.once('message', close)
parentPort?.postMessage('ready')

async function listen({ path, timeout }: NonNullable<ThreadData['socket']>): Promise<Server> {
  const queue = new EmbeddedQueue(
    engine,
    timeout,
    (connection) => void handlers.get(connection)?.detach(true),
    () => process.exit(1),
  )
  const listening = createServer((socket) => {
    // The package's type requires its own queue class, but it only calls methods that EmbeddedQueue has.
    const handler = new PGLiteSocketHandler({ queryQueue: queue as never, closeOnDetach: true })
    handlers.set(handler.handlerId, handler)
    for (const event of ['close', 'error'])
      handler.addEventListener(event, () => handlers.delete(handler.handlerId))
    void handler.attach(socket)
  })
  listening.maxConnections = MAXIMUM_CONNECTIONS
  listening.listen(path)
  await once(listening, 'listening')
  return listening
}

/** After a checkpoint, the next start needs no recovery. */
async function close(): Promise<void> {
  server?.close()
  await Promise.all([...handlers.values()].map((handler) => handler.detach(true)))
  await engine.exec(RESET_SESSION)
  await engine.exec('CHECKPOINT')
  await engine.close()
  parentPort?.close()
}
