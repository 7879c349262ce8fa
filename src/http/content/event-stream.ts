import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Context } from 'koa'
import { expiryOf } from '../auth/authenticate.ts'

export const EVENT_STREAM = 'text/event-stream'

/** A client that does not read for this long is disconnected. It can resume after its last event. */
const UNREAD_MILLISECONDS = 8_000

/** The longest timer of Node. */
const LONGEST_MILLISECONDS = 2 ** 31 - 1

/**
 * Streams events (HTML Living Standard, server-sent events) until they end or fail, the client leaves, or its token
 * expires. The stream begins when all middleware has set its headers.
 *
 * @param events makes the text of events; the signal is aborted at the end of the stream
 * @param expired the last events of a stream whose token has expired
 */
export function sendEvents(
  ctx: Context,
  events: (signal: AbortSignal) => AsyncIterable<string>,
  expired = '',
): void {
  const { res } = ctx
  const ended = abortOnLeave(ctx)
  let last = ''
  const left = Math.min(expiryOf(ctx) * 1_000 - Date.now(), LONGEST_MILLISECONDS)
  const expiry = setTimeout(() => {
    last = expired
    ended.abort()
  }, left).unref()
  ctx.respond = false
  ctx.status = 200
  ctx.set({ 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-store' })
  setImmediate(async () => {
    try {
      for await (const event of events(ended.signal)) {
        if (ended.signal.aborted) break
        if (!res.write(event)) await drained(res, ended.signal)
      }
      res.end(last)
    } catch {
      // The status was sent. The client reconnects, and may get the error as a response.
      res.destroy()
    } finally {
      clearTimeout(expiry)
    }
  })
}

async function drained(res: ServerResponse, signal: AbortSignal): Promise<void> {
  const unread = setTimeout(() => res.destroy(), UNREAD_MILLISECONDS)
  await once(res, 'drain', { signal }).finally(() => clearTimeout(unread))
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
