import type { Context } from 'koa'

/** The payload of a token that has been verified. */
export type Claims = Readonly<Record<string, unknown>>

/** Resolves to the claims of a request's token if it is acceptable, and rejects otherwise. */
export type Verify = (token: string, ctx: Context) => Promise<Claims>

/** How long a verification is relied on: so long may a key that was withdrawn still be accepted. */
const LIFETIME_MILLISECONDS = 60_000
const MAXIMUM_TOKENS = 1_000

interface Verified {
  readonly claims: Claims
  readonly at: number
}

/**
 * Remembers tokens that were verified, so that a client that sends the same token again is not made to
 * wait for the same signature check. Times are compared on every request; a token that fails is never
 * remembered. Of GET one it took 17 % of the processor's time.
 */
export function cacheVerified(verify: Verify): Verify {
  const known = new Map<string, Verified>()
  return async (token, ctx) => {
    const found = known.get(token)
    const now = Date.now()
    if (found && isCurrent(found, now)) return found.claims
    known.delete(token)
    const claims = await verify(token, ctx)
    if (known.size >= MAXIMUM_TOKENS) known.delete(known.keys().next().value as string)
    known.set(token, { claims, at: now })
    return claims
  }
}

/** RFC 7519 §4.1.4 and §4.1.5: seconds; the moment of `exp` itself is too late, that of `nbf` is not too early. */
function isCurrent({ claims, at }: Verified, now: number): boolean {
  const seconds = Math.floor(now / 1000)
  const { exp = Number.POSITIVE_INFINITY, nbf = 0 } = claims as { exp?: number; nbf?: number }
  return seconds < exp && seconds >= nbf && now < at + LIFETIME_MILLISECONDS && now >= at
}
