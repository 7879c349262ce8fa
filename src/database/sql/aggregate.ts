import { isAlwaysSet, kindOf } from '../../model/definition/fields.ts'
import type { Resource } from '../../model/definition/resource.ts'
import {
  type AggregateRequest,
  forMeasures,
  type Group,
  MEASURES,
  type Measure,
} from '../../model/query/aggregate.ts'
import { leafNamed } from '../../model/query/query.ts'
import type { Columns } from '../../model/rows/row.ts'
import { rowConditions } from './filter.ts'
import { exactColumns, Parameters, quoted, quotedTable, type Statement } from './statement.ts'

/** Columns of a group. No field can have these names. */
const COUNT = 'count of group'
const TIME = 'time of group'
const RANGE = 'range of group'

/** Short, because PostgreSQL cuts names. No field begins with a digit. */
function measureColumn(measure: Measure, column: string): string {
  return `${MEASURES.indexOf(measure)} of ${column}`
}

/**
 * avg() also adds up squares, which overflow far earlier than a sum. The median is computed from halves, because the
 * difference of two numbers may overflow. Without the casts, the driver returns sums of integers as strings.
 */
const FUNCTIONS: Readonly<Record<Measure, (column: string) => string>> = {
  minimum: (column) => `min(${column})`,
  maximum: (column) => `max(${column})`,
  average: (column) => `sum(${column})::float8 / count(${column})`,
  sum: (column) => `sum(${column})::float8`,
  median: (column) => `2 * percentile_cont(0.5) WITHIN GROUP (ORDER BY ${column} * 0.5::float8)`,
  distinctCount: (column) => `count(DISTINCT ${column})::int`,
}

/** Adds exactly, with casts of a value and of the result. The median is the mean of the two in the middle. */
function exactFunctions(number: string, result: string): typeof FUNCTIONS {
  const middle = (column: string, order: string) =>
    `(percentile_disc(0.5) WITHIN GROUP (ORDER BY ${column} ${order}))${number}`
  return {
    ...FUNCTIONS,
    average: (column) => `avg(${column}${number})${result}`,
    sum: (column) => `sum(${column}${number})${result}`,
    median: (column) => `((${middle(column, 'ASC')} + ${middle(column, 'DESC')}) * 0.5)${result}`,
  }
}

const DECIMAL_FUNCTIONS = exactFunctions('', '')

/** Of doubles. A cast to numeric keeps 15 digits; a text has them all. */
const EXACT_FUNCTIONS = exactFunctions('::text::numeric', '::text')

export function aggregateStatement(resource: Resource, request: AggregateRequest): Statement {
  const { measures, limit } = request
  const parameters = new Parameters()
  const keys = keysOf(resource, request, parameters)
  const conditions = rowConditions(resource, request.rows, parameters)
  const decimals = exactColumns(resource)
  const ofDoubles = request.exact ? EXACT_FUNCTIONS : FUNCTIONS
  const computed = MEASURES.flatMap((measure) =>
    measures[measure].map((column) => {
      const functions = decimals.includes(column) ? DECIMAL_FUNCTIONS : ofDoubles
      return `${functions[measure](quoted(column))} AS ${quoted(measureColumn(measure, column))}`
    }),
  )
  const counted = `count(*)::int AS ${quoted(COUNT)}`
  const selected = keys.map(({ name, expression }) => `${expression} AS ${quoted(name)}`)
  const byCount = request.order === 'count' ? [`${quoted(COUNT)} DESC`] : []
  const order = [...byCount, ...keys.map(({ name, nulls }) => quoted(name) + nulls)]
  const groups = keys.map(({ expression }) => expression)
  const text = [
    `SELECT ${[...selected, counted, ...computed].join(', ')} FROM ${quotedTable(resource)}`,
    ...(conditions.length > 0 ? [`WHERE ${conditions.join(' AND ')}`] : []),
    ...(groups.length > 0 ? [`GROUP BY ${groups.join(', ')} ORDER BY ${order.join(', ')}`] : []),
    `LIMIT ${limit}`,
  ]
  return { text: text.join(' '), values: parameters.values }
}

/** The keys of the groups, in their order. Periods are truncated in UTC, whatever the time zone of the session. */
function keysOf(
  resource: Resource,
  { groupBy, groupByTime, groupByRange }: AggregateRequest,
  parameters: Parameters,
) {
  const fields = [...new Set(groupBy)].map((name) => leafNamed(resource, name))
  const keys = fields.map(({ column, field }) => ({
    name: column,
    expression: quoted(column),
    nulls: isAlwaysSet(field) ? '' : ' NULLS LAST',
  }))
  const nulls = ' NULLS LAST'
  if (groupByRange) {
    const { column, field } = leafNamed(resource, groupByRange.field)
    const type = kindOf(field).isExact ? 'numeric' : 'float8'
    const expression = rangeExpression(`${quoted(column)}::${type}`, type, groupByRange.bounds, parameters)
    keys.unshift({ name: RANGE, expression, nulls })
  }
  if (groupByTime) {
    const { column } = leafNamed(resource, groupByTime.field)
    const period = `date_trunc('${groupByTime.unit}', ${quoted(column)}, 'UTC')`
    keys.unshift({ name: TIME, expression: period, nulls })
  }
  return keys
}

/** The index of the number's range, from 0. LEAST, because the last range includes its upper bound. */
function rangeExpression(number: string, type: string, bounds: readonly number[], parameters: Parameters) {
  const [first, last] = [bounds[0], bounds.at(-1)].map((bound) => `${parameters.add(bound)}::${type}`)
  const bucket = `width_bucket(${number}, ${parameters.add(bounds)}::${type}[])`
  const isWithin = `${number} BETWEEN ${first} AND ${last}`
  return `CASE WHEN ${isWithin} THEN LEAST(${bucket}, ${bounds.length - 1}) - 1 END`
}

export function toGroups(
  resource: Resource,
  { groupBy, groupByTime, groupByRange, measures }: AggregateRequest,
  rows: readonly Columns[],
): Group[] {
  const columns = groupBy.map((name) => leafNamed(resource, name).column)
  const decimals = exactColumns(resource)
  return rows.map((row) => ({
    key: Object.fromEntries(columns.map((column) => [column, row[column]])),
    ...(groupByTime && { time: row[TIME] as Date | null }),
    ...(groupByRange && { range: row[RANGE] as number | null }),
    count: row[COUNT] as number,
    measures: forMeasures((measure) =>
      Object.fromEntries(
        measures[measure].map((column) => {
          const value = row[measureColumn(measure, column)]
          // Doubles that were added exactly are texts, too.
          return [column, typeof value === 'string' && !decimals.includes(column) ? Number(value) : value]
        }),
      ),
    ),
  }))
}
