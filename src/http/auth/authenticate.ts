import type Koa from 'koa'
import { type Caller, identityOf } from '../../domain/model/caller.ts'
import { DomainError } from '../../domain/model/errors.ts'
import { createKeySet, type KeySetSettings } from './key-set.ts'
import { rememberVerified } from './token-cache.ts'
import { type Claims, verifyWithKeySet } from './verify-with-key-set.ts'
import { verifyWithSecret } from './verify-with-secret.ts'

/** How access tokens are verified: with one shared secret, or with the public keys of a key set. */
export interface TokenSettings {
  readonly jwt:
    | { readonly kind: 'secret'; readonly secret: string }
    | ({ readonly kind: 'jwks' } & KeySetSettings)
  /** The `iss` a token must have; undefined: any. */
  readonly jwtIssuer: string | undefined
  /** The `aud` a token must name; undefined: any. */
  readonly jwtAudience: string | undefined
}

/** Resolves to the claims of the request's token when signature, algorithm, iss, aud, exp and nbf hold. */
export type Verify = (token: string, context: Koa.Context) => Promise<Claims>

/** RFC 6750 §2.1: the scheme in any case, then a b64token. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/**
 * Middleware that lets only authenticated requests pass (SPEC §5) and puts the `Caller` into
 * `context.state.caller`.
 *
 * @param reportFault told when the key set cannot be fetched again while its keys are still in use
 * @throws {DomainError} AUTHENTICATION_REQUIRED for whatever is not acceptable, with the challenge of
 *   RFC 6750 §3 already set; SERVICE_UNAVAILABLE when the key set cannot be fetched
 */
export function authenticate(settings: TokenSettings, reportFault: (error: unknown) => void): Koa.Middleware {
  const { jwt } = settings
  const verify = rememberVerified(
    jwt.kind === 'secret'
      ? verifyWithSecret(jwt.secret, settings)
      : verifyWithKeySet(createKeySet(jwt, reportFault), settings),
  )
  return async (context, next) => {
    const token = tokenOf(context)
    context.state['caller'] = callerOf(await claimsOf(context, token, verify), token)
    await next()
  }
}

function tokenOf(context: Koa.Context): string {
  const header = context.get('Authorization')
  const token = BEARER.exec(header)?.[1]
  if (token !== undefined) return token
  context.set('WWW-Authenticate', /^Bearer\b/i.test(header) ? INVALID_TOKEN : 'Bearer')
  throw new DomainError('AUTHENTICATION_REQUIRED', 'Send an access token: Authorization: Bearer <token>')
}

async function claimsOf(context: Koa.Context, token: string, verify: Verify): Promise<Claims> {
  try {
    return await verify(token, context)
  } catch (error) {
    if (error instanceof DomainError) throw error
    context.set('WWW-Authenticate', INVALID_TOKEN)
    // Which of the checks failed is nothing a stranger needs to know.
    throw new DomainError('AUTHENTICATION_REQUIRED', 'The access token is not acceptable or has expired')
  }
}

const INVALID_TOKEN = 'Bearer error="invalid_token"'

function callerOf(claims: Claims, token: string): Caller {
  const subject = typeof claims['sub'] === 'string' ? claims['sub'] : undefined
  return {
    identity: identityOf(subject, token.slice(0, token.lastIndexOf('.'))),
    scopes: new Set(['scope', 'scopes', 'scp'].flatMap((name) => scopesOf(claims[name]))),
  }
}

/** A scope claim is one string parted by spaces (RFC 8693 §4.2), or, with some issuers, an array. */
function scopesOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((scope) => scope !== '')
  return Array.isArray(claim) ? claim.filter((scope) => typeof scope === 'string') : []
}
