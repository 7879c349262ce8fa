import type { List, ListRequest } from '../../domain/model/list.ts'
import { orderSteps } from '../../domain/model/query.ts'
import { type Resource, tableName } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import { filterCondition } from './filter.ts'
import { type Bound, boundedRanges, orderBy, orderKeys, type Range, wholeRanges } from './ranges.ts'
import { columnsOf, Parameters, quoted, type Statement, tableOf } from './statement.ts'

/** Resources of which each has a list: those of a collection with these identifiers. */
export interface Parents {
  readonly resource: Resource
  readonly ids: readonly string[]
  /** The column of the listed resources that holds the identifier of the parent. */
  readonly column: string
}

/** The column that names the parent of a row in the answer to {@link listsStatement}. No field is named so. */
const PARENT = 'list of'

/** A row of a list that may be empty, and what the statement says of the list beside it. */
export interface ListedRow extends Row {
  readonly total_count?: number
  readonly last_id?: string | null
  readonly [PARENT]?: string
}

/**
 * The statement that reads a part of a collection. Where it also counts, rows and count are of one
 * snapshot, since they are of one statement: each row then has `total_count` as well, and where there are
 * no rows there is one without an `id`. Prisma takes five round trips for the same (BEGIN, isolation level,
 * count, rows, COMMIT); of 20 rows that was 4,000 µs of the processor against 500.
 */
export function listStatement(resource: Resource, request: ListRequest): Statement {
  const parameters = new Parameters()
  const rows = rowsQuery(resource, request, parameters)
  const facts = [
    ...(request.counted ? [`${countQuery(resource, request, parameters)} AS total_count`] : []),
    ...lastQuery(resource, request, parameters),
  ]
  if (facts.length === 0) return { text: rows, values: parameters.values }
  const order = orderBy(orderSteps(resource, request.sorts), request.fromEnd)
  const text = `SELECT * FROM (SELECT ${facts.join(', ')}) AS whole LEFT JOIN (${rows}) AS listed ON TRUE ${order}`
  return { text, values: parameters.values }
}

/**
 * The statement that reads the same part of the lists of several parents. There are no rows for a parent that
 * does not exist, and one without an `id` for a parent whose part is empty. Each row names its parent and,
 * where the lists are counted, has `total_count`.
 */
export function listsStatement(resource: Resource, parents: Parents, request: ListRequest): Statement {
  const parameters = new Parameters()
  const wanted = parameters.add(parents.ids)
  const isListed = `${quoted(parents.column)} = parent.id`
  const rows = rowsQuery(resource, request, parameters, [isListed])
  const facts = [
    ...(request.counted
      ? [`${filteredCount(resource, request, parameters, [isListed])} AS total_count`]
      : []),
    ...lastQuery(resource, request, parameters, [isListed]),
  ]
  const order = orderKeys(orderSteps(resource, request.sorts), request.fromEnd ?? false)
  const text = `SELECT parent.id AS ${quoted(PARENT)}, ${['listed.*', ...facts].join(', ')}
    FROM ${tableOf(parents.resource)} AS parent LEFT JOIN LATERAL (${rows}) AS listed ON TRUE
    WHERE parent.id = ANY(${wanted}) ORDER BY ${[quoted(PARENT), ...order.map((key) => `listed.${key}`)].join(', ')}`
  return { text, values: parameters.values }
}

/** Limits stand in the text, since a plan for any number of rows is not one for few. */
function rowsQuery(
  resource: Resource,
  request: ListRequest,
  parameters: Parameters,
  within: readonly string[] = [],
): string {
  const { sorts, filter, skip = 0, take, fromEnd = false } = request
  const steps = orderSteps(resource, sorts)
  const filtered = [...within, ...(filter ? [filterCondition(resource, filter, parameters)] : [])]
  const [bound, other] = boundsOf(request)
  const ranges = bound
    ? boundedRanges(resource, steps, bound, fromEnd, parameters)
    : wholeRanges(steps, fromEnd)
  if (other) filtered.push(anyOf(boundedRanges(resource, steps, other, fromEnd, parameters)))
  const end = `LIMIT ${take}${skip === 0 ? '' : ` OFFSET ${parameters.add(skip)}`}`
  const select = ({ conditions, order }: Range, limit: string) => {
    const all = [...filtered, ...conditions]
    const where = all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`
    return `SELECT ${columnsOf(resource)} FROM ${tableOf(resource)} ${where} ${order} ${limit}`
  }
  const [only, ...more] = ranges
  if (only && more.length === 0) return select(only, end)
  const parts = ranges.map((range) => `(${select(range, `LIMIT ${take + skip}`)})`)
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) AS ranges ${orderBy(steps, fromEnd)} ${end}`
}

/** The bounds of a part. The one it is read from comes first. */
function boundsOf({ after, before, fromEnd }: ListRequest): Bound[] {
  const lower: Bound[] = after ? [{ position: after, side: 'after' }] : []
  const upper: Bound[] = before ? [{ position: before, side: 'before' }] : []
  return fromEnd ? [...upper, ...lower] : [...lower, ...upper]
}

function anyOf(ranges: readonly Range[]): string {
  const parts = ranges.map(({ conditions }) => conditions.join(' AND '))
  return parts.length === 0 ? 'FALSE' : `(${parts.map((part) => `(${part})`).join(' OR ')})`
}

/**
 * The count of a whole collection is kept by triggers (in the migrations), as a sum over few rows: counting a
 * million takes 60 ms. An empty collection need not have any.
 */
function countQuery(resource: Resource, request: ListRequest, parameters: Parameters): string {
  if (request.filter) return filteredCount(resource, request, parameters)
  return `COALESCE((SELECT sum(rows)::int FROM row_counts WHERE collection = '${tableName(resource.path)}'), 0)`
}

function filteredCount(
  resource: Resource,
  { filter }: ListRequest,
  parameters: Parameters,
  within: readonly string[] = [],
): string {
  const conditions = [...within, ...(filter ? [filterCondition(resource, filter, parameters)] : [])]
  return `(SELECT count(*)::int FROM ${tableOf(resource)} WHERE ${conditions.join(' AND ')})`
}

/** The identifier of the last of a whole list, as a column. The index of the order has it at its end. */
function lastQuery(
  resource: Resource,
  { namesLast, sorts, filter, counted }: ListRequest,
  parameters: Parameters,
  within?: readonly string[],
): string[] {
  if (!namesLast) return []
  const last = rowsQuery(resource, { sorts, filter, counted, take: 1, fromEnd: true }, parameters, within)
  return [`(SELECT id FROM (${last}) AS ending) AS last_id`]
}

/** The list that the rows of {@link listStatement} are. */
export function toList({ fromEnd }: ListRequest, rows: readonly ListedRow[]): List {
  const isEmpty = (rows[0]?.id ?? null) === null
  const listed = isEmpty ? [] : rows
  return {
    rows: fromEnd ? listed.toReversed() : listed,
    totalCount: rows[0]?.total_count ?? 0,
    lastId: rows[0]?.last_id ?? undefined,
  }
}

/** The lists that the rows of {@link listsStatement} are, by the identifiers of the parents. */
export function toLists(request: ListRequest, rows: readonly ListedRow[]): ReadonlyMap<string, List> {
  const lists = new Map<string, ListedRow[]>()
  for (const row of rows) {
    const parentId = row[PARENT] as string
    const list = lists.get(parentId)
    if (list) list.push(row)
    else lists.set(parentId, [row])
  }
  return new Map([...lists].map(([id, listed]) => [id, toList(request, listed)]))
}
