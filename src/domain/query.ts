import { exactly } from './exact-number.ts'
import { isAlwaysSet, type TextField } from './fields.ts'
import type { Leaf, Resource } from './resource.ts'

/** What a filter asks of one field. The comparisons are for what has an order, `contains` for text. */
export type Operator = 'equals' | 'in' | 'contains' | 'gt' | 'gte' | 'lt' | 'lte'

/** A condition on a resource. Field names are dotted wire names; values have the type of the field. */
export type Filter =
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly field: string; readonly operator: Operator; readonly value: unknown }

export interface Sort {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

type Where = Readonly<Record<string, unknown>>

/** The operators a field can be filtered with; none for a field that holds an object. */
export function operatorsOf({ field }: Leaf): readonly Operator[] {
  switch (field.type) {
    case 'number':
    case 'integer':
    case 'timestamp':
      return ['equals', 'in', 'gt', 'gte', 'lt', 'lte']
    case 'text':
      return ['equals', 'in', 'contains']
    case 'reference':
    case 'enumeration':
      return ['equals', 'in']
    case 'boolean':
      return ['equals', 'in']
    case 'fractions':
      return []
  }
}

/** The leaves a list can be filtered and sorted by. Hidden ones are for GraphQL alone. */
export function queryable(resource: Resource, { hidden }: { hidden: boolean }): Leaf[] {
  return resource.leaves.filter((leaf) => operatorsOf(leaf).length > 0 && (hidden || !leaf.field.hidden))
}

/** The Prisma condition for a filter. */
export function toWhere(resource: Resource, filter: Filter): Where {
  if ('all' in filter) return { AND: filter.all.map((part) => toWhere(resource, part)) }
  if ('any' in filter) return { OR: filter.any.map((part) => toWhere(resource, part)) }
  const leaf = leafNamed(resource, filter.field)
  const condition = { [filter.operator]: exactly(filter.value) }
  const other = (leaf.field as TextField).alsoMatches
  if (!other || filter.operator === 'contains') return { [leaf.column]: condition }
  return { OR: [{ [leaf.column]: condition }, { [other]: condition }] }
}

/**
 * The Prisma order for sorts: nulls last whatever the direction, and the identifier at the end, so
 * that pages neither skip nor repeat. Without a sort: the order of creation.
 */
export function toOrderBy(resource: Resource, sorts: readonly Sort[]): Where[] {
  const wanted = sorts.length > 0 ? sorts : [{ field: resource.createdField, direction: 'asc' as const }]
  const order = wanted.map(({ field, direction }) => {
    const leaf = leafNamed(resource, field)
    return { [leaf.column]: isAlwaysSet(leaf.field) ? direction : { sort: direction, nulls: 'last' } }
  })
  return wanted.some(({ field }) => field === 'id') ? order : [...order, { id: 'asc' }]
}

function leafNamed(resource: Resource, name: string): Leaf {
  const leaf = resource.leaves.find((candidate) => candidate.name === name)
  if (!leaf) throw new TypeError(`${resource.path} has no field ${name}`)
  return leaf
}
