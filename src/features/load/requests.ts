import { finished } from 'node:stream'
import { callerOf } from '../../http/auth/authenticate.ts'
import type { Middleware } from '../../http/context.ts'
import { bodyBytes, MAXIMUM_JSON_BYTES } from '../../http/json.ts'
import type { OperationQueue } from './operation-queue.ts'
import { MILLISECONDS_PER_UNIT, pauseOf, unitsOfBytes } from './units.ts'

/** In bytes. Smaller responses fit into the buffers of the operating system, and smaller bodies take no time to read. */
const SMALL = 16 * 1024

/**
 * Refuses requests that cannot even wait. A large body counts from before it is read until the operation of the request
 * ends, and a large response until it is sent. After that, the caller pauses.
 */
export function admitRequests({ queue, bodies }: OperationQueue): Middleware {
  const restAfter = (caller: string, bytes: number) => {
    const units = 1 + unitsOfBytes(bytes)
    queue.pause(caller, units, units * MILLISECONDS_PER_UNIT)
  }
  return async (ctx, next) => {
    const caller = callerOf(ctx)
    const { identity } = caller
    queue.admit(identity)
    ctx.state.holdResponse = (bytes) => {
      const lease = queue.hold(identity, 1 + unitsOfBytes(bytes))
      return () => {
        lease.end()
        restAfter(identity, bytes)
      }
    }
    // The length of a chunked body is not known before its end.
    const bytes = ctx.get('Transfer-Encoding') === '' ? (ctx.request.length ?? 0) : MAXIMUM_JSON_BYTES
    const body = bytes > SMALL ? await queue.enter(identity, 1 + unitsOfBytes(bytes)) : undefined
    const began = performance.now()
    if (body) {
      const own = { ...caller }
      ctx.state.caller = own
      bodies.set(own, body)
    }
    let isRefused = true
    try {
      await next()
      isRefused = ctx.status === 400
    } finally {
      body?.end()
      if (body) restAfter(identity, bodyBytes(ctx))
      // A large body can have more mistakes than bytes suggest, and its error quotes parts of it.
      if (body && isRefused)
        queue.pause(identity, Number.POSITIVE_INFINITY, pauseOf(performance.now() - began))
    }
    const length = ctx.length ?? 0
    if (length > SMALL) finished(ctx.res, ctx.state.holdResponse(length))
  }
}
