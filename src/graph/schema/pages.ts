import type { GraphQLResolveInfo } from 'graphql'
import { INTEGER_RANGE } from '../../domain/model/fields.ts'
import { decodeCursor, encodeCursor } from '../../domain/model/keyset.ts'
import type { List, ListRequest } from '../../domain/model/list.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/model/query.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import { type GraphContext, requireScope } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { graphNames } from '../names.ts'
import { toFilter } from './filters.ts'
import { type ListArguments, type ListSource, listArguments, readSource, refuseOutOfBounds } from './lists.ts'

// A page is found by its number, which skips all rows before it, or by a cursor: the position of the last row
// of the page before it, or of the first row of the page after it. By cursor every page costs the same, and
// pages neither skip nor repeat rows when other callers add and delete.

/** The type of a page of a resource's lists. */
export function pageType(resource: Resource): string {
  return `"One page of a list of ${resource.path}."
    type ${graphNames(resource).pageType} {
      "Those on the page." items: [${resource.name}!]!
      "Which page it is, 1-based." page: Int!
      "How many there are on a page at most." limit: Int!
      "How many there are on all pages." totalCount: Int!
      "How many pages there are." totalPages: Int!
      "Whether there is a page after this one." hasMore: Boolean!
      "What to ask for the next page with, besides its number; null when there is none." nextCursor: String
      "What to ask for the page before with, besides its number; null when there is none." previousCursor: String
    }`
}

/** The arguments of every list that is read by pages. */
export interface PageArguments extends ListArguments {
  readonly page: number
  readonly limit: number
  /** The cursor that the page before or after returned for this page. */
  readonly cursor?: string | null
}

/** The same arguments as SDL. */
export function pageArguments(resource: Resource): string {
  return `"Which page, 1-based." page: Int! = 1, "How many on a page." limit: Int! = ${DEFAULT_PAGE_SIZE},
    "What a page next to it told: then it costs the same however far down it is, and none skips or repeats." cursor: String,
    ${listArguments(resource)}`
}

/** Resolves a page of a list. */
export async function resolvePage(
  source: ListSource,
  args: PageArguments,
  context: GraphContext,
  info: GraphQLResolveInfo,
) {
  const { resource } = source
  requireScope(context, resource, 'read')
  const fields = selectedFields(info)
  const counted = fields.has('totalCount') || fields.has('totalPages')
  const request = toPageRequest(resource, args, context.domain.maximumPageSize, counted)
  return toPage(resource, args, request, await readSource(source, request, context))
}

/** The side of the cursor's position that a page is on. */
type Side = 'after' | 'before'

/**
 * The request that the arguments of a page make: for one row more than the page has, which shows whether there
 * are more.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for a page or a limit out of bounds, an invalid
 *   filter, or a cursor of another page
 */
export function toPageRequest(
  resource: Resource,
  { page, limit, sort, filter, cursor }: PageArguments,
  maximumPageSize: number,
  counted: boolean,
): ListRequest {
  refuseOutOfBounds('page', page, 1, INTEGER_RANGE.maximum)
  refuseOutOfBounds('limit', limit, 1, maximumPageSize)
  const request = { sorts: sort, filter: toFilter(resource, filter), take: limit + 1, counted }
  if (cursor === undefined || cursor === null) return { ...request, skip: (page - 1) * limit }
  const side = sideOf(cursor)
  const purpose = purposeOf(page, limit, side)
  const position = decodeCursor(resource, sort, cursor.slice(1), 'cursor', purpose)
  return { ...request, [side]: position, fromEnd: side === 'before' }
}

/** The page, from the rows that were read for it. */
export function toPage(
  resource: Resource,
  { page, limit }: PageArguments,
  { sorts, fromEnd = false }: ListRequest,
  { rows, totalCount }: List,
) {
  const isMore = rows.length > limit
  const items = fromEnd ? rows.slice(-limit) : rows.slice(0, limit)
  // A caller who goes back with a cursor comes from the page after this one.
  const hasMore = fromEnd || isMore
  const cursorTo = (row: Row | undefined, number: number, side: Side) =>
    row && side.charAt(0) + encodeCursor(resource, sorts, row, purposeOf(number, limit, side))
  return {
    items,
    page,
    limit,
    totalCount,
    totalPages: Math.ceil(totalCount / limit),
    hasMore,
    nextCursor: hasMore ? cursorTo(items.at(-1), page + 1, 'after') : undefined,
    previousCursor: page > 1 ? cursorTo(items[0], page - 1, 'before') : undefined,
  }
}

/** The first letter of a cursor states the side of its page. */
function sideOf(cursor: string): Side {
  return cursor.startsWith('b') ? 'before' : 'after'
}

/** A cursor is valid for one page number and limit only. */
function purposeOf(page: number, limit: number, side: Side): string {
  return ` ${side} page ${page} of ${limit}`
}
