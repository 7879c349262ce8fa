import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose'

/** What a token must have, besides a valid signature and lifetime. */
export interface Expected {
  readonly algorithms: readonly string[]
  readonly jwtIssuer: string | undefined
  readonly jwtAudience: string | undefined
}

/** The message says why the token was refused. */
export class TokenRefused extends Error {}

/**
 * Explains why a token was refused; of several reasons, one is given. The errors of the library only distinguish expired
 * and premature tokens, so the token is decoded again.
 */
export function refusalReason(token: string, error: unknown, expected: Expected): string {
  const { name } = error as Error
  if (name === 'TokenExpiredError') return 'The token has expired'
  if (name === 'NotBeforeError') return 'The token is not yet valid'
  const { header, payload } = decoded(token) ?? {}
  if (!header || !payload || !hasTimes(payload)) return 'The token is malformed'
  if (!expected.algorithms.includes(header.alg ?? '')) return 'The algorithm of the token is not accepted'
  if ('crit' in header) return 'The token requires an unknown extension'
  const { jwtIssuer, jwtAudience } = expected
  if (jwtIssuer !== undefined && payload.iss !== jwtIssuer) return 'The token has a different issuer'
  const isForUs = jwtAudience === undefined || [payload.aud].flat().includes(jwtAudience)
  return isForUs ? 'The signature of the token is invalid' : 'The token is for a different audience'
}

function decoded(token: string): { header: ProtectedHeaderParameters; payload: JWTPayload } | undefined {
  try {
    return { header: decodeProtectedHeader(token), payload: decodeJwt(token) }
  } catch {
    return undefined
  }
}

function hasTimes(payload: JWTPayload): boolean {
  return [payload.exp, payload.nbf].every((time) => time === undefined || typeof time === 'number')
}
