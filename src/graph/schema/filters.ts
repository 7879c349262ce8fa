import { type Detail, DomainError, errorAt } from '../../model/errors.ts'
import { type Field, kindOf } from '../../model/fields.ts'
import { KINDS } from '../../model/kinds/index.ts'
import { countConditions, type Filter, type Operator, queryable } from '../../model/query/query.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { isObject, isStorable } from '../../model/values.ts'
import { graphNames, toWireNames } from '../names.ts'
import { filterTypeOf, memberOf, scalarName, typeOf } from './sdl.ts'

/** The description of each operator and the type of its operand; `$` is the type of the value. */
const OPERATORS: Readonly<Record<Operator, readonly [description: string, operand?: string]>> = {
  equals: ['Equal to this value.'],
  in: ['Equal to one of these values.', '[$!]'],
  contains: ['Contains this text, case-sensitive.', 'String'],
  gt: ['Greater or later than this value.'],
  gte: ['Greater or later than this value, or equal.'],
  lt: ['Less or earlier than this value.'],
  lte: ['Less or earlier than this value, or equal.'],
}

export function valueFilters(): string {
  const filters = KINDS.flatMap(({ scalar, operators }): [string, string][] =>
    scalar && operators.length > 0 ? [[scalarName(scalar), valueFilter(scalarName(scalar), operators)]] : [],
  )
  return [...new Map(filters).values()].join('\n')
}

/** The conditions on the lists of these resources. */
export function listFilters(resources: readonly Resource[]): string {
  const types = resources.flatMap((resource) =>
    resource.leaves.flatMap(({ name, field }) => {
      const item = kindOf(field).itemOf?.(field) as Field | undefined
      return item ? [typeOf(resource, name, item)] : []
    }),
  )
  return [...new Set(types)]
    .map(
      (type) => `"Conditions on a list. An unset list matches none."
      input ${type}ListFilter { "One of the items is equal to this value." contains: ${type} }`,
    )
    .join('\n')
}

export function valueFilter(type: string, operators: readonly Operator[]): string {
  const members = operators.map((operator) => {
    const [description, operand = '$'] = OPERATORS[operator]
    return `"${description}" ${operator}: ${operand.replace('$', type)}`
  })
  return `"Conditions on a value. All given conditions must match; an unset value matches none."
    input ${type}Filter { ${members.join(' ')} }`
}

export function filterInput(resource: Resource): string {
  const name = graphNames(resource).filter
  const filtered = new Set(queryable(resource.leaves).map(({ path }) => path[0] as string))
  const members = Object.entries(resource.allFields)
    .filter(([field]) => filtered.has(field))
    .map(([field, definition]) => memberOf(field, definition, filterTypeOf(resource, field, definition)))
  return `"Conditions on ${resource.path}. All given conditions must match."
    input ${name} {
      "All of these conditions must match." and: [${name}!]
      "At least one of these conditions must match." or: [${name}!]
      ${members.join('\n')}
    }`
}

/** Well below the number of parameters that a statement may have. */
const MAXIMUM_VALUES = 1000

/** Each condition may be checked for every row. */
const MAXIMUM_CONDITIONS = 100

/**
 * The condition of a filter argument.
 *
 * @throws {DomainError} VALIDATION_FAILED (400) for a null in it, or a field without an operand;
 *   INVALID_QUERY_PARAMETER (400) for too many values or conditions, or a text that cannot be stored
 */
export function toFilter(resource: Resource, filter: Values | null | undefined): Filter | undefined {
  if (!filter) return undefined
  // Ignoring conditions without a value would show everything if a variable is not set.
  const unset = unsetMembers(filter, 'filter').map((field): Detail => {
    return { field, code: 'INVALID_VALUE', message: `${field} must have a value to compare with.` }
  })
  if (unset[0]) throw new DomainError('VALIDATION_FAILED', unset[0].message, unset)
  refuseValues(filter)
  const condition = toConditions(resource, filter)
  if (countConditions(condition) > MAXIMUM_CONDITIONS) {
    const message = `A filter must not have more than ${MAXIMUM_CONDITIONS} conditions. One condition with in takes several values.`
    refuse('TOO_LONG', message)
  }
  return condition
}

/** The same without checks. Conditions without a value are omitted. */
export function toConditions(resource: Resource, filter: Values): Filter {
  const { and, or, ...members } = filter
  const nested = (parts: unknown) => (parts as Values[]).map((part) => toConditions(resource, part))
  return {
    all: [
      ...(and ? nested(and) : []),
      ...(or ? [{ any: nested(or) }] : []),
      ...memberFilters(resource.allFields, toWireNames(resource, members), ''),
    ],
  }
}

function memberFilters(fields: Resource['allFields'], members: Values, prefix: string): Filter[] {
  return Object.entries(members).flatMap(([name, member]) => {
    if (member === null) return []
    const field = fields[name] as Field
    if (field.type === 'group') return memberFilters(field.fields, member as Values, `${name}.`)
    return Object.entries(member as Values).map(([operator, value]) => {
      return { field: prefix + name, operator: operator as Operator, value }
    })
  })
}

function unsetMembers(filter: Values, path: string): string[] {
  return Object.entries(filter).flatMap(([name, member]) => unsetPaths(member, `${path}.${name}`))
}

/** The paths of nulls, and of fields without a condition: GraphQL omits a member whose variable is not set. */
function unsetPaths(value: unknown, path: string): string[] {
  if (value === null) return [path]
  // The parts of `and` and `or` may be empty.
  if (Array.isArray(value)) {
    return value.flatMap((part, index) => (isObject(part) ? unsetMembers(part, `${path}.${index}`) : []))
  }
  if (!isObject(value)) return []
  return Object.keys(value).length === 0 ? [path] : unsetMembers(value, path)
}

function refuseValues(filter: Values): void {
  const values = valuesIn(filter)
  if (values.length > MAXIMUM_VALUES) {
    refuse('TOO_LONG', `A filter must not have more than ${MAXIMUM_VALUES} values.`)
  }
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) {
    refuse('INVALID_VALUE', 'A filter must not contain U+0000 or a lone surrogate.')
  }
}

function valuesIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(valuesIn)
  return isObject(value) ? Object.values(value).flatMap(valuesIn) : [value]
}

function refuse(code: 'TOO_LONG' | 'INVALID_VALUE' | 'OUT_OF_RANGE', message: string): never {
  throw errorAt('filter', code, 'INVALID_QUERY_PARAMETER', message)
}
