import { DomainError } from '../../domain/model/errors.ts'
import { decodeCursor } from '../../domain/model/keyset.ts'
import type { ListRequest } from '../../domain/model/list.ts'
import type { Sort } from '../../domain/model/query.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { ConnectionArguments, SortArgument } from './arguments.ts'
import { toFilter } from './filters.ts'

/** How many a connection answers with that is not told how many. */
export const DEFAULT_SIZE = 20

/**
 * What the arguments of a connection ask for.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for a number out of bounds, for both `first` and
 *   `last`, for what is no cursor of this list, or a filter that cannot be
 */
export function toConnectionRequest(
  resource: Resource,
  { first, last, after, before, sort, filter }: ConnectionArguments,
  maximumPageSize: number,
  counted: boolean,
): ListRequest {
  if (first !== undefined && first !== null) refuseOutOfBounds('first', first, 0, maximumPageSize)
  if (last !== undefined && last !== null) {
    refuseOutOfBounds('last', last, 0, maximumPageSize)
    if (first !== undefined && first !== null) refuse('last', 'Give first or last, not both.')
  }
  const sorts = toSorts(sort)
  const position = (cursor: string | null | undefined, argument: string) =>
    cursor === undefined || cursor === null ? undefined : decodeCursor(resource, sorts, cursor, argument)
  return {
    sorts,
    filter: toFilter(resource, filter),
    take: first ?? last ?? Math.min(DEFAULT_SIZE, maximumPageSize),
    after: position(after, 'after'),
    before: position(before, 'before'),
    fromEnd: typeof last === 'number',
    counted,
  }
}

/**
 * Throws for a number that is not within bounds, and is silent otherwise.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400)
 */
export function refuseOutOfBounds(name: string, value: number, minimum: number, maximum: number): void {
  if (value >= minimum && value <= maximum) return
  const message = `${name} must be from ${minimum} to ${maximum}.`
  throw new DomainError('INVALID_QUERY_PARAMETER', message, [{ field: name, code: 'OUT_OF_RANGE', message }])
}

function refuse(field: string, message: string): never {
  throw new DomainError('INVALID_QUERY_PARAMETER', message, [{ field, code: 'INVALID_VALUE', message }])
}

/** The sorts of a list, as the domain knows them. */
export function toSorts(sorts: readonly SortArgument[]): Sort[] {
  return sorts.map(({ field, direction }) => ({ field, direction: direction === 'ASC' ? 'asc' : 'desc' }))
}
