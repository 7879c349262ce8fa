import type { Caller } from '../../../model/access/caller.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { errorAt } from '../../../model/errors.ts'
import { rowOf } from '../../../model/rows/columns.ts'
import type { ResourceKey } from '../../../model/rows/identifiers.ts'
import type { Columns } from '../../../model/rows/row.ts'

export interface RecordedChange {
  readonly cursor: string
  readonly resource: Resource
  readonly key: ResourceKey
  readonly version: number
  readonly event: 'created' | 'changed' | 'deleted'
  readonly time: Date
  /** The subject of a token, or the role of an edit in the database. */
  readonly by: string
  /** All columns of the resource after the change, with the values of statements; null after a deletion. */
  readonly row: Columns | null
}

/** A stored change, or none if `position` is null. */
export interface ChangeRow {
  readonly position: number | null
  readonly collection: string
  readonly parent_id: string
  readonly id: string
  readonly version: number
  readonly event: RecordedChange['event']
  readonly changed_date: Date
  readonly changed_by: string
  readonly columns: Columns | null
}

export function toChange(resources: readonly Resource[], row: ChangeRow): RecordedChange {
  const resource = resources.find(({ path }) => path === row.collection) as Resource
  return {
    cursor: toCursor(row.position as number),
    resource,
    key: { parentId: row.parent_id || undefined, id: row.id },
    version: row.version,
    event: row.event,
    time: row.changed_date,
    by: row.changed_by,
    row: row.columns && rowOf(resource, row.columns),
  }
}

/** The position at the end of the feed, as clients ask for it. */
export const NOW = 'now'

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

const SEPARATOR = '~'

/** A cursor as a caller gets it: with the namespace, because positions mean nothing in another one. */
export function shownCursor({ namespace }: Caller, cursor: string): string {
  return namespace ? cursor + SEPARATOR + namespace.name : cursor
}

/**
 * A cursor that a caller was shown, or another text, which `toPlace` refuses.
 *
 * @param text undefined and `now` stay what they are
 */
export function givenCursor<Text extends string | undefined>({ namespace }: Caller, text: Text): Text {
  if (!namespace || text === undefined || text === NOW) return text
  const end = SEPARATOR + namespace.name
  return (text.endsWith(end) ? text.slice(0, -end.length) : SEPARATOR) as Text
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
