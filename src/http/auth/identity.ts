import { createHash } from 'node:crypto'
import { isStorable } from '../../model/values.ts'

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
