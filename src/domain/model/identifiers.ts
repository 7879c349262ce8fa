import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'

export const IDENTIFIER = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,64}$/

/** What an identifier may be, in words. */
export const IDENTIFIER_FORM = '1 to 64 characters out of A–Z a–z 0–9 . _ ~ -, and neither "." nor ".."'

/** Whether a text may be an identifier: the unreserved characters of RFC 3986 §2.3, which need no escape. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text)
}

/** Where one resource is: its identifier, and its parent's where it has a parent. */
export interface Address {
  readonly parentId?: string | undefined
  readonly id: string
}

/** Whether a resource could be at an address: a malformed one is simply unknown. */
export function isAddress({ parentId, id }: Address): boolean {
  return isIdentifier(id) && (parentId === undefined || isIdentifier(parentId))
}

/**
 * An identifier for a new resource: a UUID (RFC 9562), ordered by time so that an index grows at its
 * end, or random where even the order of creation would tell too much (SPEC §2.5.7).
 */
export function makeIdentifier({ randomIdentifiers }: { readonly randomIdentifiers?: true }): string {
  return randomIdentifiers ? randomUUID() : v7()
}

/** The nearest legal identifier to a text, or undefined where nothing of it is left. */
export function slug(text: string): string | undefined {
  const plain = text.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  const joined = plain
    .replace(/[^a-z0-9._~-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 64)
  return isIdentifier(joined) ? joined : undefined
}
