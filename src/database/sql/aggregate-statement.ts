import { type AggregateRequest, type Measure, measurable } from '../../domain/aggregate.ts'
import { isAlwaysSet } from '../../domain/model/fields.ts'
import type { Leaf, Resource } from '../../domain/model/resource.ts'
import { Parameters, quoted, tableOf } from './columns.ts'
import { filterCondition } from './filter-condition.ts'
import type { Statement } from './list-statement.ts'

/** The column that holds how many resources a group has. No field is named so. */
export const COUNT = 'count of group'

/** The column that holds a measure of a field. */
export function measureColumn(measure: Measure, column: string): string {
  return `${measure} of ${column}`
}

/** Sums and averages of integers would come as texts otherwise. */
const FUNCTIONS: Readonly<Record<Measure, (column: string) => string>> = {
  minimum: (column) => `min(${column})`,
  maximum: (column) => `max(${column})`,
  average: (column) => `avg(${column})::float8`,
  sum: (column) => `sum(${column})::float8`,
}

/** The statement that counts and measures the groups of a collection: a row for each group. */
export function aggregateStatement(
  resource: Resource,
  keys: readonly Leaf[],
  request: AggregateRequest,
): Statement {
  const { filter, measures, limit } = request
  const parameters = new Parameters()
  const columns = keys.map(({ column }) => quoted(column))
  const computed = [...measures].flatMap((measure) =>
    measurable(resource).map(
      ({ column }) => `${FUNCTIONS[measure](quoted(column))} AS ${quoted(measureColumn(measure, column))}`,
    ),
  )
  const selected = [...columns, `count(*)::int AS ${quoted(COUNT)}`, ...computed]
  const text = [
    `SELECT ${selected.join(', ')} FROM ${tableOf(resource)}`,
    ...(filter ? [`WHERE ${filterCondition(resource, filter, parameters)}`] : []),
    ...(keys.length > 0 ? [`GROUP BY ${columns.join(', ')} ORDER BY ${groupOrder(keys, request)}`] : []),
    `LIMIT ${limit}`,
  ]
  return { text: text.join(' '), values: parameters.values }
}

function groupOrder(keys: readonly Leaf[], { order }: AggregateRequest): string {
  const byKey = keys.map(({ column, field }) => `${quoted(column)}${isAlwaysSet(field) ? '' : ' NULLS LAST'}`)
  return (order === 'count' ? [`${quoted(COUNT)} DESC`, ...byKey] : byKey).join(', ')
}
