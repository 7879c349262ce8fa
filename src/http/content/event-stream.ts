import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expiryOf } from '../auth/authenticate.ts'
import type { Context } from '../context.ts'

export const EVENT_STREAM = 'text/event-stream'

/** A client that does not read for this long is disconnected. It can resume after its last event. */
const UNREAD_MILLISECONDS = 8_000

/** Proxies must pass each event on at once: nginx buffers responses by default, and compression holds events back. */
export const EVENT_HEADERS = {
  'Content-Type': EVENT_STREAM,
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

/**
 * Streams events (HTML Living Standard, server-sent events) until they end or fail, the client leaves, or its token
 * expires. The stream begins when all middleware has set its headers. For HEAD, there are only headers.
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
  ctx.status = 200
  ctx.set(EVENT_HEADERS)
  if (ctx.method === 'HEAD') return
  ctx.respond = false
  const ended = abortOnLeave(ctx)
  let last = ''
  const forgetExpiry = onExpiry(ctx, () => {
    last = expired
    ended.abort()
  })
  setImmediate(async () => {
    try {
      for await (const event of events(ended.signal)) {
        if (ended.signal.aborted) break
        if (res.write(event)) continue
        const release = ctx.state.holdResponse?.(Buffer.byteLength(event))
        await drained(res, ended.signal).finally(release)
      }
      res.end(last)
    } catch {
      // The status was sent. The client reconnects, and may get the error as a response.
      res.destroy()
    } finally {
      forgetExpiry()
    }
  })
}

async function drained(res: ServerResponse, signal: AbortSignal): Promise<void> {
  const unread = setTimeout(() => res.destroy(), UNREAD_MILLISECONDS)
  await once(res, 'drain', { signal }).finally(() => clearTimeout(unread))
}

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
