import type { IncomingHttpHeaders } from 'node:http'

/**
 * The key that makes a POST safe to repeat (draft-ietf-httpapi-idempotency-key-header); undefined where
 * there is none. A quoted string as the draft has it, or, as most clients send it, without the quotes.
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const [header] = [headers['idempotency-key']].flat()
  return header?.trim().replace(/^"(.*)"$/, '$1')
}
