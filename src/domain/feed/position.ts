import { errorAt } from '../../model/errors.ts'

/** Encoded, so that clients do not calculate with it. */
export function toCursor(position: number): string {
  return Buffer.from(String(position)).toString('base64url')
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) for an invalid cursor */
export function toPosition(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString()
  const position = /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN
  if (toCursor(position) === cursor) return position
  const message = 'since must be now or a cursor from the feed.'
  throw errorAt('since', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
}
