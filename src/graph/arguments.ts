import { DomainError } from '../domain/errors.ts'
import type { Field } from '../domain/fields.ts'
import type { Filter, Operator, Sort } from '../domain/query.ts'
import type { PageRequest } from '../domain/read.ts'
import type { Resource, Values } from '../domain/resource.ts'
import { camelCase } from './names.ts'

/** Values as GraphQL has them: in camel case. */
export type InputValues = { readonly [field: string]: unknown }

/** The arguments of every list. */
export interface PageArguments {
  readonly page: number
  readonly limit: number
  readonly sort: readonly { readonly field: string; readonly direction: 'ASC' | 'DESC' }[]
  readonly filter?: InputValues | null
}

/** Input values under their wire names, which is how the domain knows them. */
export function toWireNames(resource: Resource, input: InputValues): Values {
  return renamed(resource.allFields, input)
}

function renamed(fields: Readonly<Record<string, Field>>, input: InputValues): Values {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = input[camelCase(name)]
    if (value === undefined) continue
    values[name] =
      field.type === 'group' && value !== null ? renamed(field.fields, value as InputValues) : value
  }
  return values
}

/**
 * What a list's arguments ask for.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for a page or a limit out of bounds
 */
export function toPageRequest(resource: Resource, args: PageArguments, maximumPageSize: number): PageRequest {
  const { page, limit, sort, filter } = args
  refuseOutOfBounds('page', page, 2147483647)
  refuseOutOfBounds('limit', limit, maximumPageSize)
  const sorts = sort.map(
    ({ field, direction }): Sort => ({ field, direction: direction === 'ASC' ? 'asc' : 'desc' }),
  )
  return { page, limit, sorts, filter: filter ? toFilter(resource, filter) : undefined }
}

function refuseOutOfBounds(name: string, value: number, maximum: number): void {
  if (value >= 1 && value <= maximum) return
  const message = `${name} must be from 1 to ${maximum}.`
  throw new DomainError('INVALID_QUERY_PARAMETER', message, [{ field: name, code: 'OUT_OF_RANGE', message }])
}

function toFilter(resource: Resource, filter: InputValues): Filter {
  const { and, or, ...members } = filter
  const nested = (parts: unknown) => (parts as InputValues[]).map((part) => toFilter(resource, part))
  return {
    all: [
      ...(and ? nested(and) : []),
      ...(or ? [{ any: nested(or) }] : []),
      ...memberFilters(resource.allFields, members, ''),
    ],
  }
}

function memberFilters(
  fields: Readonly<Record<string, Field>>,
  members: InputValues,
  prefix: string,
): Filter[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const member = members[camelCase(name)] as InputValues | null | undefined
    if (!member) return []
    if (field.type === 'group') return memberFilters(field.fields, member, `${name}.`)
    return Object.entries(member)
      .filter(([, value]) => value !== null)
      .map(([operator, value]) => ({ field: prefix + name, operator: operator as Operator, value }))
  })
}
