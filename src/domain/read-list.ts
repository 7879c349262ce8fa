import type { DatabaseClient } from '../database/client.ts'
import { listStatement, listsStatement, PARENT } from '../database/sql/list-statement.ts'
import { shareRead } from '../database/sql/shared-read.ts'
import { isIdentifier } from './model/identifiers.ts'
import type { Position } from './model/keyset.ts'
import type { Filter, Sort } from './model/query.ts'
import { listColumn } from './model/relations.ts'
import type { Resource } from './model/resource.ts'
import type { Row } from './model/rows.ts'
import { absenceOf, notFound } from './not-found.ts'

/** What is asked of a list (SPEC §4.1). */
export interface ListRequest {
  readonly sorts: readonly Sort[]
  readonly filter?: Filter | undefined
  /** How many are passed over before the first. */
  readonly skip?: number
  /** How many there may be. */
  readonly take: number
  /** Only what comes after this place in the order. */
  readonly after?: Position | undefined
  /** Only what comes before this place in the order. */
  readonly before?: Position | undefined
  /** The last ones of what there is, in the same order, and not the first ones. */
  readonly fromEnd?: boolean
  /** Whether the whole list is counted, which may cost more than reading a part of it. */
  readonly counted: boolean
}

/** So many rows are passed over in a few milliseconds. */
const SHORT_SKIP = 1_000

/** Whether reading a part of a list may look at all of it, which is so unless it is in the order of creation. */
export function isScan({ sorts, filter, skip = 0 }: ListRequest): boolean {
  return filter !== undefined || sorts.length > 0 || skip > SHORT_SKIP
}

/** A part of a list, and the count of the whole list as it was at the same moment. */
export interface List {
  readonly rows: readonly Row[]
  /** Zero when it was not asked for. */
  readonly totalCount: number
}

/** A row of a list that may be empty, and what the statement says of the list beside it. */
interface ListedRow extends Row {
  readonly total_count?: number
  readonly [PARENT]?: string
}

/** A part of a collection. Rows and count come from one snapshot, so that they never contradict each other. */
export async function readList(
  client: DatabaseClient,
  resource: Resource,
  request: ListRequest,
): Promise<List> {
  return toList(request, await shareRead<ListedRow>(client, listStatement(resource, request)))
}

/**
 * The same part of the lists of several parents, by the parents' identifiers, in one statement: of those
 * they own, or of those that refer to them. A parent that does not exist has no list.
 */
export async function readLists(
  client: DatabaseClient,
  parent: Resource,
  resource: Resource,
  parentIds: readonly string[],
  request: ListRequest,
): Promise<ReadonlyMap<string, List>> {
  const parents = { resource: parent, ids: parentIds, column: listColumn(parent, resource) }
  const rows = await shareRead<ListedRow>(client, listsStatement(resource, parents, request))
  const lists = new Map<string, ListedRow[]>()
  for (const row of rows) {
    const parentId = row[PARENT] as string
    const list = lists.get(parentId)
    if (list) list.push(row)
    else lists.set(parentId, [row])
  }
  return new Map([...lists].map(([id, listed]) => [id, toList(request, listed)]))
}

/**
 * A part of the list of one parent.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404) or RESOURCE_GONE (410) for the parent
 */
export async function readListOf(
  client: DatabaseClient,
  parent: Resource,
  resource: Resource,
  parentId: string,
  request: ListRequest,
): Promise<List> {
  if (!isIdentifier(parentId)) throw notFound(parent, { id: parentId })
  const list = (await readLists(client, parent, resource, [parentId], request)).get(parentId)
  return list ?? Promise.reject(await absenceOf(client, parent, { id: parentId }))
}

function toList({ fromEnd }: ListRequest, rows: readonly ListedRow[]): List {
  const isEmpty = (rows[0]?.id ?? null) === null
  const listed = isEmpty ? [] : rows
  return { rows: fromEnd ? listed.toReversed() : listed, totalCount: rows[0]?.total_count ?? 0 }
}
