import { decodeCursor, encodeCursor } from '../../domain/model/keyset.ts'
import type { List, ListRequest } from '../../domain/model/list.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import type { PageArguments } from './arguments.ts'
import { toFilter } from './filters.ts'
import { refuseOutOfBounds, toSorts } from './list-requests.ts'

// A page is found by its number, which passes over all rows before it, or by a cursor: the place of the
// last row of the page before it, or of the first row of the page after it. By cursor every page costs the
// same, and none skips or repeats what is there when others add and delete meanwhile.

const LARGEST_PAGE = 2147483647

/** Which side of its place a page lies on. */
type Side = 'after' | 'before'

/**
 * What the arguments of a page ask for: one row more than the page has, which tells whether there is more.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for a page or a limit out of bounds, a filter that
 *   cannot be, or what is no cursor of this page
 */
export function toPageRequest(
  resource: Resource,
  args: PageArguments,
  maximumPageSize: number,
  counted: boolean,
): ListRequest {
  const { page, limit, sort, filter, cursor } = args
  refuseOutOfBounds('page', page, 1, LARGEST_PAGE)
  refuseOutOfBounds('limit', limit, 1, maximumPageSize)
  const request = { sorts: toSorts(sort), filter: toFilter(resource, filter), take: limit + 1, counted }
  if (cursor === undefined || cursor === null) return { ...request, skip: (page - 1) * limit }
  const side = sideOf(cursor)
  const purpose = purposeOf(page, limit, side)
  const position = decodeCursor(resource, request.sorts, cursor.slice(1), 'cursor', purpose)
  return { ...request, [side]: position, fromEnd: side === 'before' }
}

/** The page that was asked for, of the part of the list that was read for it. */
export function toPage(
  resource: Resource,
  { page, limit }: PageArguments,
  { sorts, fromEnd = false }: ListRequest,
  { rows, totalCount }: List,
) {
  const isMore = rows.length > limit
  const items = fromEnd ? rows.slice(-limit) : rows.slice(0, limit)
  // Whoever came back from a page by its cursor has just seen that page.
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

/** The letter that a cursor begins with says where its page lies. */
function sideOf(cursor: string): Side {
  return cursor.startsWith('b') ? 'before' : 'after'
}

/** A cursor is for one page only: with another number beside it, it would show what that page is not. */
function purposeOf(page: number, limit: number, side: Side): string {
  return ` ${side} page ${page} of ${limit}`
}
