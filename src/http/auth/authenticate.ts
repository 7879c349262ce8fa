import { LRUCache } from 'lru-cache'
import type { Caller } from '../../model/access/caller.ts'
import { requestTimings } from '../../observability/observation.ts'
import type { Context, Middleware } from '../context.ts'
import { HttpError } from '../errors.ts'
import { anonymousCaller, callerWith } from './identity.ts'
import { createVerify, TokenRefused, type TokenSettings } from './verify-token.ts'

/** RFC 6750 §2.1: the scheme in any case, then a b64token. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** `exp` is in seconds since 1970 (RFC 7519 §4.1.4), with the leeway. */
type Identified = { readonly caller: Caller; readonly exp?: number | undefined }

type Identify = (token: string, ctx: Context) => Promise<Identified>

/** How long a verification is cached, and thus how long a withdrawn key may still be accepted. */
const CACHED_MILLISECONDS = 60_000
const MAXIMUM_TOKENS = 1_000

/**
 * Lets only authenticated requests pass (SPEC §5), and those without the header Authorization if they have scopes.
 *
 * @param reportFault called when the key set cannot be refreshed while its keys are still in use
 * @param anonymousScopes the scopes of requests without the header; undefined: they are refused
 * @throws {DomainError} AUTHENTICATION_REQUIRED (401) with the challenge of RFC 6750 §3; SERVICE_UNAVAILABLE (503) if
 *   the key set cannot be fetched
 */
export function authenticate(
  settings: TokenSettings,
  reportFault: (error: unknown) => void,
  anonymousScopes?: string | undefined,
): Middleware {
  const anonymous = anonymousScopes === undefined ? undefined : anonymousCaller(anonymousScopes)
  const verify = createVerify(settings, reportFault)
  const identify = cacheIdentified(async (token, ctx) => {
    const claims = await verify(token, ctx)
    const exp = claims.exp === undefined ? undefined : claims.exp + settings.jwtLeewaySeconds
    return { caller: callerWith(claims, token, settings), exp }
  })
  return async (ctx, next) => {
    if (anonymous) {
      ctx.vary('Authorization')
      if (ctx.headers.authorization === undefined) {
        ctx.state.caller = anonymous
        return next()
      }
    }
    const started = performance.now()
    const { caller, exp } = await identify(tokenOf(ctx), ctx).catch((error: unknown) => {
      throw error instanceof TokenRefused ? invalidToken(error.message) : error
    })
    ctx.state.caller = caller
    ctx.state.expiry = exp
    const timings = requestTimings.getStore()
    if (timings) timings.auth = performance.now() - started
    await next()
  }
}

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

export function callerOf(ctx: Context): Caller {
  return ctx.state.caller as Caller
}

/** When the token of a request expires, in seconds since 1970, with the leeway. */
export function expiryOf(ctx: Context): number {
  return ctx.state.expiry ?? Number.POSITIVE_INFINITY
}

/** @throws {DomainError} AUTHENTICATION_REQUIRED (401) if the token of the request has expired while it was handled */
export function refuseExpired(ctx: Context): void {
  if (Date.now() >= expiryOf(ctx) * 1_000) throw invalidToken('The token has expired')
}

function tokenOf(ctx: Context): string {
  const header = ctx.get('Authorization')
  const token = BEARER.exec(header)?.[1]
  if (token !== undefined) return token
  if (/^Bearer\b/i.test(header)) throw invalidToken('The token is malformed')
  throw unauthenticated('Send an access token: Authorization: Bearer <token>', 'Bearer')
}

/** RFC 6750 §3.1. */
function invalidToken(reason: string): HttpError {
  return unauthenticated(`${reason}.`, `Bearer error="invalid_token", error_description="${reason}"`)
}

function unauthenticated(message: string, challenge: string): HttpError {
  return new HttpError('AUTHENTICATION_REQUIRED', message, { 'WWW-Authenticate': challenge })
}
