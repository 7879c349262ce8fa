import { finished } from 'node:stream'
import type { Context, Middleware, Next } from 'koa'
import { callerOf } from './auth/authenticate.ts'
import { bodyBytes } from './json/body.ts'

export interface Load {
  /** @throws {DomainError} SERVICE_UNAVAILABLE (503) when there is no room for a request of this caller */
  admit(caller: string): void
  /** Counts a response of so many bytes, until it is released. */
  holdResponse(caller: string, bytes: number): () => void
  /**
   * Waits until the caller may send another large body, which counts until it is released.
   *
   * @throws {DomainError} SERVICE_UNAVAILABLE (503) when too many bodies wait
   */
  startBody(caller: string): Promise<() => void>
}

/** In bytes. Smaller responses fit into the buffers of the operating system. */
const SMALL_RESPONSE = 16 * 1024

/** In bytes. Reading a smaller body takes about as long as reading a resource. */
const SMALL_BODY = 16 * 1024

/**
 * A response counts for a time after it was sent, so that the long responses of one caller, at 6 MB a second, take only
 * a part of the processor. So does a body, even if it is refused.
 */
const BYTES_PER_MILLISECOND = 6_000

/** Refuses requests beyond the capacity or the share of their caller, and counts long bodies and responses. */
export function shedLoad(load: Load): Middleware {
  return async (ctx, next) => {
    const { identity } = callerOf(ctx)
    load.admit(identity)
    await withBody(load, ctx, identity, next)
    const bytes = ctx.length ?? 0
    if (bytes <= SMALL_RESPONSE) return
    const release = load.holdResponse(identity, bytes)
    finished(ctx.res, (error) =>
      error ? release() : setTimeout(release, bytes / BYTES_PER_MILLISECOND).unref(),
    )
  }
}

/** Counts a large body until its request is finished, and then for a time that depends on its length. */
async function withBody(load: Load, ctx: Context, caller: string, next: Next): Promise<void> {
  // The length of a chunked body is not known before its end.
  const isLarge = ctx.get('Transfer-Encoding') !== '' || (ctx.request.length ?? 0) > SMALL_BODY
  if (!isLarge) return next()
  const release = await load.startBody(caller)
  try {
    await next()
  } finally {
    setTimeout(release, bodyBytes(ctx) / BYTES_PER_MILLISECOND).unref()
  }
}
