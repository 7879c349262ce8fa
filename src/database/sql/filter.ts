import type { ReadableRows } from '../../model/access/access.ts'
import { kindOf, type LeafField } from '../../model/definition/fields.ts'
import type { Leaf, Resource } from '../../model/definition/resource.ts'
import type { TextField } from '../../model/kinds/text.ts'
import type { Operator } from '../../model/query/operators.ts'
import { type FieldFilter, type Filter, leafNamed } from '../../model/query/query.ts'
import { searchable, searchExpression } from '../../model/query/search.ts'
import { type Parameters, quoted, quotedTable } from './statement.ts'

/** The conditions of the rows that a caller may read, and of those that match its filter. */
export function rowConditions(
  resource: Resource,
  { readable, filter }: ReadableRows,
  parameters: Parameters,
): string[] {
  const filters = [readable, filter].filter((one) => one !== undefined)
  return filters.map((one) => filterCondition(resource, one, parameters))
}

export function filterCondition(resource: Resource, filter: Filter, parameters: Parameters): string {
  // NOT alone is null where a value is unset, and so no match.
  if ('not' in filter) return `(${filterCondition(resource, filter.not, parameters)} IS NOT TRUE)`
  if ('related' in filter) {
    const target = filter.target
    const condition = filterCondition(target, filter.related, parameters)
    // Unlike EXISTS, this reads the target at most once, even within OR and NOT.
    return `(${quoted(filter.column)} IN (SELECT id FROM ${quotedTable(target)} WHERE ${condition}))`
  }
  if ('word' in filter) {
    const leaves = filter.fields.map((name) => leafNamed(resource, name))
    return `(${containsWord(leaves, filter.word, parameters)})`
  }
  if (!('field' in filter)) {
    const isAll = 'all' in filter
    const parts = (isAll ? filter.all : filter.any).map((part) => filterCondition(resource, part, parameters))
    if (parts.length === 0) return isAll ? 'TRUE' : 'FALSE'
    return `(${parts.join(isAll ? ' AND ' : ' OR ')})`
  }
  const { operator, value } = filter
  const leaf = leafNamed(resource, filter.field)
  const { column, field } = leaf
  const other = (field as TextField).alsoMatches
  if (operator === 'notEquals') {
    // An index finds these, which helps if most resources have the value.
    const others: Filter[] = (['lt', 'gt'] as const).map((side) => ({ ...filter, operator: side }))
    const unset: Filter = { ...filter, operator: 'isSet', value: false }
    const isIndexed = field.index && !kindOf(field).isUnordered && !other
    const same: Filter = { not: { ...filter, operator: 'equals' } }
    return filterCondition(resource, isIndexed ? { any: [...others, unset] } : same, parameters)
  }
  const parameter = parameters.add(operandOf(field, operator, value))
  const compare = (operator === 'contains' && kindOf(field).contains) || COMPARISONS[operator]
  const condition = compare(quoted(column), parameter)
  if (usesSearchIndex(resource, leaf, filter))
    return `(${condition} AND ${containsWord(searchable(resource), value as string, parameters)})`
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

/**
 * Whether to add the condition of the search index, which that of the field implies. The beginning of a text has a better
 * index. Σ has two lower cases, depending on what follows it, so a part of a text may fold differently.
 */
function usesSearchIndex(resource: Resource, leaf: Leaf, { operator, value }: FieldFilter): boolean {
  const isPart = operator === 'contains' || operator === 'containsInsensitive'
  if (!resource.searchIndex || !(isPart || (operator === 'startsWith' && !leaf.field.index))) return false
  return searchable(resource).includes(leaf) && !(value as string).includes('Σ')
}

/** The expression is that of the search index, if the resource has one. */
function containsWord(leaves: readonly Leaf[], word: string, parameters: Parameters): string {
  const columns = leaves.map(({ column }) => quoted(column))
  return `${searchExpression(columns)} ILIKE ${parameters.add(`%${escapedPattern(word)}%`)}`
}

/** Like `folded` in the migrations, which compares unique names. The collation of the columns only knows ASCII. */
function lower(text: string): string {
  return `lower(${text} COLLATE "default")`
}

function operandOf(field: LeafField, operator: Operator, value: unknown): unknown {
  if (operator === 'startsWith') return `${escapedPattern(value as string)}%`
  const { operand } = kindOf(field)
  return operand && operator === 'contains' ? operand(field, value) : value
}

function escapedPattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
