import type { Context, Middleware } from 'koa'
import type { Caller } from '../../domain/model/caller.ts'
import { currentTimings } from '../../observability/observation.ts'
import { HttpError } from '../errors.ts'
import { identityOf } from './identity.ts'
import { TokenRefused } from './refusal-reason.ts'
import { type Claims, cacheVerified, type Verify } from './token-cache.ts'
import { createVerify, type TokenSettings } from './verify-token.ts'

/** RFC 6750 §2.1: the scheme in any case, then a b64token. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/**
 * Middleware that lets only authenticated requests pass (SPEC §5); {@link callerOf} tells who calls.
 *
 * @param reportFault told when the key set cannot be fetched again while its keys are still in use
 * @throws {DomainError} AUTHENTICATION_REQUIRED (401) for what is not acceptable, with the challenge of
 *   RFC 6750 §3; SERVICE_UNAVAILABLE (503) when the key set cannot be fetched
 */
export function authenticate(settings: TokenSettings, reportFault: (error: unknown) => void): Middleware {
  const verify = cacheVerified(createVerify(settings, reportFault))
  // The token cache returns the same claims for the same token.
  const callers = new WeakMap<Claims, Caller>()
  return async (ctx, next) => {
    const started = performance.now()
    const token = tokenOf(ctx)
    const claims = await claimsOf(ctx, token, verify)
    let caller = callers.get(claims)
    if (!caller) {
      caller = callerWith(claims, token, settings.defaultScope)
      callers.set(claims, caller)
    }
    ctx.state['caller'] = caller
    const timings = currentTimings()
    if (timings) timings.auth = performance.now() - started
    await next()
  }
}

/** Who sent an authenticated request. */
export function callerOf(ctx: Context): Caller {
  return ctx.state['caller'] as Caller
}

function tokenOf(ctx: Context): string {
  const header = ctx.get('Authorization')
  const token = BEARER.exec(header)?.[1]
  if (token !== undefined) return token
  if (/^Bearer\b/i.test(header)) throw invalidToken('The token is malformed')
  throw unauthenticated('Send an access token: Authorization: Bearer <token>', 'Bearer')
}

async function claimsOf(ctx: Context, token: string, verify: Verify): Promise<Claims> {
  try {
    return await verify(token, ctx)
  } catch (error) {
    throw error instanceof TokenRefused ? invalidToken(error.message) : error
  }
}

/** RFC 6750 §3.1: the challenge says why, and so does the message. */
function invalidToken(reason: string): HttpError {
  return unauthenticated(`${reason}.`, `Bearer error="invalid_token", error_description="${reason}"`)
}

function unauthenticated(message: string, challenge: string): HttpError {
  return new HttpError('AUTHENTICATION_REQUIRED', message, { 'WWW-Authenticate': challenge })
}

function callerWith(claims: Claims, token: string, defaultScope: string | undefined): Caller {
  const claimed = ['scope', 'scopes', 'scp'].filter((name) => name in claims)
  const subject = typeof claims['sub'] === 'string' ? claims['sub'] : undefined
  return {
    identity: identityOf(subject, token.slice(0, token.lastIndexOf('.'))),
    scopes: new Set(
      claimed.length > 0 ? claimed.flatMap((name) => scopesOf(claims[name])) : scopesOf(defaultScope),
    ),
  }
}

/** A scope claim is one string parted by spaces (RFC 8693 §4.2), or, with some issuers, an array. */
function scopesOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((scope) => scope !== '')
  return Array.isArray(claim) ? claim.filter((scope) => typeof scope === 'string') : []
}
