import { kindOf, type TextField } from '../../model/fields.ts'
import { type Filter, leafNamed, type Operator } from '../../model/query/query.ts'
import type { Resource } from '../../model/resource.ts'
import { type Parameters, quoted } from './statement.ts'

export function filterCondition(resource: Resource, filter: Filter, parameters: Parameters): string {
  if (!('field' in filter)) {
    const isAll = 'all' in filter
    const parts = (isAll ? filter.all : filter.any).map((part) => filterCondition(resource, part, parameters))
    if (parts.length === 0) return isAll ? 'TRUE' : 'FALSE'
    return `(${parts.join(isAll ? ' AND ' : ' OR ')})`
  }
  const { column, field } = leafNamed(resource, filter.field)
  const { contains, operand } = kindOf(field)
  const parameter = parameters.add(operand ? operand(field, filter.value) : filter.value)
  const other = (field as TextField).alsoMatches
  const compare = (filter.operator === 'contains' && contains) || COMPARISONS[filter.operator]
  const condition = compare(quoted(column), parameter)
  if (!other || filter.operator === 'contains') return condition
  return `(${condition} OR ${compare(quoted(other), parameter)})`
}

const COMPARISONS: Readonly<Record<Operator, (column: string, parameter: string) => string>> = {
  equals: (column, parameter) => `${column} = ${parameter}`,
  gt: (column, parameter) => `${column} > ${parameter}`,
  gte: (column, parameter) => `${column} >= ${parameter}`,
  lt: (column, parameter) => `${column} < ${parameter}`,
  lte: (column, parameter) => `${column} <= ${parameter}`,
  in: (column, parameter) => `${column} = ANY(${parameter})`,
  contains: (column, parameter) => `strpos(${column}, ${parameter}) > 0`,
}
