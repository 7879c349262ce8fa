import { createHash } from 'node:crypto'
import { ANONYMOUS, type Caller } from '../../model/access/caller.ts'
import { isStorable } from '../../model/values.ts'
import { scopesOfRoles } from './role-scopes.ts'
import type { Claims, TokenSettings } from './verify-token.ts'

/** The caller that a verified token stands for. */
export function callerWith(
  claims: Claims,
  token: string,
  settings: Pick<TokenSettings, 'defaultScope' | 'scopesClaim' | 'scopesMap'>,
): Caller {
  const names = ['scope', 'scopes', 'scp'].filter((name) => name in claims)
  const claimed = names.length > 0 ? names.map((name) => claims[name]) : [settings.defaultScope]
  const subject = typeof claims['sub'] === 'string' ? claims['sub'] : undefined
  return {
    identity: identityOf(subject, token.slice(0, token.lastIndexOf('.'))),
    scopes: new Set([...claimed.flatMap(scopesOf), ...scopesOfRoles(claims, settings)]),
    subject,
    claims,
  }
}

/** The caller of requests without a token. */
export function anonymousCaller(scopes: string): Caller {
  return { identity: ANONYMOUS, scopes: new Set(scopesOf(scopes)), subject: undefined, claims: {} }
}

/** A scope claim is a string separated by spaces (RFC 8693 §4.2) or, with some issuers, an array. */
function scopesOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((scope) => scope !== '')
  return Array.isArray(claim) ? claim.filter((scope) => typeof scope === 'string') : []
}

const DIGEST = 'sha256 '

/** A longer text might not fit into an index entry of PostgreSQL. */
const MAXIMUM_SUBJECT_BYTES = 2_000

/**
 * The subject of the token, or else a digest of the token. A subject that looks like a digest, that is the
 * identity of requests without a token, or that the database cannot store, is replaced by its digest.
 *
 * @param signed the signing input (RFC 7515 §2), without the signature, which has several valid forms: base64url has
 *   unused bits, and an ECDSA signature has two values
 */
export function identityOf(subject: string | undefined, signed: string): string {
  if (subject === undefined || subject === '') return digest('token', signed)
  const isShort = Buffer.byteLength(subject) <= MAXIMUM_SUBJECT_BYTES
  const isTaken = subject === ANONYMOUS || subject.startsWith(DIGEST)
  const isPlain = isShort && isStorable(subject) && !isTaken
  return isPlain ? subject : digest('subject', subject)
}

/** Hashes UTF-16, which keeps lone surrogates distinct. */
function digest(kind: 'token' | 'subject', text: string): string {
  return `${DIGEST}${kind} ${createHash('sha256').update(text, 'utf16le').digest('base64')}`
}
