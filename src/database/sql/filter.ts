import type { TextField } from '../../model/fields.ts'
import { type Filter, leafNamed, type Operator } from '../../model/query/query.ts'
import type { Resource } from '../../model/resource.ts'
import { type Parameters, quoted } from './statement.ts'

/** Compiles a filter to an SQL condition. */
export function filterCondition(resource: Resource, filter: Filter, parameters: Parameters): string {
  if ('all' in filter) return joined(resource, filter.all, ' AND ', 'TRUE', parameters)
  if ('any' in filter) return joined(resource, filter.any, ' OR ', 'FALSE', parameters)
  const { column, field } = leafNamed(resource, filter.field)
  const parameter = parameters.add(filter.value)
  const other = (field as TextField).alsoMatches
  const condition = comparison(quoted(column), filter.operator, parameter)
  if (!other || filter.operator === 'contains') return condition
  return `(${condition} OR ${comparison(quoted(other), filter.operator, parameter)})`
}

function joined(
  resource: Resource,
  parts: readonly Filter[],
  operator: string,
  empty: string,
  parameters: Parameters,
): string {
  const conditions = parts.map((part) => filterCondition(resource, part, parameters))
  return conditions.length === 0 ? empty : `(${conditions.join(operator)})`
}

function comparison(column: string, operator: Operator, parameter: string): string {
  switch (operator) {
    case 'in':
      return `${column} = ANY(${parameter})`
    case 'contains':
      return `strpos(${column}, ${parameter}) > 0`
    default:
      return `${column} ${COMPARISONS[operator]} ${parameter}`
  }
}

const COMPARISONS = { equals: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const
