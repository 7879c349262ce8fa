import { readList, readListOf } from '../../domain/read.ts'
import { errorAt } from '../../model/errors.ts'
import { type List, type ListRequest, passesOf } from '../../model/query/list.ts'
import { queryable, type Sort } from '../../model/query/query.ts'
import type { Leaf, Resource, Values } from '../../model/resource.ts'
import type { GraphContext } from '../execution/context.ts'
import { columnValue, graphNames } from '../names.ts'
import { deprecation, described, type SchemaPart } from './sdl.ts'

// Pages and connections share this: the order, the filter, and the read.

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
    columnEnumeration(sortField, `Fields to sort ${resource.path} by.`, queryable(resource.leaves)),
    `"A sort of ${resource.path}. Unset values come last in both directions."
    input ${sort} {
      "The field to sort by." field: ${sortField}!
      "The direction." direction: SortDirection! = ASC
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

export interface ListArguments {
  readonly sort: readonly Sort[]
  readonly filter?: Values | null
}

export function listArguments(resource: Resource): string {
  const { sort, filter } = graphNames(resource)
  return `"The order. Defaults to the order of creation." sort: [${sort}!]! = [],
    "Only items that match this condition." filter: ${filter}`
}

/** The list behind a field: a whole collection, or the part that belongs to one parent. */
export interface ListSource {
  readonly resource: Resource
  /** The owner of the listed resources, or the resource that they refer to, with its identifier. */
  readonly parent?: { readonly resource: Resource; readonly id: string } | undefined
  /** Whether the parent is known to exist. Then its list is read together with the lists of other parents. */
  readonly isBatched?: boolean
}

/** Reads a part of a list. Later look-ups of single resources use its rows. */
export async function readSource(
  { resource, parent, isBatched = false }: ListSource,
  request: ListRequest,
  { reader, connections, loaders }: GraphContext,
): Promise<List> {
  const read = () =>
    parent
      ? readListOf(reader, parent.resource, resource, parent.id, request)
      : readList(reader, resource, request)
  const list =
    parent && isBatched
      ? await loaders.list(parent.resource, resource, parent.id, request)
      : await connections.read(
          { resource, passes: passesOf(request), run: read },
          { client: reader, key: readKey(resource, parent, request) },
        )
  loaders.remember(resource, list.rows)
  return list
}

/** Equal reads have the same key. */
function readKey(resource: Resource, parent: ListSource['parent'], request: ListRequest): string {
  const place = parent ? `${parent.resource.path} ${JSON.stringify(parent.id)}` : ''
  return `${resource.path} ${place} ${JSON.stringify(request)}`
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) for a number out of bounds */
export function refuseOutOfBounds(name: string, value: number, minimum: number, maximum: number): void {
  if (value >= minimum && value <= maximum) return
  const message = `${name} must be from ${minimum} to ${maximum}.`
  throw errorAt(name, 'OUT_OF_RANGE', 'INVALID_QUERY_PARAMETER', message)
}
