import { absenceOf, notFound } from './absent.ts'
import type { DatabaseClient } from './database/database-client.ts'
import { isIdentifier } from './identifiers.ts'
import { keysetWhere, type Position } from './keyset.ts'
import { type Filter, orderSteps, type Sort, toOrderBy, toWhere, type Where } from './query.ts'
import { type Resource, tableName } from './resource.ts'
import type { Row } from './rows.ts'
import { listStatement } from './sql/list-statement.ts'
import { shareRead } from './sql/shared-read.ts'
import { delegate } from './store.ts'

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

/** A part of a list, and the count of the whole list as it was at the same moment. */
export interface List {
  readonly rows: readonly Row[]
  /** Zero when it was not asked for. */
  readonly totalCount: number
}

/** A part of a collection. Rows and count come from one snapshot, so that they never contradict each other. */
export async function readList(
  client: DatabaseClient,
  resource: Resource,
  request: ListRequest,
): Promise<List> {
  const statement = listStatement(resource, request)
  const rows = await shareRead<Row & { readonly total_count?: number }>(client, statement)
  const isEmpty = rows[0]?.id === undefined || rows[0].id === null
  return toList(request, isEmpty ? [] : rows, rows[0]?.total_count ?? 0)
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
  const { where, selection } = toPrisma(resource, request)
  const relation = tableName(resource.path)
  const parents = await delegate(client, parent).findMany({
    where: { id: { in: parentIds } },
    relationLoadStrategy: 'join',
    select: {
      id: true,
      [relation]: selection,
      ...(request.counted && { _count: { select: { [relation]: { where } } } }),
    },
  })
  return new Map(
    parents.map((row) => {
      const counts = row['_count'] as Readonly<Record<string, number>> | undefined
      return [row.id, toList(request, row[relation] as Row[], counts?.[relation] ?? 0)]
    }),
  )
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

/** The condition of the whole list, and the Prisma query for the part of it. */
function toPrisma(resource: Resource, request: ListRequest) {
  const { sorts, filter, skip = 0, take, after, before, fromEnd } = request
  const steps = orderSteps(resource, sorts)
  const where: Where = filter ? toWhere(resource, filter) : {}
  const bounds = [
    ...(after ? [keysetWhere(steps, after, 'after')] : []),
    ...(before ? [keysetWhere(steps, before, 'before')] : []),
  ]
  const part = bounds.length > 0 ? { AND: [where, ...bounds] } : where
  return { where, selection: { where: part, orderBy: toOrderBy(steps, fromEnd), skip, take } }
}

function toList({ fromEnd }: ListRequest, rows: readonly Row[], totalCount: number): List {
  return { rows: fromEnd ? rows.toReversed() : rows, totalCount }
}
