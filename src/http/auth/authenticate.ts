import { createHash } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../../model/caller.ts'
import { isStorable } from '../../model/values.ts'
import { requestTimings } from '../../observability/observation.ts'
import { HttpError } from '../errors.ts'
import { type Claims, createVerify, TokenRefused, type TokenSettings } from './verify-token.ts'

/** RFC 6750 §2.1: the scheme in any case, then a b64token. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/**
 * Lets only authenticated requests pass (SPEC §5).
 *
 * @param reportFault called when the key set cannot be refreshed while its keys are still in use
 * @throws {DomainError} AUTHENTICATION_REQUIRED (401) with the challenge of RFC 6750 §3; SERVICE_UNAVAILABLE (503) if
 *   the key set cannot be fetched
 */
export function authenticate(settings: TokenSettings, reportFault: (error: unknown) => void): Middleware {
  const verify = createVerify(settings, reportFault)
  const identify = cacheIdentified(async (token, ctx) => {
    const claims = await verify(token, ctx)
    const exp = claims.exp === undefined ? undefined : claims.exp + settings.jwtLeewaySeconds
    return { caller: callerWith(claims, token, settings.defaultScope), exp }
  })
  return async (ctx, next) => {
    const started = performance.now()
    const { caller, exp } = await identify(tokenOf(ctx), ctx).catch((error: unknown) => {
      throw error instanceof TokenRefused ? invalidToken(error.message) : error
    })
    ctx.state['caller'] = caller
    ctx.state['expiry'] = exp
    const timings = requestTimings.getStore()
    if (timings) timings.auth = performance.now() - started
    await next()
  }
}

export function callerOf(ctx: Context): Caller {
  return ctx.state['caller'] as Caller
}

/** When the token of a request expires, in seconds since 1970, with the leeway. */
export function expiryOf(ctx: Context): number {
  return (ctx.state['expiry'] as number | undefined) ?? Number.POSITIVE_INFINITY
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

function callerWith(claims: Claims, token: string, defaultScope: string | undefined): Caller {
  const names = ['scope', 'scopes', 'scp'].filter((name) => name in claims)
  const claimed = names.length > 0 ? names.map((name) => claims[name]) : [defaultScope]
  const subject = typeof claims['sub'] === 'string' ? claims['sub'] : undefined
  return {
    identity: identityOf(subject, token.slice(0, token.lastIndexOf('.'))),
    scopes: new Set(claimed.flatMap(scopesOf)),
  }
}

const DIGEST = 'sha256 '

/** A longer text might not fit into an index entry of PostgreSQL. */
const MAXIMUM_SUBJECT_BYTES = 2_000

/**
 * The subject of the token, or else a digest of the token. A subject that looks like a digest, or that the database
 * cannot store, is replaced by its digest.
 *
 * @param signed the signing input (RFC 7515 §2), without the signature, which has several valid forms: base64url has
 *   unused bits, and an ECDSA signature has two values
 */
export function identityOf(subject: string | undefined, signed: string): string {
  if (subject === undefined || subject === '') return digest('token', signed)
  const isShort = Buffer.byteLength(subject) <= MAXIMUM_SUBJECT_BYTES
  const isPlain = isShort && isStorable(subject) && !subject.startsWith(DIGEST)
  return isPlain ? subject : digest('subject', subject)
}

/** Hashes UTF-16, which keeps lone surrogates distinct. */
function digest(kind: 'token' | 'subject', text: string): string {
  return `${DIGEST}${kind} ${createHash('sha256').update(text, 'utf16le').digest('base64')}`
}

/** A scope claim is a string separated by spaces (RFC 8693 §4.2) or, with some issuers, an array. */
function scopesOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((scope) => scope !== '')
  return Array.isArray(claim) ? claim.filter((scope) => typeof scope === 'string') : []
}

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
