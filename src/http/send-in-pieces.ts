import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Middleware } from 'koa'

/** In UTF-16 code units. */
const PIECE = 64 * 1024

/** Shorter bodies are sent at once: it takes less than a millisecond to encode and to write them. */
const SHORT = 4 * PIECE

/**
 * Sends a long text body in pieces, each in its own turn of the event loop, so that other requests are
 * served in between. Encoding and writing 15 MB at once takes up to 100 ms.
 */
export const sendInPieces: Middleware = async (ctx, next) => {
  await next()
  const { body } = ctx
  if (typeof body !== 'string' || body.length <= SHORT) return
  const { type, length } = ctx
  // A stream needs some listeners of its own beside those of the response.
  ctx.res.setMaxListeners(20)
  ctx.body = Readable.from(pieces(body))
  ctx.type = type
  ctx.length = length
}

async function* pieces(text: string): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; ) {
    const end = endOfPiece(text, start + PIECE)
    yield Buffer.from(text.slice(start, end))
    start = end
    await nextTurn()
  }
}

/** Between two characters: a surrogate pair stays together. */
function endOfPiece(text: string, end: number): number {
  const isLead = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return isLead ? end + 1 : end
}
