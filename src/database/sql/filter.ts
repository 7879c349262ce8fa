import { kindOf, type LeafField, type TextField } from '../../model/fields.ts'
import type { Operator } from '../../model/query/operators.ts'
import { type Filter, leafNamed } from '../../model/query/query.ts'
import type { Resource } from '../../model/resource.ts'
import { type Parameters, quoted } from './statement.ts'

export function filterCondition(resource: Resource, filter: Filter, parameters: Parameters): string {
  // NOT alone is null, and so no match, where a value is unset.
  if ('not' in filter) return `(${filterCondition(resource, filter.not, parameters)} IS NOT TRUE)`
  if (!('field' in filter)) {
    const isAll = 'all' in filter
    const parts = (isAll ? filter.all : filter.any).map((part) => filterCondition(resource, part, parameters))
    if (parts.length === 0) return isAll ? 'TRUE' : 'FALSE'
    return `(${parts.join(isAll ? ' AND ' : ' OR ')})`
  }
  const { operator, value } = filter
  if (operator === 'notEquals') {
    return filterCondition(resource, { not: { ...filter, operator: 'equals' } }, parameters)
  }
  const { column, field } = leafNamed(resource, filter.field)
  const parameter = parameters.add(operandOf(field, operator, value))
  const other = (field as TextField).alsoMatches
  const compare = (operator === 'contains' && kindOf(field).contains) || COMPARISONS[operator]
  const condition = compare(quoted(column), parameter)
  if (!other || !(operator === 'equals' || operator === 'in')) return `(${condition})`
  return `(${condition} OR ${compare(quoted(other), parameter)})`
}

const COMPARISONS: Readonly<
  Record<Exclude<Operator, 'notEquals'>, (column: string, parameter: string) => string>
> = {
  equals: (column, parameter) => `${column} = ${parameter}`,
  gt: (column, parameter) => `${column} > ${parameter}`,
  gte: (column, parameter) => `${column} >= ${parameter}`,
  lt: (column, parameter) => `${column} < ${parameter}`,
  lte: (column, parameter) => `${column} <= ${parameter}`,
  in: (column, parameter) => `${column} = ANY(${parameter})`,
  isSet: (column, parameter) => `(${column} IS NOT NULL) = ${parameter}`,
  contains: (column, parameter) => `strpos(${column}, ${parameter}) > 0`,
  containsInsensitive: (column, parameter) => `strpos(${lower(column)}, ${lower(parameter)}) > 0`,
  // Unlike starts_with(), this uses an index in all versions of PostgreSQL.
  startsWith: (column, parameter) => `${column} LIKE ${parameter}`,
}

/** As `folded` in the migrations, by which names are unique. The collation of the columns only knows ASCII. */
function lower(text: string): string {
  return `lower(${text} COLLATE "default")`
}

function operandOf(field: LeafField, operator: Operator, value: unknown): unknown {
  // A pattern of LIKE in which the characters of the text are literal.
  if (operator === 'startsWith') return `${(value as string).replace(/[\\%_]/g, '\\$&')}%`
  const { operand } = kindOf(field)
  return operand && operator === 'contains' ? operand(field, value) : value
}
