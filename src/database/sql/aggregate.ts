import { isAlwaysSet } from '../../domain/model/fields.ts'
import {
  type AggregateRequest,
  type Group,
  type Measure,
  measurable,
} from '../../domain/model/query/aggregate.ts'
import { leafNamed } from '../../domain/model/query/query.ts'
import type { Leaf, Resource } from '../../domain/model/resource.ts'
import type { Columns } from '../../domain/model/row.ts'
import { filterCondition } from './filter.ts'
import { Parameters, quoted, type Statement, tableOf } from './statement.ts'

/** The column with the number of resources of a group. No field can have this name. */
const COUNT = 'count of group'

/** The column with the beginning of the period. */
const TIME = 'time of group'

/** The column with a measure of a field. */
function measureColumn(measure: Measure, column: string): string {
  return `${measure} of ${column}`
}

/** Without the casts, the driver returns sums and averages of integers as strings. */
const FUNCTIONS: Readonly<Record<Measure, (column: string) => string>> = {
  minimum: (column) => `min(${column})`,
  maximum: (column) => `max(${column})`,
  average: (column) => `avg(${column})::float8`,
  sum: (column) => `sum(${column})::float8`,
}

/** Counts and measures the groups of a collection, with one row for each group. */
export function aggregateStatement(resource: Resource, request: AggregateRequest): Statement {
  const { filter, measures, limit } = request
  const keys = keysOf(resource, request)
  const parameters = new Parameters()
  const columns = keys.map(({ column }) => quoted(column))
  const period = periodOf(resource, request)
  const grouped = [...columns, ...(period ? [period] : [])]
  const computed = [...measures].flatMap((measure) =>
    measurable(resource).map(
      ({ column }) => `${FUNCTIONS[measure](quoted(column))} AS ${quoted(measureColumn(measure, column))}`,
    ),
  )
  const times = period ? [`${period} AS ${quoted(TIME)}`] : []
  const selected = [...columns, ...times, `count(*)::int AS ${quoted(COUNT)}`, ...computed]
  const text = [
    `SELECT ${selected.join(', ')} FROM ${tableOf(resource)}`,
    ...(filter ? [`WHERE ${filterCondition(resource, filter, parameters)}`] : []),
    ...(grouped.length > 0 ? [`GROUP BY ${grouped.join(', ')} ORDER BY ${groupOrder(keys, request)}`] : []),
    `LIMIT ${limit}`,
  ]
  return { text: text.join(' '), values: parameters.values }
}

/** Truncated in UTC, whatever the zone of the session. */
function periodOf(resource: Resource, { groupByTime }: AggregateRequest): string | undefined {
  if (!groupByTime) return undefined
  const { column } = leafNamed(resource, groupByTime.field)
  return `date_trunc('${groupByTime.unit}', ${quoted(column)}, 'UTC')`
}

function groupOrder(keys: readonly Leaf[], { order, groupByTime }: AggregateRequest): string {
  const time = groupByTime ? [`${quoted(TIME)} NULLS LAST`] : []
  const byField = keys.map(
    ({ column, field }) => `${quoted(column)}${isAlwaysSet(field) ? '' : ' NULLS LAST'}`,
  )
  const byKey = [...time, ...byField]
  return (order === 'count' ? [`${quoted(COUNT)} DESC`, ...byKey] : byKey).join(', ')
}

function keysOf(resource: Resource, { groupBy }: AggregateRequest): Leaf[] {
  return [...new Set(groupBy)].map((name) => leafNamed(resource, name))
}

/** Converts the rows of {@link aggregateStatement} to groups. */
export function toGroups(resource: Resource, request: AggregateRequest, rows: readonly Columns[]): Group[] {
  const keys = keysOf(resource, request)
  return rows.map((row) => ({
    ...toGroup(row, keys, measurable(resource), request.measures),
    ...(request.groupByTime && { time: row[TIME] as Date | null }),
  }))
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
