import { type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { TokenSettings, Verify } from './authenticate.ts'

/** The payload of a token that has been verified. */
export type Claims = Readonly<Record<string, unknown>>

/** Public-key algorithms only: were HS256 among them, a public key would do as a shared secret. */
const ALGORITHMS = ['RS', 'PS', 'ES'].flatMap((family) => ['256', '384', '512'].map((size) => family + size))
ALGORITHMS.push('EdDSA', 'Ed25519')

/** Verifies tokens with public keys. With jose, since the library under koa-jwt does not know EdDSA. */
export function verifyWithKeySet(
  findKey: JWTVerifyGetKey,
  { jwtIssuer, jwtAudience }: Pick<TokenSettings, 'jwtIssuer' | 'jwtAudience'>,
): Verify {
  const options = {
    algorithms: ALGORITHMS,
    ...(jwtIssuer === undefined ? {} : { issuer: jwtIssuer }),
    ...(jwtAudience === undefined ? {} : { audience: jwtAudience }),
  }
  return async (token) => (await jwtVerify(token, findKey, options)).payload
}
