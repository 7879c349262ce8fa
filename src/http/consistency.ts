import { callerOf } from './auth/authenticate.ts'
import type { Middleware } from './context.ts'
import { HEADER_NAMES, requestHeader } from './headers.ts'

/** How far the clocks of two processes may differ. */
const CLOCK_MILLISECONDS = 2_000

/**
 * Lets a client read its own writes from any process: the response to a write has a token, and a request with that token
 * reads from the primary until the time that is the token, in milliseconds since 1970. Until then, a replica may lack the
 * write. With another text, a request reads from the primary, too.
 *
 * @param lag of replicas, in milliseconds
 */
export function exchangeConsistencyTokens(lag: number): Middleware {
  return async (ctx, next) => {
    const token = requestHeader(ctx, 'ConsistencyToken') ?? ''
    const isOver = token === '' || (/^[0-9]{1,15}$/.test(token) && Number(token) <= Date.now())
    const consistency = { needsPrimary: !isOver, hasWritten: false }
    ctx.state.caller = { ...callerOf(ctx), consistency }
    await next()
    if (!consistency.hasWritten) return
    ctx.set(HEADER_NAMES.ConsistencyToken, String(Date.now() + lag + CLOCK_MILLISECONDS))
  }
}
