import { createHash } from 'node:crypto'
import { isStorable } from './values.ts'

/** A client that calls, as its access token says. */
export interface Caller {
  /** Tells callers apart, wherever something is kept for each of them; made by {@link identityOf}. */
  readonly identity: string
  /** What the token allows: `<collection>:read`, `<collection>:write`, `*:read`, `*:write`. */
  readonly scopes: ReadonlySet<string>
}

/** What identities that are digests begin with. */
const DIGEST = 'sha256 '

/** In bytes. A longer text might not fit into an entry of an index in PostgreSQL. */
const MAXIMUM_SUBJECT_BYTES = 2_000

/**
 * The identity of a caller: the subject of the token as it stands; for a token without one, a digest of the
 * token. A subject that could pass for a digest, or that the database cannot hold, is digested as well.
 *
 * @param signed the signing input of the token (RFC 7515 §2). The signature is left out, because a caller
 *   can spell it in more than one way: base64url has unused bits, and an ECDSA signature has two valid forms.
 */
export function identityOf(subject: string | undefined, signed: string): string {
  if (subject === undefined || subject === '') return digest('token', signed)
  return isPlain(subject) ? subject : digest('subject', subject)
}

function isPlain(subject: string): boolean {
  const isShort = Buffer.byteLength(subject) <= MAXIMUM_SUBJECT_BYTES
  return isShort && isStorable(subject) && !subject.startsWith(DIGEST)
}

/** Of UTF-16, which tells lone surrogates apart. */
function digest(kind: 'token' | 'subject', text: string): string {
  return `${DIGEST}${kind} ${createHash('sha256').update(text, 'utf16le').digest('base64')}`
}
