import jwt from 'jsonwebtoken'

/** What a token must be like, beside being signed and current. */
export interface Expected {
  readonly algorithms: readonly string[]
  readonly jwtIssuer: string | undefined
  readonly jwtAudience: string | undefined
}

/** A token that was refused. The message says why, as a sentence about the token. */
export class TokenRefused extends Error {}

/**
 * Explains why the verification of a token failed. The errors of the library tell only the times apart, so the
 * token is looked at again; of several reasons one is told.
 */
export function refusalReason(token: string, error: unknown, expected: Expected): string {
  const { name } = error as Error
  if (name === 'TokenExpiredError') return 'The token has expired'
  if (name === 'NotBeforeError') return 'The token is not yet valid'
  const { header, payload } = decoded(token) ?? {}
  if (!header || !isClaims(payload)) return 'The token is malformed'
  if (!expected.algorithms.includes(header.alg)) return 'The algorithm of the token is not accepted'
  if ('crit' in header) return 'The token names an extension that is not known here'
  const { jwtIssuer, jwtAudience } = expected
  if (jwtIssuer !== undefined && payload.iss !== jwtIssuer) return 'The token is of another issuer'
  const isForUs = jwtAudience === undefined || [payload.aud].flat().includes(jwtAudience)
  return isForUs ? 'The signature of the token does not verify' : 'The token is for another audience'
}

/** The library throws where the payload is not JSON. */
function decoded(token: string): jwt.Jwt | undefined {
  try {
    return jwt.decode(token, { complete: true }) ?? undefined
  } catch {
    return undefined
  }
}

function isClaims(payload: string | jwt.JwtPayload | undefined): payload is jwt.JwtPayload {
  if (typeof payload !== 'object' || payload === null) return false
  return [payload.exp, payload.nbf].every((time) => time === undefined || typeof time === 'number')
}
