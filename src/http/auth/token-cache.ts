import { LRUCache } from 'lru-cache'
import type { Caller } from '../../model/access/caller.ts'
import type { Context } from '../context.ts'

/** `exp` is in seconds since 1970 (RFC 7519 §4.1.4), with the leeway. */
type Identified = { readonly caller: Caller; readonly exp?: number | undefined }

type Identify = (token: string, ctx: Context) => Promise<Identified>

/** How long a verification is cached, and thus how long a withdrawn key may still be accepted. */
const CACHED_MILLISECONDS = 60_000
const MAXIMUM_TOKENS = 1_000

/**
 * Caches verified tokens, because checking every signature took 17 % of the processor time of a GET. Refused tokens are
 * not cached.
 */
export function cacheIdentified(identify: Identify): Identify {
  const known = new LRUCache<string, Identified & { from: number; until: number }>({ max: MAXIMUM_TOKENS })
  return async (token, ctx) => {
    const found = known.get(token)
    // The clock may have been set back.
    if (found && Date.now() >= found.from && Date.now() < found.until) return found
    known.delete(token)
    const identified = await identify(token, ctx)
    const from = Date.now()
    const until = Math.min(from + CACHED_MILLISECONDS, (identified.exp ?? Infinity) * 1_000)
    known.set(token, { ...identified, from, until })
    return identified
  }
}
