import { meaningOfReadError } from './database-errors.ts'
import { isAlwaysSet } from './fields.ts'
import { type Filter, leafNamed, toWhere } from './query.ts'
import type { Leaf, Resource } from './resource.ts'
import { type Client, delegate } from './store.ts'

/** What is computed of the numbers of a group. */
export type Measure = 'minimum' | 'maximum' | 'average' | 'sum'

/** What is asked of a collection as a whole. */
export interface AggregateRequest {
  readonly filter?: Filter | undefined
  /** Dotted wire names of the fields whose values make the groups; without any, all is one group. */
  readonly groupBy: readonly string[]
  readonly measures: ReadonlySet<Measure>
  /** The largest groups first, or the groups in the order of their keys; nulls last. */
  readonly order: 'count' | 'key'
  readonly limit: number
}

/** Values by column. */
type Columns = Readonly<Record<string, unknown>>

/** The resources that have the same values in the fields that make the groups. */
export interface Group {
  readonly key: Columns
  readonly count: number
  /** The measures that were asked for, by the columns that hold numbers; null where none has a value. */
  readonly measures: Readonly<Partial<Record<Measure, Columns>>>
}

/** The leaves whose values can make groups: those of which many resources may have the same. */
export function groupable(resource: Resource): Leaf[] {
  return resource.leaves.filter(
    ({ name, field }) => name !== 'id' && field.type !== 'fractions' && field.type !== 'timestamp',
  )
}

/** The leaves that hold numbers, of which measures are computed. */
export function measurable({ leaves }: Resource): Leaf[] {
  return leaves.filter(({ field }) => field.type === 'number' || field.type === 'integer')
}

/**
 * Counts and measures the groups of a collection, in one statement; the database does the work.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) for a sum that is larger than any number
 */
export async function aggregate(
  client: Client,
  resource: Resource,
  request: AggregateRequest,
): Promise<Group[]> {
  try {
    return await groups(client, resource, request)
  } catch (error) {
    throw meaningOfReadError(error)
  }
}

async function groups(client: Client, resource: Resource, request: AggregateRequest): Promise<Group[]> {
  const { filter, measures, limit } = request
  const columns = [...new Set(request.groupBy)].map((name) => leafNamed(resource, name).column)
  const where = filter ? toWhere(resource, filter) : {}
  const computed = { _count: { _all: true }, ...measureArguments(resource, measures) }
  if (columns.length === 0) {
    const whole = await delegate(client, resource).aggregate({ where, ...computed })
    return [toGroup(whole, columns, measures)]
  }
  const orderBy = groupOrder(resource, request, columns)
  const rows = await delegate(client, resource).groupBy({
    by: columns,
    where,
    ...computed,
    orderBy,
    take: limit,
  })
  return rows.map((row) => toGroup(row, columns, measures))
}

const PRISMA_NAMES: Readonly<Record<Measure, string>> = {
  minimum: '_min',
  maximum: '_max',
  average: '_avg',
  sum: '_sum',
}

function measureArguments(resource: Resource, measures: ReadonlySet<Measure>): Columns {
  const numbers = Object.fromEntries(measurable(resource).map(({ column }) => [column, true]))
  return Object.fromEntries([...measures].map((measure) => [PRISMA_NAMES[measure], numbers]))
}

function groupOrder(resource: Resource, { order }: AggregateRequest, columns: readonly string[]): Columns[] {
  const byKey = columns.map((column) => {
    const leaf = resource.leaves.find((candidate) => candidate.column === column) as Leaf
    return { [column]: isAlwaysSet(leaf.field) ? 'asc' : { sort: 'asc', nulls: 'last' } }
  })
  return order === 'count' ? [{ _count: { id: 'desc' } }, ...byKey] : byKey
}

function toGroup(row: Columns, columns: readonly string[], measures: ReadonlySet<Measure>): Group {
  return {
    key: Object.fromEntries(columns.map((column) => [column, row[column]])),
    count: (row['_count'] as { _all: number })._all,
    measures: Object.fromEntries([...measures].map((measure) => [measure, row[PRISMA_NAMES[measure]]])),
  }
}
