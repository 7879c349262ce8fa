import type { Context } from 'koa'

/**
 * Is aborted when the response is over, or when the client leaves before. A client that closes its side of the connection
 * counts as one that leaves. It would still receive a short response, but until something is sent to it, it cannot be
 * distinguished from a client that has closed the whole connection.
 */
export function abortOnLeave({ req: { socket }, res }: Context): AbortController {
  const controller = new AbortController()
  const leave = () => controller.abort()
  socket.once('end', leave)
  res.once('close', () => {
    socket.removeListener('end', leave)
    leave()
  })
  if (socket.readableEnded || res.closed) leave()
  return controller
}
