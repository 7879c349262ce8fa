import { exactly } from './exact-number.ts'
import { isAlwaysSet, type TextField } from './fields.ts'
import type { Leaf, Resource } from './resource.ts'

/** What a filter asks of one field. The comparisons are for what has an order, `contains` for text. */
export type Operator = 'equals' | 'in' | 'contains' | 'gt' | 'gte' | 'lt' | 'lte'

/** A condition on a resource. Field names are dotted wire names; values have the type of the field. */
export type Filter = { readonly all: readonly Filter[] } | { readonly any: readonly Filter[] } | FieldFilter

interface FieldFilter {
  readonly field: string
  readonly operator: Operator
  readonly value: unknown
}

export interface Sort {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

/** A Prisma condition. */
export type Where = Readonly<Record<string, unknown>>

/** The operators a field can be filtered with; none for a field that holds an object. */
export function operatorsOf({ field }: Leaf): readonly Operator[] {
  switch (field.type) {
    case 'number':
    case 'integer':
    case 'timestamp':
      return ['equals', 'in', 'gt', 'gte', 'lt', 'lte']
    case 'text':
    case 'reference':
      return ['equals', 'in', 'contains']
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
  const other = (leaf.field as TextField).alsoMatches
  if (!other || filter.operator === 'contains') return columnWhere(leaf.column, leaf, filter)
  return { OR: [columnWhere(leaf.column, leaf, filter), columnWhere(other, leaf, filter)] }
}

function columnWhere(column: string, { field }: Leaf, { operator, value }: FieldFilter): Where {
  if (operator === 'contains') return { [column]: { contains: literally(value as string) } }
  // Prisma has no `in` for booleans.
  if (operator === 'in' && field.type === 'boolean') {
    return { OR: (value as boolean[]).map((one) => ({ [column]: one })) }
  }
  return { [column]: { [operator]: exactly(value) } }
}

/** Prisma makes `contains` a LIKE, and leaves the characters that mean something there to the caller. */
function literally(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** One column of an order. */
export interface OrderStep {
  readonly leaf: Leaf
  readonly direction: 'asc' | 'desc'
  /** Whether there may be nulls in the column. They come last, whatever the direction. */
  readonly nullable: boolean
}

/**
 * The whole order that sorts ask for: with the identifiers at the end, so that no two resources have
 * the same place, and pages neither skip nor repeat. Without a sort: the order of creation.
 */
export function orderSteps(resource: Resource, sorts: readonly Sort[]): OrderStep[] {
  const wanted = sorts.length > 0 ? sorts : [{ field: resource.createdField, direction: 'asc' } as const]
  const identifiers = resource.parentField ? ['id', resource.parentField] : ['id']
  const whole: Sort[] = [...wanted, ...identifiers.map((field): Sort => ({ field, direction: 'asc' }))]
  return whole
    .filter(({ field }, index) => whole.findIndex((other) => other.field === field) === index)
    .map(({ field, direction }) => {
      const leaf = leafNamed(resource, field)
      return { leaf, direction, nullable: !isAlwaysSet(leaf.field) }
    })
}

/** The Prisma order for an order; backwards where a list is read from its end. */
export function toOrderBy(steps: readonly OrderStep[], backwards = false): Where[] {
  return steps.map(({ leaf, direction, nullable }) => {
    const sort = (direction === 'asc') === backwards ? 'desc' : 'asc'
    return { [leaf.column]: nullable ? { sort, nulls: backwards ? 'first' : 'last' } : sort }
  })
}

/** The leaf with a dotted wire name. */
export function leafNamed(resource: Resource, name: string): Leaf {
  const leaf = resource.leaves.find((candidate) => candidate.name === name)
  if (!leaf) throw new TypeError(`${resource.path} has no field ${name}`)
  return leaf
}
