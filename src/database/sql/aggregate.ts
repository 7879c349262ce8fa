import { isAlwaysSet, kindOf } from '../../model/fields.ts'
import {
  type AggregateRequest,
  forMeasures,
  type Group,
  MEASURES,
  type Measure,
} from '../../model/query/aggregate.ts'
import { leafNamed } from '../../model/query/query.ts'
import type { Leaf, Resource } from '../../model/resource.ts'
import type { Columns } from '../../model/row.ts'
import { filterCondition } from './filter.ts'
import { Parameters, quoted, quotedTable, type Statement } from './statement.ts'

/** The column with the number of resources of a group. No field can have this name. */
const COUNT = 'count of group'

const TIME = 'time of group'

/** Short, because PostgreSQL cuts names. No field begins with a digit. */
function measureColumn(measure: Measure, column: string): string {
  return `${MEASURES.indexOf(measure)} of ${column}`
}

/** The exact mean of the two values in the middle, which are one if their number is odd. */
function exactMedian(column: string, type = ''): string {
  const middle = (order: string) => `(percentile_disc(0.5) WITHIN GROUP (ORDER BY ${column} ${order}))${type}`
  return `(${middle('ASC')} + ${middle('DESC')}) * 0.5`
}

/**
 * An average is a sum divided, because avg() adds up squares as well, which overflow far earlier. A median is that of
 * halves, because the difference of two numbers may overflow. Without the casts, the driver returns sums of integers as
 * strings.
 */
const FUNCTIONS: Readonly<Record<Measure, (column: string) => string>> = {
  minimum: (column) => `min(${column})`,
  maximum: (column) => `max(${column})`,
  average: (column) => `sum(${column})::float8 / count(${column})`,
  sum: (column) => `sum(${column})::float8`,
  median: (column) => `2 * percentile_cont(0.5) WITHIN GROUP (ORDER BY ${column} * 0.5::float8)`,
  distinctCount: (column) => `count(DISTINCT ${column})::int`,
}

/** Of exact numbers, whose texts the driver does not convert. */
const DECIMAL_FUNCTIONS: typeof FUNCTIONS = {
  ...FUNCTIONS,
  average: (column) => `avg(${column})`,
  sum: (column) => `sum(${column})`,
  median: (column) => exactMedian(column),
}

/** A cast to numeric keeps 15 digits; a text has them all. */
const EXACT_FUNCTIONS: typeof FUNCTIONS = {
  ...FUNCTIONS,
  average: (column) => `avg(${column}::text::numeric)::text`,
  sum: (column) => `sum(${column}::text::numeric)::text`,
  median: (column) => `(${exactMedian(column, '::text::numeric')})::text`,
}

export function aggregateStatement(resource: Resource, request: AggregateRequest): Statement {
  const { filter, measures, limit } = request
  const decimals = decimalColumns(resource)
  const ofDoubles = request.exact ? EXACT_FUNCTIONS : FUNCTIONS
  const keys = keysOf(resource, request)
  const parameters = new Parameters()
  const columns = keys.map(({ column }) => quoted(column))
  const period = periodOf(resource, request)
  const grouped = [...columns, ...(period ? [period] : [])]
  const computed = MEASURES.flatMap((measure) =>
    measures[measure].map((column) => {
      const functions = decimals.has(column) ? DECIMAL_FUNCTIONS : ofDoubles
      return `${functions[measure](quoted(column))} AS ${quoted(measureColumn(measure, column))}`
    }),
  )
  const times = period ? [`${period} AS ${quoted(TIME)}`] : []
  const selected = [...columns, ...times, `count(*)::int AS ${quoted(COUNT)}`, ...computed]
  const text = [
    `SELECT ${selected.join(', ')} FROM ${quotedTable(resource)}`,
    ...(filter ? [`WHERE ${filterCondition(resource, filter, parameters)}`] : []),
    ...(grouped.length > 0 ? [`GROUP BY ${grouped.join(', ')} ORDER BY ${groupOrder(keys, request)}`] : []),
    `LIMIT ${limit}`,
  ]
  return { text: text.join(' '), values: parameters.values }
}

/** Truncated in UTC, in any time zone of the session. */
function periodOf(resource: Resource, { groupByTime }: AggregateRequest): string | undefined {
  if (!groupByTime) return undefined
  const { column } = leafNamed(resource, groupByTime.field)
  return `date_trunc('${groupByTime.unit}', ${quoted(column)}, 'UTC')`
}

function groupOrder(keys: readonly Leaf[], { order, groupByTime }: AggregateRequest): string {
  const byKey = [
    ...(groupByTime ? [`${quoted(TIME)} NULLS LAST`] : []),
    ...keys.map(({ column, field }) => `${quoted(column)}${isAlwaysSet(field) ? '' : ' NULLS LAST'}`),
  ]
  return (order === 'count' ? [`${quoted(COUNT)} DESC`, ...byKey] : byKey).join(', ')
}

function keysOf(resource: Resource, { groupBy }: AggregateRequest): Leaf[] {
  return [...new Set(groupBy)].map((name) => leafNamed(resource, name))
}

export function toGroups(resource: Resource, request: AggregateRequest, rows: readonly Columns[]): Group[] {
  const keys = keysOf(resource, request)
  const decimals = decimalColumns(resource)
  return rows.map((row) => ({
    key: Object.fromEntries(keys.map(({ column }) => [column, row[column]])),
    ...(request.groupByTime && { time: row[TIME] as Date | null }),
    count: row[COUNT] as number,
    measures: forMeasures((measure) =>
      Object.fromEntries(
        request.measures[measure].map((column) => {
          const value = row[measureColumn(measure, column)]
          return [column, decimals.has(column) ? value : toNumber(value)]
        }),
      ),
    ),
  }))
}

/** The columns whose numbers are texts. */
function decimalColumns({ leaves }: Resource): ReadonlySet<string> {
  return new Set(leaves.filter(({ field }) => kindOf(field).isExact).map(({ column }) => column))
}

/** Results added exactly are texts. */
function toNumber(value: unknown): unknown {
  return typeof value === 'string' ? Number(value) : value
}
