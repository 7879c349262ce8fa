import type { DatabaseClient } from '../database/client.ts'
import { aggregateStatement, COUNT, measureColumn } from '../database/sql/aggregate-statement.ts'
import { shareRead } from '../database/sql/shared-read.ts'
import { meaningOfReadError } from './database-errors.ts'
import { type Filter, leafNamed } from './model/query.ts'
import type { Leaf, Resource } from './model/resource.ts'

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
export function groupable(leaves: readonly Leaf[]): Leaf[] {
  return leaves.filter(
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
  client: DatabaseClient,
  resource: Resource,
  request: AggregateRequest,
): Promise<Group[]> {
  const keys = [...new Set(request.groupBy)].map((name) => leafNamed(resource, name))
  try {
    const rows = await shareRead<Columns>(client, aggregateStatement(resource, keys, request))
    return rows.map((row) => toGroup(row, keys, measurable(resource), request.measures))
  } catch (error) {
    throw meaningOfReadError(error)
  }
}

function toGroup(
  row: Columns,
  keys: readonly Leaf[],
  measured: readonly Leaf[],
  measures: ReadonlySet<Measure>,
): Group {
  const measuresOf = (measure: Measure) =>
    Object.fromEntries(measured.map(({ column }) => [column, row[measureColumn(measure, column)]]))
  return {
    key: Object.fromEntries(keys.map(({ column }) => [column, row[column]])),
    count: row[COUNT] as number,
    measures: Object.fromEntries([...measures].map((measure) => [measure, measuresOf(measure)])),
  }
}
