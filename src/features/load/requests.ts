import { finished } from 'node:stream'
import { LRUCache } from 'lru-cache'
import { callerOf } from '../../http/auth/authenticate.ts'
import type { Middleware } from '../../http/context.ts'
import { bodyBytes, MAXIMUM_JSON_BYTES } from '../../http/json.ts'
import type { LoadOf } from './document-guard.ts'
import { FairQueue } from './fair-queue.ts'
import { MILLISECONDS_PER_UNIT, pauseOf, unitsOfBytes } from './units.ts'

/** Requests of one caller that start in one turn of the event loop while there are other callers. */
const REQUESTS_PER_TURN = 2

/**
 * Makes the requests of callers start in turn. Node reads all connections that have data in one turn of the event loop, and
 * requests that are refused never reach the queue of operations: without turns, 64 of them would precede each request of
 * another caller, and each takes as long as reading a resource. All requests without a known token count as those of one
 * caller. No capacity limits them, so that probes are always answered.
 */
export function createTurns() {
  const identities = new LRUCache<string, string>({ max: 1_000 })
  const queue = new FairQueue({ capacity: Infinity, share: REQUESTS_PER_TURN, shareAlone: Infinity })
  /** Remembers the caller of an Authorization header. Must run after authentication. */
  const remember: Middleware = (ctx, next) => {
    identities.set(ctx.get('Authorization'), callerOf(ctx).identity)
    return next()
  }
  const take: Middleware = async (ctx, next) => {
    const caller = identities.get(ctx.get('Authorization')) ?? ''
    const turn = queue.take(caller, 1) ?? (await queue.enter(caller, 1))
    setImmediate(() => turn.end())
    await next()
  }
  return { remember, take }
}

/** In bytes. Smaller responses fit into the buffers of the operating system, and smaller bodies take no time to read. */
const SMALL = 16 * 1024

/**
 * Refuses requests that cannot even wait. A large body counts from before it is read until the operation of the request
 * ends, and a large response until it is sent. After that, the caller pauses.
 */
export function admitRequests(loadOf: LoadOf): Middleware {
  return async (ctx, next) => {
    const [{ identity }, { queue, bodies }] = [callerOf(ctx), loadOf(callerOf(ctx)).queue]
    const restAfter = (bytes: number) => {
      const units = 1 + unitsOfBytes(bytes)
      queue.pause(identity, units, units * MILLISECONDS_PER_UNIT)
    }
    queue.admit(identity)
    ctx.state.holdResponse = (bytes) => {
      const lease = queue.hold(identity, 1 + unitsOfBytes(bytes))
      return () => {
        lease.end()
        restAfter(bytes)
      }
    }
    // The length of a chunked body is not known before its end.
    const bytes = ctx.get('Transfer-Encoding') === '' ? (ctx.request.length ?? 0) : MAXIMUM_JSON_BYTES
    const body = bytes > SMALL ? await queue.enter(identity, 1 + unitsOfBytes(bytes)) : undefined
    const began = performance.now()
    if (body) {
      ctx.state.caller = { ...callerOf(ctx) }
      bodies.set(ctx.state.caller, body)
    }
    let isRefused = true
    try {
      await next()
      isRefused = ctx.status === 400
    } finally {
      body?.end()
      if (body) restAfter(bodyBytes(ctx))
      // A large body can have more mistakes than bytes suggest, and its error quotes parts of it.
      if (body && isRefused) queue.pause(identity, Infinity, pauseOf(performance.now() - began))
    }
    const length = ctx.length ?? 0
    if (length > SMALL) finished(ctx.res, ctx.state.holdResponse(length))
  }
}
