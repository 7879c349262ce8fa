import { errorAt } from '../../../model/errors.ts'

/** A place in the feed: all changes up to a position were read, and so many parts of the next one (`readable-changes.ts`). */
export interface Place {
  readonly after: number
  readonly parts: number
}

/**
 * Encoded, so that clients do not calculate with it.
 *
 * @param parts for a part of a change, which has several
 */
export function toCursor(position: number, parts?: number): string {
  return encoded(parts === undefined ? String(position) : `${position}.${parts}`)
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) for an invalid cursor */
export function toPlace(cursor: string): Place {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, position, parts] = /^(0|[1-9]\d{0,15})(?:\.([1-9]\d{0,8}))?$/.exec(text) ?? []
  if (position !== undefined && encoded(text) === cursor)
    return parts === undefined
      ? { after: Number(position), parts: 0 }
      : { after: Number(position) - 1, parts: Number(parts) }
  const message = 'since must be now or a cursor from the feed.'
  throw errorAt('since', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
}
