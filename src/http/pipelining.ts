import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that may wait before the service reads no more from it. */
const MAXIMUM_WAITING = 100

/**
 * Handles the requests of a connection one after the other, in their order (RFC 9112 §9.3.2). Node would start all
 * pipelined requests at once, and keep their responses in memory until the first is sent; after a stream of events, that
 * is never. When the connection is lost, only the first response would be closed, so the others would count forever.
 */
export function oneAfterTheOther(handler: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, (() => void)[]>()
  return (request, response) => {
    const { socket } = request
    const queue = queues.get(socket) ?? []
    if (!queues.has(socket)) {
      queues.set(socket, queue)
      // Node resumes a connection after each request.
      socket.on('resume', () => pauseIfFull(socket, queue))
    }
    queue.push(() => {
      response.once('close', () => {
        queue.shift()
        if (socket.destroyed) return
        queue[0]?.()
        if (queue.length === MAXIMUM_WAITING) socket.resume()
      })
      handler(request, response)
    })
    if (queue.length === 1) queue[0]?.()
    // Node ignores a pause while it parses what it has read.
    else process.nextTick(pauseIfFull, socket, queue)
  }
}

function pauseIfFull(socket: Socket, queue: readonly unknown[]): void {
  if (queue.length > MAXIMUM_WAITING) socket.pause()
}
