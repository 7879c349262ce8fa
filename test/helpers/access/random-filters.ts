import { kindOf } from '../../../src/model/definition/fields.ts'
import type { Leaf, Resource } from '../../../src/model/definition/resource.ts'
import type { Operator } from '../../../src/model/query/operators.ts'
import { queryable } from '../../../src/model/query/query.ts'
import type { Random } from './random.ts'
import { type Columns, type RandomRow, valuesOf } from './random-rows.ts'

export interface Condition {
  readonly leaf: Leaf
  readonly operator: Operator
  /** In JSON. */
  readonly value: unknown
}

/** A condition that some of the rows may match. */
export function randomCondition(
  random: Random,
  { leaves }: Pick<Resource, 'leaves'>,
  rows: readonly RandomRow[],
): Condition {
  const leaf = random.pick(queryable(leaves))
  const operator = random.pick(kindOf(leaf.field).operators)
  const own = rows.map(({ columns }) => columns[leaf.column]).filter((value) => (value ?? null) !== null)
  const one = (): unknown => {
    const value = own.length > 0 && random.chance(0.8) ? random.pick(own) : undefined
    if (value !== undefined) return value
    const { type } = leaf.field
    return type === 'reference' || ['id', 'name'].includes(leaf.name) ? 'none' : random.pick(valuesOf(leaf))
  }
  const part = (): unknown => {
    const text = String(one())
    const start = operator === 'startsWith' ? 0 : random.below(text.length)
    return text.slice(start, start + 1 + random.below(3)) || 'a'
  }
  switch (operator) {
    case 'isSet':
      return { leaf, operator, value: random.chance(0.6) }
    case 'in':
      return { leaf, operator, value: [...new Set([one(), one(), one()])] }
    case 'contains':
      if (leaf.field.type === 'list')
        return { leaf, operator, value: random.pick([one()].flat()) ?? itemOf(leaf) }
      return { leaf, operator, value: part() }
    case 'containsInsensitive': {
      const text = part() as string
      return { leaf, operator, value: random.chance(0.5) ? text.toUpperCase() : text }
    }
    case 'startsWith':
      return { leaf, operator, value: part() }
    default:
      return { leaf, operator, value: one() }
  }
}

function itemOf({ field }: Leaf): unknown {
  return field.type === 'list' && field.item.type === 'integer' ? 1 : 'shy'
}

/** A filter in wire names, as access rules return it. */
export type WireFilter = { readonly [member: string]: unknown }

/**
 * A filter of several conditions.
 *
 * @param named the name of a field in the filter
 */
export function randomFilter(
  random: Random,
  resource: Resource,
  rows: readonly RandomRow[],
  depth = 2,
  named = (name: string) => name,
): WireFilter {
  const nested = () => randomFilter(random, resource, rows, depth - 1, named)
  const members = Array.from({ length: 1 + random.below(2) }, (): WireFilter => {
    switch (
      depth > 0
        ? random.weighted([
            [5, 'field'],
            [1, 'and'],
            [2, 'or'],
            [1, 'not'],
          ])
        : 'field'
    ) {
      case 'and':
        return { and: [nested(), nested()] }
      case 'or':
        return { or: [nested(), nested(), ...(random.chance(0.3) ? [nested()] : [])] }
      case 'not':
        return { not: nested() }
      default:
        return nestedCondition(randomCondition(random, resource, rows), named)
    }
  })
  return Object.assign({}, ...members)
}

/** The link relations of a resource, each with the column that holds the identifier of its target. */
function relationsOf({ leaves, owner, parentField }: Resource) {
  const references = leaves.flatMap(({ column, field }) =>
    field.type === 'reference' ? [{ name: field.relation, column, path: field.to }] : [],
  )
  const parent = owner && { name: 'parent', column: parentField as string, path: owner.path }
  return parent ? [...references, parent] : references
}

/** The filter, often with conditions on a row that the resource refers to. */
export function withRelation(
  random: Random,
  resource: Resource,
  rows: readonly RandomRow[],
  filter: WireFilter,
  names = relationsOf(resource).map(({ name }) => name),
): WireFilter {
  const relations = relationsOf(resource).filter(({ name }) => names.includes(name))
  if (relations.length === 0 || random.chance(0.5)) return filter
  const { name, path } = random.pick(relations)
  const targets = rows.filter((row) => row.resource.path === path)
  const { resource: target } = targets[0] as RandomRow
  const condition = () => nestedCondition(randomCondition(random, target, targets), (member) => member)
  const related = { [name]: random.chance(0.7) ? condition() : { ...condition(), ...condition() } }
  return random.weighted<WireFilter>([
    [4, related],
    [2, { not: related }],
    [2, { or: [related, filter] }],
    [1, { ...filter, ...related }],
    [1, { not: { or: [filter, related] } }],
  ])
}

export function nestedCondition(
  { leaf, operator, value }: Condition,
  named: (name: string) => string,
): WireFilter {
  return leaf.path.reduceRight<WireFilter>((inner, name) => ({ [named(name)]: inner }), { [operator]: value })
}

/** The filter, some of whose operands have no value, or not that of a field. */
export function withMissing(random: Random, filter: WireFilter): WireFilter {
  const changed = (part: unknown): unknown => {
    if (random.chance(0.04)) return random.pick([null, undefined])
    if (!Array.isArray(part))
      return typeof part === 'object' && part !== null ? withMissing(random, part as WireFilter) : part
    return [...part.map(changed), ...(typeof part[0] !== 'object' && random.chance(0.2) ? [{}] : [])]
  }
  return Object.fromEntries(Object.entries(filter).map(([name, part]) => [name, changed(part)]))
}

/**
 * Whether a row matches a filter in wire names. The service has no part in this.
 *
 * @param columns undefined for a row that there is not: no condition holds for it that can be decided
 * @param rows among which are those that it refers to; none for a row that another one refers to
 */
export function holds(
  resource: Resource,
  filter: WireFilter,
  columns: Columns | undefined,
  rows: readonly RandomRow[],
  isOfNegated = false,
): boolean {
  const { leaves } = resource
  const relations = rows.length > 0 ? relationsOf(resource) : []
  // What cannot be decided counts as what makes the whole filter hold for fewer rows.
  const check = (members: unknown, prefix: readonly string[], isNegated: boolean): boolean =>
    Object.entries((members ?? { missing: null }) as WireFilter).every(([name, member]) => {
      if ((member ?? null) === null) return isNegated
      if (prefix.length === 0) {
        if (name === 'and') return (member as WireFilter[]).every((one) => check(one, [], isNegated))
        if (name === 'or') return (member as WireFilter[]).some((one) => check(one, [], isNegated))
        if (name === 'not') return !check(member, [], !isNegated)
        const relation = relations.find((one) => one.name === name)
        if (relation) {
          const { path, column } = relation
          const target = rows.find((row) => row.resource.path === path && row.id === columns?.[column])
          const { resource: to } = target ?? (rows.find((row) => row.resource.path === path) as RandomRow)
          const found = target?.isDeleted ? undefined : target?.columns
          return (found || isNegated) && holds(to, member as WireFilter, found, [], isNegated)
        }
      }
      const path = [...prefix, name]
      const leaf = leaves.find((candidate) => candidate.path.join('.') === path.join('.'))
      if (!leaf) return check(member, path, isNegated)
      return Object.entries(member as WireFilter).every(([operator, value]) => {
        if ((value ?? null) === null) return isNegated
        const valid = Array.isArray(value) ? value.filter((one) => typeof (one ?? {}) !== 'object') : value
        if (isNegated && Array.isArray(value) && (valid as unknown[]).length < value.length) return true
        return columns !== undefined && holdsOne(leaf, operator as Operator, valid, columns)
      })
    })
  return check(filter, [], isOfNegated)
}

function holdsOne({ column, field }: Leaf, operator: Operator, value: unknown, columns: Columns): boolean {
  const own = columns[column] ?? null
  if (operator === 'isSet') return (own !== null) === value
  const other = 'alsoMatches' in field && field.alsoMatches ? (columns[field.alsoMatches] ?? null) : null
  const isOneOf = (values: readonly unknown[]) =>
    [own, other].some((one) => one !== null && values.some((value) => order(field.type, one, value) === 0))
  if (operator === 'equals') return isOneOf([value])
  if (operator === 'notEquals') return !isOneOf([value])
  if (operator === 'in') return isOneOf(value as unknown[])
  if (own === null) return false
  const [text, part] = [String(own), String(value)]
  switch (operator) {
    case 'contains':
      return Array.isArray(own) ? own.includes(value) : text.includes(part)
    case 'containsInsensitive':
      return text.toLowerCase().includes(part.toLowerCase())
    case 'startsWith':
      return text.startsWith(part)
    case 'gt':
      return order(field.type, own, value) > 0
    case 'gte':
      return order(field.type, own, value) >= 0
    case 'lt':
      return order(field.type, own, value) < 0
    default:
      return order(field.type, own, value) <= 0
  }
}

function order(type: string, one: unknown, other: unknown): number {
  const comparable = (value: unknown): number | string => {
    if (type === 'decimal') return Number(value)
    if (type === 'timestamp') return Date.parse(value as string)
    return typeof value === 'boolean' ? Number(value) : (value as number | string)
  }
  const [left, right] = [comparable(one), comparable(other)]
  return left < right ? -1 : left > right ? 1 : 0
}
