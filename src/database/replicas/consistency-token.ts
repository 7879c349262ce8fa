import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Consistency, WritePosition } from '../../model/access/caller.ts'

/** A replica in use lags far less than this. */
const LIFETIME_SECONDS = 3600

/** `<timeline>.<offset in bytes>.<expiry in seconds since 1970>.<HMAC>`: numbers in hexadecimal, HMAC in base64url. */
const TOKEN = /^([0-9a-f]{1,8})\.([0-9a-f]{1,13})\.([0-9a-f]{1,9})\.([A-Za-z0-9_-]{43})$/

/**
 * Tokens for positions of the write-ahead log of one cluster. They are signed, so that a client cannot make one for a
 * position that will never come.
 *
 * @param secret shared by all processes; the key is derived from it (HKDF, RFC 5869)
 */
export function createConsistencyTokens(secret: string, cluster: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'halgraph Consistency-Token', 32))
  const signatureOf = (payload: string) => createHmac('sha256', key).update(`${cluster}.${payload}`).digest()
  const now = () => Math.floor(Date.now() / 1000)
  return {
    issue({ timeline, offset }: WritePosition): string {
      const payload = [timeline, offset, now() + LIFETIME_SECONDS].map((part) => part.toString(16)).join('.')
      return `${payload}.${signatureOf(payload).toString('base64url')}`
    },
    /** Undefined for an expired token; `unknown` for one that is malformed, forged or of another cluster. */
    read(token: string): Consistency['after'] {
      const [, ...parts] = TOKEN.exec(token) ?? []
      const signature = parts.pop()
      if (signature === undefined) return 'unknown'
      const expected = signatureOf(token.slice(0, token.lastIndexOf('.')))
      if (!timingSafeEqual(Buffer.from(signature, 'base64url'), expected)) return 'unknown'
      const [timeline = 0, offset = 0, expiry = 0] = parts.map((part) => Number.parseInt(part, 16))
      return expiry < now() ? undefined : { timeline, offset }
    },
  }
}
