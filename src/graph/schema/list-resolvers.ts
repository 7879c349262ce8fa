import type { GraphQLResolveInfo } from 'graphql'
import { encodeCursor } from '../../domain/model/keyset.ts'
import { isScan, type List, type ListRequest } from '../../domain/model/list.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import { readList, readListOf } from '../../domain/read.ts'
import { admit, type GraphContext } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import type { ConnectionArguments, PageArguments } from './arguments.ts'
import { toConnectionRequest } from './list-requests.ts'
import { toPage, toPageRequest } from './pages.ts'

/** Reads a part of a list, wherever the list is. */
type ReadList = (request: ListRequest) => Promise<List>

/** The list that a field stands for: of a whole collection, or of one parent. */
export interface ListPlace {
  readonly resource: Resource
  /** The owner, or the resource that those of the list refer to, and its identifier. */
  readonly parent?: { readonly resource: Resource; readonly id: string } | undefined
}

/** Answers with one page of a list. */
export async function resolvePage(
  place: ListPlace,
  args: PageArguments,
  context: GraphContext,
  info: GraphQLResolveInfo,
  read = reader(place, context),
) {
  admit(context, place.resource, 'read')
  const fields = selectedFields(info)
  const counted = fields.has('totalCount') || fields.has('totalPages')
  const request = toPageRequest(place.resource, args, context.domain.maximumPageSize, counted)
  const list = await read(request)
  context.loaders.remember(place.resource, list.rows)
  return toPage(place.resource, args, request, list)
}

/** Answers with one connection of a list (GraphQL Cursor Connections Specification §4). */
export async function resolveConnection(
  place: ListPlace,
  args: ConnectionArguments,
  context: GraphContext,
  info: GraphQLResolveInfo,
  read = reader(place, context),
) {
  admit(context, place.resource, 'read')
  const counted = selectedFields(info).has('totalCount')
  const request = toConnectionRequest(place.resource, args, context.domain.maximumPageSize, counted)
  const { fromEnd = false, take, sorts } = request
  // One more than is wanted tells whether there are more.
  const { rows, totalCount } = await read({ ...request, take: take + 1 })
  context.loaders.remember(place.resource, rows)
  const isMore = rows.length > take
  const wanted = fromEnd ? rows.slice(Math.max(rows.length - take, 0)) : rows.slice(0, take)
  const cursor = (row: Row | undefined) => row && encodeCursor(place.resource, sorts, row)
  return {
    edges: wanted.map((row) => ({ node: row, cursor: () => cursor(row) })),
    nodes: wanted,
    totalCount,
    pageInfo: {
      hasNextPage: fromEnd ? args.before !== undefined && args.before !== null : isMore,
      hasPreviousPage: fromEnd ? isMore : args.after !== undefined && args.after !== null,
      startCursor: () => cursor(wanted[0]),
      endCursor: () => cursor(wanted.at(-1)),
    },
  }
}

/** Reads the lists of many parents together. The parents are known to exist. */
export function batchedReader(
  { resource, parent }: { readonly resource: Resource; readonly parent: NonNullable<ListPlace['parent']> },
  { loaders }: GraphContext,
): ReadList {
  return (request) => loaders.list(parent.resource, resource, parent.id, request)
}

function reader({ resource, parent }: ListPlace, { reader: client, scan }: GraphContext): ReadList {
  return (request) => {
    const read = () =>
      parent
        ? readListOf(client, parent.resource, resource, parent.id, request)
        : readList(client, resource, request)
    return scan(resource, isScan(request), read)
  }
}
