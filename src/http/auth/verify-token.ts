import { createSecretKey } from 'node:crypto'
import type { Context } from 'koa'
import jwt from 'koa-jwt'
import { DomainError } from '../../model/errors.ts'
import { createKeySet, type KeySetSettings } from './key-set.ts'

export type Claims = Readonly<Record<string, unknown>>

/** The message says why the token was refused. */
export class TokenRefused extends Error {}

/** Messages of jsonwebtoken, and the reasons that callers get. */
const REASONS = [
  [/^jwt expired/, 'The token has expired'],
  [/^jwt not active/, 'The token is not yet valid'],
  [/^jwt issuer/, 'The token has a different issuer'],
  [/^jwt audience/, 'The token is for a different audience'],
  [/malformed|JSON|^invalid (?:token|exp|nbf)/i, 'The token is malformed'],
] as const

export interface TokenSettings {
  readonly jwt:
    | { readonly kind: 'secret'; readonly secret: string }
    | ({ readonly kind: 'jwks' } & KeySetSettings)
  /** The `iss` a token must have; undefined: any. */
  readonly jwtIssuer: string | undefined
  /** The `aud` a token must name; undefined: any. */
  readonly jwtAudience: string | undefined
  /** The scopes of a token without a claim of scopes; undefined: none. */
  readonly defaultScope?: string | undefined
}

/** With HS256, a public key would serve as a shared secret. */
const PUBLIC_KEY_ALGORITHMS = ['RS', 'PS', 'ES'].flatMap((family) =>
  [256, 384, 512].map((size) => family + size),
)

/** Verifies signature, algorithm, iss, aud, exp and nbf of a token (RFC 7519). */
export function createVerify(
  { jwt: keys, jwtIssuer: issuer, jwtAudience: audience }: TokenSettings,
  reportFault: (error: unknown) => void,
): (token: string, ctx: Context) => Promise<Claims> {
  const algorithms = keys.kind === 'jwks' ? PUBLIC_KEY_ALGORITHMS : ['HS256']
  // Otherwise, jsonwebtoken would first try to read the secret as a public key, which takes 0.1 ms.
  const secret = keys.kind === 'secret' ? createSecretKey(Buffer.from(keys.secret)) : undefined
  const findKey = keys.kind === 'jwks' ? createKeySet(keys, reportFault) : async () => secret
  const verify = jwt({
    secret: async (header: { alg: string }) => {
      if (!algorithms.includes(header.alg))
        throw new TokenRefused('The algorithm of the token is not accepted')
      // RFC 7515 §4.1.11: `crit` names extensions that must be understood. This service understands none.
      if ('crit' in header) throw new TokenRefused('The token requires an unknown extension')
      return (await findKey(header)) as unknown as string
    },
    algorithms,
    key: 'claims',
    getToken: (ctx) => ctx.state['token'],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  })
  return async (token, ctx) => {
    ctx.state['token'] = token
    const verifying = verify(ctx as Parameters<typeof verify>[0], async () => {})
    await verifying.catch((error: { originalError?: unknown }) => {
      throw refusal(error.originalError ?? error)
    })
    const claims: unknown = ctx.state['claims']
    if (typeof claims !== 'object' || claims === null) throw new TokenRefused('The token is malformed')
    return claims as Claims
  }
}

function refusal(error: unknown): unknown {
  if (error instanceof DomainError || error instanceof TokenRefused) return error
  const known = REASONS.find(([pattern]) => pattern.test((error as Error).message))
  return new TokenRefused(known?.[1] ?? 'The signature of the token is invalid')
}
