import { hash } from 'node:crypto'
import type { GraphQLResolveInfo } from 'graphql'
import type { Listing, ListSource } from '../../domain/session/reader.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { INTEGER_RANGE } from '../../model/kinds/integer.ts'
import { cursorUse, decodeCursor, encodeCursor } from '../../model/query/keyset.ts'
import type { List, ListRequest } from '../../model/query/list.ts'
import { DEFAULT_PAGE_SIZE, type Sort } from '../../model/query/query.ts'
import { keyOf, keyText } from '../../model/rows/identifiers.ts'
import type { Row } from '../../model/rows/row.ts'
import type { GraphContext } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { graphNames } from '../names.ts'
import { matchingRows } from './filters.ts'
import { type ListArguments, listArguments, pageSize, refuseOutOfBounds, toSorts } from './lists.ts'

// A page is found by its number, which skips all rows before it, or by a cursor: the position of the last row of the previous
// page, or of the first row of the next one. By cursor every page costs the same, and no row is skipped or repeated when
// others are added or deleted. The number of such a page fits the current list.

/** The field of a page that needs its position in the record of changes, if changes are recorded. */
export const POSITIONED = 'changesCursor'

export function pageType(resource: Resource): string {
  return `"One page of a list of ${resource.path}."
    type ${graphNames(resource).pageType} {
      "The items of the page." items: [${resource.name}!]!
      "Page number, from 1." page: Int!
      "Maximum number of items per page." limit: Int!
      "Number of items on all pages." totalCount: Int!
      "Number of pages." totalPages: Int!
      "Changes when the items of the page, their order, the page number or the selected counts change. Does not depend on the resources that the items refer to."
      revision: String!
      "Whether there is a page after this one." hasMore: Boolean!
      "Cursor for the next page, passed with its number. Null on the last page." nextCursor: String
      "Cursor for the previous page, passed with its number (at least 1). Null on the first page." previousCursor: String
    }`
}

interface GivenArguments extends ListArguments {
  readonly page?: number | null
  readonly limit?: number | null
  /** The cursor that the page before or after returned for this page. */
  readonly cursor?: string | null
  readonly unlessRevision?: string | null
}

/** With those that were left out. */
interface PageArguments extends GivenArguments {
  readonly page: number
  readonly limit: number
  readonly sort: readonly Sort[]
}

export function pageArguments(resource: Resource): string {
  return `"Page number, from 1, the default." page: Int = null,
    "Number of items per page. Defaults to ${DEFAULT_PAGE_SIZE}." limit: Int = null,
    "Cursor from an adjacent page. The cost is constant, and no item is skipped or repeated." cursor: String,
    "The revision that the client has. If it is still current, items is empty, which costs less." unlessRevision: String,
    ${listArguments(resource)}`
}

/**
 * For a client that has a revision of the page, which is probably current, reads only the versions of the items first, and
 * the items if these have changed.
 */
export async function resolvePage(
  source: ListSource,
  given: GivenArguments,
  { session }: GraphContext,
  info: GraphQLResolveInfo,
) {
  const listing = session.listing(source)
  const limit = pageSize(given.limit, session.maximumPageSize)
  const args = { ...given, page: given.page ?? 1, limit, sort: toSorts(given.sort) }
  const fields = selectedFields(info)
  const counted = fields.has('totalCount') || fields.has('totalPages')
  const positioned = fields.has(POSITIONED) && session.recordsChanges
  if (typeof args.unlessRevision === 'string') {
    const page = await readPage(listing, args, { counted, positioned, versionsOnly: true })
    if (page.revision === args.unlessRevision) return { ...page, items: [] }
  }
  return readPage(listing, args, { counted, positioned })
}

type PageParts = Pick<ListRequest, 'counted' | 'positioned' | 'versionsOnly'>

/** Reads the first page instead if nothing precedes the position of a cursor, or if all items fit on one page. */
async function readPage(listing: Listing, args: PageArguments, parts: PageParts) {
  const read = async (wanted: PageArguments) => {
    const request = toPageRequest(listing, wanted, parts)
    const list = await listing.read(request)
    const position = parts.positioned ? list.position : undefined
    return { request, list, page: { ...toPage(listing, wanted, request, list), position } }
  }
  const { request, list, page } = await read(args)
  const isShort = list.rows.length === 0 || (parts.counted && list.totalCount <= args.limit && page.hasMore)
  return request.before && isShort ? (await read({ ...args, page: 1, cursor: null })).page : page
}

type Side = 'after' | 'before'

/**
 * Requests one more row than the page, which shows whether there is a next page. Ignores cursors for another page or limit.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for invalid arguments
 */
function toPageRequest(
  listing: Listing,
  { page, limit, sort, cursor, ...selection }: PageArguments,
  parts: PageParts,
): ListRequest {
  refuseOutOfBounds('page', page, 1, INTEGER_RANGE.maximum)
  const request = {
    sorts: sort,
    rows: matchingRows(listing, selection),
    take: limit + 1,
    ...parts,
  }
  const byNumber = { ...request, skip: (page - 1) * limit }
  if (cursor === undefined || cursor === null) return byNumber
  const use = cursorUse(cursor, listing.namespace)
  const side = (['after', 'before'] as const).find((one) => use === purposeOf(page, limit, one))
  if (use && !side) return byNumber
  const position = decodeCursor(listing.resource, sort, cursor, 'cursor', listing.namespace, use)
  return side === 'before'
    ? { ...request, before: position, fromEnd: true, namesLast: true }
    : { ...request, after: position }
}

/**
 * `hasMore`, the next cursor, and a number below `totalPages` always agree, even if resources were added or deleted since
 * the cursor was made.
 */
function toPage(
  { resource, namespace }: Listing,
  { page, limit }: PageArguments,
  request: ListRequest,
  list: List,
) {
  const { sorts, after, before, counted } = request
  const { totalCount } = list
  const isMore = list.rows.length > limit
  const items = before ? list.rows.slice(-limit) : list.rows.slice(0, limit)
  const last = items.at(-1)
  const hasMore = before ? (last && keyText(keyOf(resource, last))) !== list.lastKey : isMore
  const hasPrevious = before ? isMore : page > 1
  const totalPages = Math.ceil(totalCount / limit)
  /** The requested number, unless rows before the cursor were added or deleted. */
  const numberOf = () => {
    if (!after && !before) return page
    if (!hasPrevious) return 1
    const earliest = Math.max(page, 2)
    if (!counted) return earliest
    if (hasMore) return Math.min(earliest, totalPages - 1)
    return last ? totalPages : Math.max(page, totalPages + 1)
  }
  const number = numberOf()
  const cursorTo = (row: Row | undefined, neighbour: number, side: Side) =>
    row && encodeCursor(resource, sorts, row, namespace, purposeOf(neighbour, limit, side))
  const versions = items.map((row) => `${keyText(keyOf(resource, row))}:${row.version}`)
  const shown = [number, limit, totalCount, hasMore, hasPrevious, ...versions]
  return {
    items,
    page: number,
    limit,
    totalCount,
    totalPages,
    hasMore,
    // Not a getter: V8 would make a hidden class for each page, which keeps its rows until the next major collection.
    revision: hash('sha1', shown.join(), 'base64url'),
    nextCursor: hasMore ? cursorTo(last, number + 1, 'after') : undefined,
    previousCursor: hasPrevious ? cursorTo(items[0], Math.max(number - 1, 1), 'before') : undefined,
  }
}

function purposeOf(page: number, limit: number, side: Side): string {
  return `${side} ${page} ${limit}`
}
