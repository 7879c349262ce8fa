import { stringify } from 'csv-stringify/sync'
import type { Context } from 'koa'
import { DomainError } from '../../model/errors.ts'
import type { Leaf } from '../../model/resource.ts'
import { csvOptions } from './csv.ts'

/** A list in HAL. */
interface ListDocument {
  readonly _links: Readonly<Record<string, { readonly href: string } | null>>
  readonly _embedded: Readonly<Record<string, readonly object[]>>
  readonly total_count?: number
}

const WRITERS: Readonly<Record<string, (items: readonly object[], leaves: readonly Leaf[]) => string>> = {
  'text/csv': (items, leaves) => stringify([...items], csvOptions(leaves)),
  'application/x-ndjson': (items) => items.map((item) => `${JSON.stringify(item)}\n`).join(''),
}

/** The media types of the items of a list alone, one in each row or line. */
export const ITEM_TYPES = Object.keys(WRITERS)

const NAVIGATION = ['first', 'prev', 'next', 'last']

/** In characters. Many clients refuse headers of more than 16 KiB. */
const LONGEST_LINKS = 12_000

/**
 * Responds with the items of a page alone: the links to other pages are in the header Link (RFC 8288), the count of all
 * items in X-Total-Count.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) when the links are too long for a header
 */
export function respondWithItems(ctx: Context, type: string, list: object, leaves: readonly Leaf[]): void {
  const { _links: links, _embedded: embedded, total_count: count } = list as ListDocument
  const relations = NAVIGATION.filter((relation) => links[relation])
  const header = relations.map((relation) => `<${links[relation]?.href}>; rel="${relation}"`).join(', ')
  if (header.length > LONGEST_LINKS) {
    const message =
      'The query is too long for links in a header. Request application/json, or use fewer filters.'
    throw new DomainError('INVALID_QUERY_PARAMETER', message)
  }
  ctx.append('Link', header)
  if (count !== undefined) ctx.set('X-Total-Count', String(count))
  ctx.set('Content-Type', type === 'text/csv' ? `${type}; charset=utf-8; header=present` : type)
  ctx.body = WRITERS[type]?.(Object.values(embedded)[0] ?? [], leaves)
}
