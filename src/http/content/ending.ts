import { expiryOf } from '../auth/authenticate.ts'
import type { Context } from '../context.ts'

/** The longest timer of Node, 24.8 days. */
const LONGEST_MILLISECONDS = 2 ** 31 - 1

/**
 * Calls a function when the token of a request expires.
 *
 * @returns what cancels the call
 */
export function onExpiry(ctx: Context, expire: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const start = () => {
    const left = expiryOf(ctx) * 1_000 - Date.now()
    if (left <= 0) return expire()
    timer = setTimeout(start, Math.min(left, LONGEST_MILLISECONDS)).unref()
  }
  start()
  return () => clearTimeout(timer)
}

/**
 * Aborts when the response is over or the client leaves. A client that closes its side of the connection counts as one
 * that leaves: until something is sent, it cannot be distinguished from one that has closed the whole connection.
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
