import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Context } from 'koa'
import jwt from 'koa-jwt'
import { DomainError } from '../../model/errors.ts'
import { createKeySet, type KeySetSettings } from './key-set.ts'
import { refusalReason, TokenRefused } from './refusal-reason.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Resolves to the claims of a request's token if it is acceptable, and rejects otherwise. */
type Verify = (token: string, ctx: Context) => Promise<Claims>

/** How access tokens are verified: with one shared secret, or with the public keys of a key set. */
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

/** The accepted algorithms, and how the key is found. */
interface KeySource {
  readonly algorithms: string[]
  readonly findKey: (header: { alg: string }) => Promise<KeyObject>
}

/** Without HS256: otherwise a public key would serve as a shared secret. */
const PUBLIC_KEY_ALGORITHMS = ['RS', 'PS', 'ES'].flatMap((family) =>
  [256, 384, 512].map((size) => family + size),
)

/**
 * Makes the function that verifies signature, algorithm, iss, aud, exp and nbf of a token (RFC 7519).
 *
 * @param reportFault told when the key set cannot be refreshed while its keys are still in use
 */
export function createVerify(
  { jwt: keys, jwtIssuer, jwtAudience }: TokenSettings,
  reportFault: (error: unknown) => void,
): Verify {
  const { algorithms, findKey } = keySource(keys, reportFault)
  const verify = jwt({
    secret: async (header: { alg: string }) => {
      // RFC 7515 §4.1.11: `crit` names extensions that must be understood. This service understands none.
      if ('crit' in header) throw new Error('the token names an extension in crit')
      if (!algorithms.includes(header.alg)) throw new Error('the token has another algorithm')
      return (await findKey(header)) as unknown as string
    },
    algorithms,
    key: 'claims',
    getToken: (ctx) => ctx.state['token'],
    ...(jwtIssuer === undefined ? {} : { issuer: jwtIssuer }),
    ...(jwtAudience === undefined ? {} : { audience: jwtAudience }),
  })
  return async (token, ctx) => {
    ctx.state['token'] = token
    await verify(ctx as Parameters<typeof verify>[0], async () => {}).catch(
      (error: { originalError?: unknown }) => {
        // koa-jwt wraps what the search for the key throws.
        const original: unknown = error.originalError ?? error
        if (original instanceof DomainError) throw original
        throw new TokenRefused(refusalReason(token, original, { algorithms, jwtIssuer, jwtAudience }))
      },
    )
    const claims: unknown = ctx.state['claims']
    if (typeof claims !== 'object' || claims === null) throw new TokenRefused('The token is malformed')
    return claims as Claims
  }
}

function keySource(keys: TokenSettings['jwt'], reportFault: (error: unknown) => void): KeySource {
  if (keys.kind === 'jwks') {
    return { algorithms: PUBLIC_KEY_ALGORITHMS, findKey: createKeySet(keys, reportFault) }
  }
  // As a key: of a text, jsonwebtoken tries first whether it is a public one, which takes 0.1 ms.
  const key = createSecretKey(Buffer.from(keys.secret))
  return { algorithms: ['HS256'], findKey: async () => key }
}
