import { errorAt } from '../../../model/errors.ts'

/** Those of each timeline of the server begin at a multiple of this (prisma/engine/begin_timeline.sql). */
export const POSITIONS_OF_TIMELINE = 10_000_000_000

export function timelineOf(position: number): number {
  return Math.floor(position / POSITIONS_OF_TIMELINE)
}

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
