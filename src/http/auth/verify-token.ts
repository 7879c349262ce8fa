import { createSecretKey, type KeyObject } from 'node:crypto'
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import jwt from 'koa-jwt'
import type { Context } from '../context.ts'
import { createKeySet, type KeySetSettings } from './key-set.ts'
import type { RoleSettings } from './role-scopes.ts'

export type Claims = JWTPayload

/** The message says why the token was refused. */
export class TokenRefused extends Error {}

export interface TokenSettings extends RoleSettings {
  readonly jwt: { readonly kind: 'secret'; readonly secret: string } | KeySetSettings
  /** The `iss` a token must have; undefined: any. */
  readonly jwtIssuer: string | undefined
  /** The `aud` a token must name; undefined: any. */
  readonly jwtAudience: string | undefined
  /** By how much the clocks of the issuer and of the service may differ. */
  readonly jwtLeewaySeconds: number
  /** The scopes of a token without a claim of scopes; undefined: none. */
  readonly defaultScope?: string | undefined
}

/** With HS256, a public key would serve as a shared secret. */
const PUBLIC_KEY_ALGORITHMS = ['RS', 'PS', 'ES'].flatMap((family) =>
  [256, 384, 512].map((size) => family + size),
)

/** Of Ed25519 (RFC 8037, RFC 9864), which koa-jwt lacks. */
const EDWARDS_ALGORITHMS = ['EdDSA', 'Ed25519']

/**
 * Verifies signature, algorithm, iss, aud, exp and nbf of a token (RFC 7519).
 *
 * @throws {TokenRefused} from the returned function, with the reason
 * @throws {DomainError} from the returned function: SERVICE_UNAVAILABLE (503) if the key set cannot be fetched
 */
export function createVerify(
  { jwt: keys, jwtIssuer: issuer, jwtAudience: audience, jwtLeewaySeconds: clockTolerance }: TokenSettings,
  reportFault: (error: unknown) => void,
): (token: string, ctx: Context) => Promise<Claims> {
  const isSecret = keys.kind === 'secret'
  const algorithms = isSecret ? ['HS256'] : PUBLIC_KEY_ALGORITHMS
  const accepted = isSecret ? algorithms : [...algorithms, ...EDWARDS_ALGORITHMS]
  const findKeys = isSecret ? findSecret(keys.secret) : createKeySet(keys, reportFault)
  const options = {
    // Each candidate is put into the state, which takes precedence.
    secret: '',
    algorithms,
    key: 'claims',
    getToken: (ctx: Context) => ctx.state.token as string,
    clockTolerance,
    // The errors of jsonwebtoken for a wrong issuer and a wrong audience differ only in their messages.
    isRevoked: async (_: Context, claims: Claims) => refuseOthers(claims),
  }
  const verify = jwt(options)
  function refuseOthers({ iss, aud }: Claims): false {
    if (audience !== undefined && ![aud].flat().includes(audience))
      throw new TokenRefused('The token is for a different audience')
    if (issuer !== undefined && iss !== issuer) throw new TokenRefused('The token has a different issuer')
    return false
  }
  async function verifyEdwards(token: string, key: KeyObject, ctx: Context): Promise<void> {
    const { payload } = await jwtVerify(token, key, { algorithms: EDWARDS_ALGORITHMS, clockTolerance })
    refuseOthers(payload)
    ctx.state.claims = payload
  }
  return async (token, ctx) => {
    const header = readHeader(token)
    if (!accepted.includes(header.alg)) throw new TokenRefused('The algorithm of the token is not accepted')
    // RFC 7515 §4.1.11: `crit` names extensions that must be understood. This service understands none.
    if ('crit' in header) throw new TokenRefused('The token requires an unknown extension')
    const candidates = await findKeys(header)
    if (candidates.length === 0) throw new TokenRefused('The key that signed the token is unknown')
    for (const secret of candidates) {
      Object.assign(ctx.state, { token, secret })
      const verifying = EDWARDS_ALGORITHMS.includes(header.alg)
        ? verifyEdwards(token, secret, ctx)
        : verify(ctx as Parameters<typeof verify>[0], async () => {})
      const isVerified = await verifying.then(() => true, throwUnlessUnsigned)
      if (isVerified) return ctx.state.claims as Claims
    }
    throw new TokenRefused('The signature of the token is invalid')
  }
}

function findSecret(secret: string): () => Promise<readonly KeyObject[]> {
  // Otherwise, jsonwebtoken would first try to read the secret as a public key, which takes 0.1 ms.
  const key = createSecretKey(Buffer.from(secret))
  return async () => [key]
}

/** The parts of a token in the alphabet of base64url (RFC 7515 §7.1). An unsigned token has an empty signature. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** @throws {TokenRefused} if the token is malformed, whatever its signature */
function readHeader(token: string): JWTHeaderParameters {
  try {
    const header = decodeProtectedHeader(token)
    const { exp, nbf }: Record<string, unknown> = decodeJwt(token)
    const areTimes = [exp, nbf].every((time) => time === undefined || typeof time === 'number')
    if (COMPACT.test(token) && areTimes && typeof header.alg === 'string')
      return header as JWTHeaderParameters
  } catch {
    // Refused below.
  }
  throw new TokenRefused('The token is malformed')
}

/**
 * False for a key that did not make the signature.
 *
 * @param thrown of jose, or of koa-jwt, around one of jsonwebtoken
 */
function throwUnlessUnsigned(thrown: Error & { originalError?: Error }): false {
  const error = thrown.originalError ?? thrown
  if (error instanceof TokenRefused) throw error
  if (error.name === 'TokenExpiredError' || error instanceof errors.JWTExpired)
    throw new TokenRefused('The token has expired')
  if (error.name === 'NotBeforeError' || error instanceof errors.JWTClaimValidationFailed)
    throw new TokenRefused('The token is not yet valid')
  return false
}
