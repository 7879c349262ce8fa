import type { Consistency } from '../model/access/caller.ts'
import { callerOf } from './auth/authenticate.ts'
import type { Middleware } from './context.ts'
import { HEADER_NAMES, requestHeader } from './headers/request-headers.ts'

export interface Positions {
  read(token: string): Consistency['after']
  /** A token for all writes so far; undefined if there is none. */
  issue(): Promise<string | undefined>
}

/**
 * Lets a client read its own writes from any process: the response to a write has a token, and a request with that token
 * sees the write.
 */
export function exchangeConsistencyTokens({ read, issue }: Positions): Middleware {
  return async (ctx, next) => {
    const token = requestHeader(ctx, 'ConsistencyToken') ?? ''
    const consistency: Consistency = { after: token === '' ? undefined : read(token), hasWritten: false }
    ctx.state.caller = { ...callerOf(ctx), consistency }
    await next()
    if (!consistency.hasWritten) return
    const issued = await issue()
    if (issued !== undefined) ctx.set(HEADER_NAMES.ConsistencyToken, issued)
  }
}
