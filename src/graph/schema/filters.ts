import { DomainError } from '../../domain/model/errors.ts'
import type { Field } from '../../domain/model/fields.ts'
import type { Filter, Operator } from '../../domain/model/query.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { isInCalendar, isStorable } from '../../domain/model/values.ts'
import { camelCase } from '../names.ts'
import type { InputValues } from './arguments.ts'

/** Values that a filter may compare with, all in all: far more than anybody writes, far fewer than a database takes. */
const MAXIMUM_VALUES = 1000

/**
 * The condition that a filter argument means.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for more than 1000 values, or a text or a time that
 *   no resource can hold
 */
export function toFilter(resource: Resource, filter: InputValues | null | undefined): Filter | undefined {
  if (!filter) return undefined
  refuseValues(filter)
  return conditions(resource, filter)
}

function conditions(resource: Resource, filter: InputValues): Filter {
  const { and, or, ...members } = filter
  const nested = (parts: unknown) => (parts as InputValues[]).map((part) => conditions(resource, part))
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

function refuseValues(filter: InputValues): void {
  const values = valuesIn(filter)
  if (values.length > MAXIMUM_VALUES) {
    refuse('TOO_LONG', `A filter must not have more than ${MAXIMUM_VALUES} values; this one has more.`)
  }
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) {
    refuse('INVALID_VALUE', 'A filter must not hold U+0000 or half of a surrogate pair.')
  }
  if (values.some((value) => value instanceof Date && !isInCalendar(value))) {
    refuse('OUT_OF_RANGE', 'A filter must not hold a time outside the years 1 to 9999.')
  }
}

function valuesIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(valuesIn)
  const isObject = typeof value === 'object' && value !== null && !(value instanceof Date)
  return isObject ? Object.values(value).flatMap(valuesIn) : [value]
}

function refuse(code: 'TOO_LONG' | 'INVALID_VALUE' | 'OUT_OF_RANGE', message: string): never {
  throw new DomainError('INVALID_QUERY_PARAMETER', message, [{ field: 'filter', code, message }])
}
