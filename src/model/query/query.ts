import { type Field, isAlwaysSet, kindOf } from '../definition/fields.ts'
import type { Leaf, Resource, Values } from '../definition/resource.ts'
import type { Operator } from './operators.ts'

/** The page size of a list without a limit (SPEC §4.1). */
export const DEFAULT_PAGE_SIZE = 20

/**
 * A condition on a resource. Field names are dotted wire names; values have the type of the field. Every resource
 * matches either a filter or its `not`.
 */
export type Filter =
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly not: Filter }
  | RelatedFilter
  | WordFilter
  | FieldFilter

/** The filters that a filter consists of. */
export function partsOf(filter: Filter): readonly Filter[] {
  if ('field' in filter || 'word' in filter) return []
  if ('not' in filter) return [filter.not]
  if ('related' in filter) return [filter.related]
  return 'all' in filter ? filter.all : filter.any
}

export function countConditions(filter: Filter): number {
  if ('field' in filter) return 1
  if ('word' in filter) return filter.fields.length
  return partsOf(filter).reduce((count, part) => count + countConditions(part), 0)
}

/** The conditions on relations in a filter, each of which is a subquery. */
export function relatedFilters(filter: Filter): RelatedFilter[] {
  return 'related' in filter ? [filter] : partsOf(filter).flatMap(relatedFilters)
}

export function relatedTargets(filter: Filter): Resource[] {
  return relatedFilters(filter).map(({ target }) => target)
}

/** Whether a filter has no conditions, so it matches everything. */
export function isEmpty(filter: Filter): boolean {
  return 'all' in filter && filter.all.every(isEmpty)
}

/** The word, without white space, is in one of these fields, regardless of case. */
interface WordFilter {
  readonly fields: readonly string[]
  readonly word: string
}

export interface FieldFilter {
  readonly field: string
  readonly operator: Operator
  readonly value: unknown
}

/** Matches resources that refer to one that matches `related`. */
export interface RelatedFilter {
  readonly column: string
  readonly target: Resource
  readonly related: Filter
}

export interface Sort {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

export function queryable(leaves: readonly Leaf[]): Leaf[] {
  return leaves.filter(({ field }) => kindOf(field).operators.length > 0)
}

export function sortable(leaves: readonly Leaf[]): Leaf[] {
  return queryable(leaves).filter(({ field }) => !kindOf(field).isUnordered)
}

/** Any order has fewer. Each is compared in every row. */
export const MAXIMUM_SORTS = 16

export interface OrderStep {
  readonly leaf: Leaf
  readonly direction: 'asc' | 'desc'
  /** Whether the column may contain nulls, which come last in both directions. */
  readonly nullable: boolean
}

/**
 * Completes sorts to a total order, by default that of creation. Identifiers come last, so that pages neither skip nor repeat
 * resources, in the direction of the last sort, so that a descending list reads an index from its end.
 */
export function orderSteps(resource: Resource, sorts: readonly Sort[]): OrderStep[] {
  const wanted = sorts.length > 0 ? sorts : [{ field: resource.createdField, direction: 'asc' } as const]
  const identifiers = resource.parentField ? ['id', resource.parentField] : ['id']
  const direction = wanted.at(-1)?.direction ?? 'asc'
  const whole: Sort[] = [...wanted, ...identifiers.map((field): Sort => ({ field, direction }))]
  return whole
    .filter(({ field }, index) => whole.findIndex((other) => other.field === field) === index)
    .map(({ field, direction }) => {
      const leaf = leafNamed(resource, field)
      return { leaf, direction, nullable: !isAlwaysSet(leaf.field) }
    })
}

export function leafNamed(resource: Resource, name: string): Leaf {
  const leaf = resource.leaves.find((candidate) => candidate.name === name)
  if (!leaf) throw new TypeError(`${resource.path} has no field ${name}`)
  return leaf
}

/**
 * The filter of nested conditions: `and`, `or` and `not`, and members for fields, of which all must match.
 *
 * @param filtersOf makes the filters of the members of one level
 */
export function conditionsOf(conditions: Values, filtersOf: (members: Values) => readonly Filter[]): Filter {
  const { and, or, not, ...members } = conditions
  const nested = (parts: unknown) => (parts as Values[]).map((part) => conditionsOf(part, filtersOf))
  return {
    all: [
      ...(and ? nested(and) : []),
      ...(or ? [{ any: nested(or) }] : []),
      ...(not ? [{ not: conditionsOf(not as Values, filtersOf) }] : []),
      ...filtersOf(members),
    ],
  }
}

/** The filters of members by wire names: `{ mass: { gt: 5 } }`. Groups are nested. A member that is null has none. */
export function fieldFilters(fields: Resource['allFields'], members: Values, prefix = ''): Filter[] {
  return Object.entries(members).flatMap(([name, member]) => {
    if (member === null) return []
    const field = fields[name] as Field
    if (field.type === 'group') return fieldFilters(field.fields, member as Values, `${name}.`)
    return Object.entries(member as Values).map(([operator, value]) => {
      return { field: prefix + name, operator: operator as Operator, value }
    })
  })
}
