import { type Detail, type DetailCode, DomainError, errorAt } from '../../model/errors.ts'
import { type Field, kindOf } from '../../model/fields.ts'
import { KINDS } from '../../model/kinds/index.ts'
import { type Operator, operatorDefinition } from '../../model/query/operators.ts'
import { countConditions, type Filter, queryable } from '../../model/query/query.ts'
import { checkSearch, MAXIMUM_SEARCH, searchFilter } from '../../model/query/search.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { isObject, isStorable } from '../../model/values.ts'
import { viewOf } from '../../model/versions/views.ts'
import { graphNames, toWireNames } from '../names.ts'
import { filterTypeOf, memberOf, scalarName, typeOf } from './sdl.ts'

/** The types of operands; `$` is the type of the value. */
const OPERANDS = { values: '[$!]', text: 'String', boolean: 'Boolean' } as const

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
      (
        type,
      ) => `"Conditions on a list. All given conditions must match. An unset list matches only isSet: false."
      input ${type}ListFilter {
        "One of the items is equal to this value." contains: ${type}
        "${operatorDefinition('isSet').description}" isSet: Boolean
      }`,
    )
    .join('\n')
}

export function valueFilter(type: string, operators: readonly Operator[]): string {
  const members = operators.map((operator) => {
    const { description, operand } = operatorDefinition(operator)
    const operandType = operand ? OPERANDS[operand].replace('$', type) : type
    return `"${description}" ${operator}: ${operandType}`
  })
  return `"Conditions on a value. All given conditions must match. An unset value matches only notEquals and isSet: false."
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
      "This condition must not match." not: ${name}
      ${members.join('\n')}
    }`
}

/** Well below the number of parameters that a statement may have. */
const MAXIMUM_VALUES = 1000

/** Each condition may be checked for every row. */
const MAXIMUM_CONDITIONS = 100

/** The arguments that select items of a list. */
export interface FilterArguments {
  readonly filter?: Values | null
  readonly search?: string | null
  readonly apiVersion?: string | null
}

export function filterArguments(resource: Resource): string {
  const { words, characters } = MAXIMUM_SEARCH
  return `"Only items that match this condition." filter: ${graphNames(resource).filter},
    "Only items with all of these words in their texts, regardless of case. At most ${words} words and ${characters} characters." search: String${
      resource.isVersioned ? ', "Version of the API whose texts are searched." apiVersion: ApiVersion' : ''
    }`
}

/**
 * The condition of the arguments of a list.
 *
 * @throws {DomainError} VALIDATION_FAILED (400) for a null in the filter; INVALID_QUERY_PARAMETER (400) for too many
 *   values, conditions or words, or a text that cannot be stored
 */
export function toFilter(resource: Resource, args: FilterArguments): Filter | undefined {
  const { filter, search } = args
  if (filter) refuseValues(filter)
  const checked = checkSearch(search ?? '')
  if ('problem' in checked) refuse('search', checked.code, `search ${checked.problem}.`)
  return combined(resource, args, filter && refuseConditions(toConditions(resource, filter)))
}

/** The same without checks. */
export function uncheckedFilter(resource: Resource, args: FilterArguments): Filter | undefined {
  return combined(resource, args, args.filter && toConditions(resource, args.filter))
}

function combined(
  resource: Resource,
  { search, apiVersion }: FilterArguments,
  condition: Filter | null | undefined,
): Filter | undefined {
  const searched = search ? searchFilter(viewOf(resource, apiVersion ?? undefined), search) : undefined
  // Without a condition, the stored count of the collection serves.
  const all = [condition, searched].filter((part) => !!part && !('all' in part && part.all.length === 0))
  return all.length > 1 ? { all: all as Filter[] } : (all[0] ?? undefined)
}

/** Conditions without a value are omitted: GraphQL omits the members whose variables are not given. */
function toConditions(resource: Resource, filter: Values): Filter {
  const { and, or, not, ...members } = filter
  const nested = (parts: unknown) => (parts as Values[]).map((part) => toConditions(resource, part))
  return {
    all: [
      ...(and ? nested(and) : []),
      ...(or ? [{ any: nested(or) }] : []),
      ...(not ? [{ not: toConditions(resource, not as Values) }] : []),
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

function nullPaths(value: unknown, path: string): string[] {
  if (value === null) return [path]
  if (typeof value !== 'object' || value instanceof Date) return []
  return Object.entries(value).flatMap(([name, member]) => nullPaths(member, `${path}.${name}`))
}

function refuseValues(filter: Values): void {
  const nulls = nullPaths(filter, 'filter').map((field): Detail => {
    return { field, code: 'INVALID_VALUE', message: `${field} must have a value to compare with.` }
  })
  if (nulls[0]) throw new DomainError('VALIDATION_FAILED', nulls[0].message, nulls)
  const values = valuesIn(filter)
  if (values.length > MAXIMUM_VALUES) {
    refuse('filter', 'TOO_LONG', `A filter must not have more than ${MAXIMUM_VALUES} values.`)
  }
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) {
    refuse('filter', 'INVALID_VALUE', 'A filter must not contain U+0000 or a lone surrogate.')
  }
}

function refuseConditions(condition: Filter): Filter {
  if (countConditions(condition) <= MAXIMUM_CONDITIONS) return condition
  const message = `A filter must not have more than ${MAXIMUM_CONDITIONS} conditions. One condition with in takes several values.`
  refuse('filter', 'TOO_LONG', message)
}

function valuesIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(valuesIn)
  return isObject(value) ? Object.values(value).flatMap(valuesIn) : [value]
}

function refuse(argument: string, code: DetailCode, message: string): never {
  throw errorAt(argument, code, 'INVALID_QUERY_PARAMETER', message)
}
