import type { Leaf, Resource } from '../../model/definition/resource.ts'
import { errorAt } from '../../model/errors.ts'
import { DEFAULT_PAGE_SIZE, MAXIMUM_SORTS, type Sort, sortable } from '../../model/query/query.ts'
import { columnValue, graphNames } from '../names.ts'
import { type FilterArguments, filterArguments } from './filters.ts'
import { deprecation, described, type SchemaPart } from './sdl.ts'

export const SORT_DIRECTION: SchemaPart = {
  typeDefs: `"The direction of a sort."
    enum SortDirection {
      "Ascending." ASC
      "Descending." DESC
    }`,
  resolvers: { SortDirection: { ASC: 'asc', DESC: 'desc' } },
}

/** The internal value of the input is a {@link Sort}. */
export function sortTypes(resource: Resource): (SchemaPart | string)[] {
  const { sort, sortField } = graphNames(resource)
  return [
    columnEnumeration(sortField, `Fields to sort ${resource.path} by.`, sortable(resource.leaves)),
    `"A sort of ${resource.path}. Unset values come last in both directions."
    input ${sort} {
      "The field to sort by." field: ${sortField}!
      "The direction. Defaults to ASC." direction: SortDirection = null
    }`,
  ]
}

/** An enumeration of columns, with the wire names of the fields as internal values. */
export function columnEnumeration(name: string, description: string, leaves: readonly Leaf[]): SchemaPart {
  const values = leaves.map(
    ({ column, field }) => `${described(field.description)}${columnValue(column)}${deprecation(field)}`,
  )
  return {
    typeDefs: `${described(description)}enum ${name} { ${values.join('\n')} }`,
    resolvers: { [name]: Object.fromEntries(leaves.map((leaf) => [columnValue(leaf.column), leaf.name])) },
  }
}

export interface ListArguments extends FilterArguments {
  readonly sort?: readonly GivenSort[] | null
}

interface GivenSort extends Pick<Sort, 'field'> {
  readonly direction?: Sort['direction'] | null
}

export function listArguments(resource: Resource): string {
  return `"The order. Defaults to the order of creation." sort: [${graphNames(resource).sort}!] = null,
    ${filterArguments(resource)}`
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) for too many sorts */
export function toSorts(given: ListArguments['sort']): readonly Sort[] {
  const sorts = (given ?? []).map(({ field, direction }) => ({ field, direction: direction ?? 'asc' }))
  if (sorts.length <= MAXIMUM_SORTS) return sorts
  const message = `A list must not have more than ${MAXIMUM_SORTS} sorts.`
  throw errorAt('sort', 'TOO_LONG', 'INVALID_QUERY_PARAMETER', message)
}

/**
 * The requested number of items of a page, or the usual one.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for one out of bounds
 */
export function pageSize(limit: number | null | undefined, maximum: number): number {
  const size = limit ?? Math.min(DEFAULT_PAGE_SIZE, maximum)
  refuseOutOfBounds('limit', size, 1, maximum)
  return size
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) */
export function refuseOutOfBounds(name: string, value: number, minimum: number, maximum: number): void {
  if (value >= minimum && value <= maximum) return
  const message = `${name} must be from ${minimum} to ${maximum}.`
  throw errorAt(name, 'OUT_OF_RANGE', 'INVALID_QUERY_PARAMETER', message)
}
