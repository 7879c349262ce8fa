import { LRUCache } from 'lru-cache'
import { callerOf } from '../../http/auth/authenticate.ts'
import type { Middleware } from '../../http/context.ts'
import { FairQueue } from './fair-queue.ts'

/** Requests of one caller that start in one turn of the event loop while there are other callers. */
const REQUESTS_PER_TURN = 2

const MAXIMUM_CALLERS = 1_000

/**
 * Makes the requests of callers start in turn. Node reads all connections that have data in one turn of the event loop, and
 * requests that are refused never reach the queue of operations: without turns, 64 of them would precede each request of
 * another caller, and each takes as long as reading a resource. All requests without a known token count as those of one
 * caller. No capacity limits them, so that probes are always answered.
 */
export function createTurns() {
  const identities = new LRUCache<string, string>({ max: MAXIMUM_CALLERS })
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
