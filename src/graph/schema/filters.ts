import { type Detail, DomainError, errorAt } from '../../domain/model/errors.ts'
import type { Field } from '../../domain/model/fields.ts'
import { type Filter, type Operator, queryable } from '../../domain/model/query/query.ts'
import type { Resource, Values } from '../../domain/model/resource.ts'
import { isInCalendar, isObject, isStorable } from '../../domain/model/values.ts'
import { graphNames, toWireNames } from '../names.ts'
import { memberOf, typeOf } from './sdl.ts'

/** The conditions on values of the types that every resource shares. */
export const VALUE_FILTERS = [
  valueFilter('String', '"It contains this, in the same case." contains: String'),
  valueFilter('ID', '"It contains this, in the same case." contains: String'),
  valueFilter('Float', comparisons('Float')),
  valueFilter('Int', comparisons('Int')),
  valueFilter('Boolean'),
  valueFilter('DateTime', comparisons('DateTime')),
].join('\n')

function valueFilter(type: string, more = ''): string {
  return `"A condition on a value: all members that are given must hold, and no value meets none."
    input ${type}Filter { ${equalities(type)} ${more} }`
}

/** The members that the filters of all types have. */
export function equalities(type: string): string {
  return `"It is this." equals: ${type} "It is one of these." in: [${type}!]`
}

function comparisons(type: string): string {
  return `"It is greater, or later." gt: ${type} "It is this or greater, or later." gte: ${type}
    "It is less, or earlier." lt: ${type} "It is this or less, or earlier." lte: ${type}`
}

/** The input type that filters the lists and aggregates of a resource. */
export function filterInput(resource: Resource): string {
  const name = graphNames(resource).filter
  const filtered = new Set(queryable(resource.leaves).map(({ path }) => path[0] as string))
  const members = Object.entries(resource.allFields)
    .filter(([field]) => filtered.has(field))
    .map(([field, definition]) => memberOf(field, definition, `${typeOf(resource, field, definition)}Filter`))
  return `"A condition on ${resource.path}: all members that are given must hold."
    input ${name} {
      "All of these must hold." and: [${name}!]
      "At least one of these must hold." or: [${name}!]
      ${members.join('\n')}
    }`
}

/** The maximum number of values in a filter: far below the number of parameters that a statement may have. */
const MAXIMUM_VALUES = 1000

/**
 * The condition that a filter argument states.
 *
 * @throws {DomainError} VALIDATION_FAILED (400) for a null in it, or a field without an operand;
 *   INVALID_QUERY_PARAMETER (400) for more than 1000 values, or a text or a time that no resource can hold
 */
export function toFilter(resource: Resource, filter: Values | null | undefined): Filter | undefined {
  if (!filter) return undefined
  refuseUnset(filter)
  refuseValues(filter)
  return conditions(resource, filter)
}

function conditions(resource: Resource, filter: Values): Filter {
  const { and, or, ...members } = filter
  const nested = (parts: unknown) => (parts as Values[]).map((part) => conditions(resource, part))
  return {
    all: [
      ...(and === undefined ? [] : nested(and)),
      ...(or === undefined ? [] : [{ any: nested(or) }]),
      ...memberFilters(resource.allFields, toWireNames(resource, members), ''),
    ],
  }
}

function memberFilters(fields: Resource['allFields'], members: Values, prefix: string): Filter[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const field = fields[name] as Field
    if (field.type === 'group') return memberFilters(field.fields, member as Values, `${name}.`)
    return Object.entries(member as Values).map(([operator, value]) => {
      return { field: prefix + name, operator: operator as Operator, value }
    })
  })
}

/**
 * Refuses conditions that lack what to compare with. Ignoring them would make a list with a condition on an
 * unset variable show everything.
 */
function refuseUnset(filter: Values): void {
  const details = unsetPaths(filter, 'filter').map((field): Detail => {
    return { field, code: 'INVALID_VALUE', message: `${field} must have a value to compare with.` }
  })
  if (details[0]) throw new DomainError('VALIDATION_FAILED', details[0].message, details)
}

/** The paths of nulls, and of fields without a condition: GraphQL leaves a variable that is not given out. */
function unsetPaths(filter: Values, path: string): string[] {
  return Object.entries(filter).flatMap(([name, member]) => {
    if (name !== 'and' && name !== 'or') return unsetOperands(member, `${path}.${name}`)
    const parts = member as readonly Values[] | null
    return (
      parts?.flatMap((part, index) => unsetPaths(part, `${path}.${name}.${index}`)) ?? [`${path}.${name}`]
    )
  })
}

function unsetOperands(value: unknown, path: string): string[] {
  if (value === null) return [path]
  if (!isObject(value)) return []
  const members = Object.entries(value)
  if (members.length === 0) return [path]
  return members.flatMap(([name, member]) => unsetOperands(member, `${path}.${name}`))
}

function refuseValues(filter: Values): void {
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
  return isObject(value) ? Object.values(value).flatMap(valuesIn) : [value]
}

function refuse(code: 'TOO_LONG' | 'INVALID_VALUE' | 'OUT_OF_RANGE', message: string): never {
  throw errorAt('filter', code, 'INVALID_QUERY_PARAMETER', message)
}
