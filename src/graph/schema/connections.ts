import type { GraphQLResolveInfo } from 'graphql'
import type { Listing, ListSource } from '../../domain/session/reader.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { errorAt } from '../../model/errors.ts'
import { decodeCursor, encodeCursor } from '../../model/query/keyset.ts'
import type { ListRequest } from '../../model/query/list.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import type { Row } from '../../model/rows/row.ts'
import type { GraphContext } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { graphNames } from '../names.ts'
import { matchingRows } from './filters.ts'
import { type ListArguments, listArguments, refuseOutOfBounds, toSorts } from './lists.ts'

export const PAGE_INFO = /* GraphQL */ `
"Start and end of a part of a list (GraphQL Cursor Connections Specification §5)."
type PageInfo {
  "Whether there is more after the part. When reading backwards: whether before was given." hasNextPage: Boolean!
  "Whether there is more before the part. When reading forwards: whether after was given." hasPreviousPage: Boolean!
  "Cursor of the first item." startCursor: String
  "Cursor of the last item." endCursor: String
}`

/** GraphQL Cursor Connections Specification §2, §3. */
export function connectionType(resource: Resource): string {
  const { connectionType: connection, edge } = graphNames(resource)
  return `"A part of a list of ${resource.path}, found by cursors (GraphQL Cursor Connections Specification)."
    type ${connection} {
      "The items, each with its cursor." edges: [${edge}!]!
      "The items without cursors." nodes: [${resource.name}!]!
      "Start and end of this part of the list." pageInfo: PageInfo!
      "Number of items in the whole list." totalCount: Int!
    }
    "A resource in a list of ${resource.path}, with its position."
    type ${edge} {
      "The resource." node: ${resource.name}!
      "Cursor of the item, for after and before. It stays valid after the item is deleted." cursor: String!
    }`
}

interface ConnectionArguments extends ListArguments {
  readonly first?: number | null
  readonly after?: string | null
  readonly last?: number | null
  readonly before?: string | null
}

export function connectionArguments(resource: Resource): string {
  return `"Number of items, from the start. Defaults to ${DEFAULT_PAGE_SIZE} if neither first nor last is given." first: Int,
    "Only items after this cursor." after: String,
    "Number of items, from the end." last: Int,
    "Only items before this cursor." before: String,
    ${listArguments(resource)}`
}

/** GraphQL Cursor Connections Specification §4. */
export async function resolveConnection(
  source: ListSource,
  args: ConnectionArguments,
  { session }: GraphContext,
  info: GraphQLResolveInfo,
) {
  const { resource } = source
  const listing = session.listing(source)
  const counted = selectedFields(info).has('totalCount')
  const request = toConnectionRequest(listing, args, session.maximumPageSize, counted)
  const { fromEnd = false, take, sorts } = request
  // One more than requested shows whether there are more.
  const { rows, totalCount } = await listing.read({ ...request, take: take + 1 })
  const isMore = rows.length > take
  const wanted = fromEnd ? rows.slice(Math.max(rows.length - take, 0)) : rows.slice(0, take)
  const cursor = (row: Row | undefined) => row && encodeCursor(resource, sorts, row, listing.namespace)
  return {
    edges: wanted.map((row) => ({ node: row, cursor: () => cursor(row) })),
    nodes: wanted,
    totalCount,
    pageInfo: {
      hasNextPage: fromEnd ? typeof args.before === 'string' : isMore,
      hasPreviousPage: fromEnd ? isMore : typeof args.after === 'string',
      startCursor: () => cursor(wanted[0]),
      endCursor: () => cursor(wanted.at(-1)),
    },
  }
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) for invalid arguments, or `first` together with `last` */
function toConnectionRequest(
  listing: Listing,
  { first, last, after, before, sort, ...selection }: ConnectionArguments,
  maximumPageSize: number,
  counted: boolean,
): ListRequest {
  const isFromStart = typeof first === 'number'
  const isFromEnd = typeof last === 'number'
  if (isFromStart) refuseOutOfBounds('first', first, 0, maximumPageSize)
  if (isFromEnd) refuseOutOfBounds('last', last, 0, maximumPageSize)
  if (isFromStart && isFromEnd) {
    throw errorAt('last', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', 'Use first or last, not both.')
  }
  const sorts = toSorts(sort)
  const position = (cursor: string | null | undefined, argument: string) =>
    typeof cursor === 'string'
      ? decodeCursor(listing.resource, sorts, cursor, argument, listing.namespace)
      : undefined
  return {
    sorts,
    rows: matchingRows(listing, selection),
    take: first ?? last ?? Math.min(DEFAULT_PAGE_SIZE, maximumPageSize),
    after: position(after, 'after'),
    before: position(before, 'before'),
    fromEnd: isFromEnd,
    counted,
  }
}
