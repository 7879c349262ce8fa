import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { DomainError } from '../domain/errors.ts'
import type { TokenSettings, Verify } from './authenticate.ts'

/** The payload of a token that has been verified. */
export type Claims = Readonly<Record<string, unknown>>

/** Public-key algorithms only: were HS256 among them, a public key would do as a shared secret. */
const ALGORITHMS = ['RS', 'PS', 'ES'].flatMap((family) => ['256', '384', '512'].map((size) => family + size))
ALGORITHMS.push('EdDSA', 'Ed25519')

/**
 * Verifies tokens with the public keys of a JSON Web Key Set (RFC 7517), which is fetched when first
 * needed, kept for ten minutes, and fetched again for an unknown key at most every 30 seconds. With jose,
 * since the library under koa-jwt does not know EdDSA.
 */
export function verifyWithKeySet(
  url: string,
  { jwtIssuer, jwtAudience }: Pick<TokenSettings, 'jwtIssuer' | 'jwtAudience'>,
): Verify {
  const keySet = createRemoteJWKSet(new URL(url))
  const findKey: JWTVerifyGetKey = (header, token) => keySet(header, token).catch(unavailableUnlessUnknown)
  const options = {
    algorithms: ALGORITHMS,
    ...(jwtIssuer === undefined ? {} : { issuer: jwtIssuer }),
    ...(jwtAudience === undefined ? {} : { audience: jwtAudience }),
  }
  return async (token) => (await jwtVerify(token, findKey, options)).payload
}

/** A token that names no key of the set is the caller's fault; any other failure is the set's. */
function unavailableUnlessUnknown(error: unknown): never {
  const unknown =
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  if (unknown) throw error
  throw new DomainError(
    'SERVICE_UNAVAILABLE',
    'The keys that verify access tokens cannot be fetched at the moment',
  )
}
