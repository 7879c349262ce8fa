import type { Listing } from '../../domain/session/reader.ts'
import type { ReadableRows } from '../../model/access/access.ts'
import { type Field, KINDS, kindOf } from '../../model/definition/fields.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { viewOf } from '../../model/definition/views.ts'
import { type Detail, type DetailCode, DomainError, errorAt } from '../../model/errors.ts'
import { type Operator, operatorDefinition } from '../../model/query/operators.ts'
import {
  conditionsOf,
  countConditions,
  type Filter,
  fieldFilters,
  isEmpty,
  queryable,
} from '../../model/query/query.ts'
import { checkSearch, MAXIMUM_SEARCH, searchFilter } from '../../model/query/search.ts'
import { graphNames, groupType, toWireNames } from '../names.ts'
import { titleRelations, toOneRelations } from './related.ts'
import { deprecation, filterTypeOf, memberOf, scalarName, typeOf } from './sdl.ts'

/** `$` is the type of the value. */
const OPERANDS = { values: '[$!]', text: 'String', boolean: 'Boolean' } as const

export function valueFilters(): string {
  const filters = KINDS.flatMap(({ scalar, operators }): [string, string][] =>
    scalar && operators.length > 0 ? [[scalarName(scalar), valueFilter(scalarName(scalar), operators)]] : [],
  )
  return [...new Map(filters).values()].join('\n')
}

/** The conditions on fields that are lists. */
export function listFilters(resources: readonly Resource[]): string {
  const types = resources.flatMap((resource) =>
    resource.leaves.flatMap(({ path, column, field }) => {
      const item = kindOf(field).itemOf?.(field) as Field | undefined
      return item ? [typeOf(resource, path.at(-1) as string, item, column)] : []
    }),
  )
  return [...new Set(types)].map(listFilter).join('\n')
}

function listFilter(type: string): string {
  return `"Conditions on a list. All given conditions must match. An unset list matches only isSet: false."
    input ${type}ListFilter {
      "One of the items is equal to this value." contains: ${type}
      "${operatorDefinition('isSet').description}" isSet: Boolean
    }`
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

/** None for a group of members that no filter can compare, such as JSON. */
export function groupFilter(resource: Resource, group: string): string[] {
  const leaves = queryable(resource.leaves).filter(({ path: [outer, inner] }) => outer === group && inner)
  const members = leaves.map(({ path: [, name = ''], column, field }) =>
    memberOf(name, field, filterTypeOf(resource, name, field, column)),
  )
  if (members.length === 0) return []
  const about = '"Conditions on its members. All given conditions must match."'
  return [`${about} input ${groupType(resource, group)}Filter { ${members.join('\n')} }`]
}

/** The filter of a resource, and the filter over relations to it, which has no relations itself. */
export function filterInputs(resource: Resource, resources: readonly Resource[]): string {
  const { filter, relatedFilter } = graphNames(resource)
  const filtered = new Set(queryable(resource.leaves).map(({ path }) => path[0] as string))
  const members = Object.entries(resource.allFields)
    .filter(([field]) => filtered.has(field))
    .map(([field, definition]) => memberOf(field, definition, filterTypeOf(resource, field, definition)))
  const relations = toOneRelations(resource, resources).map(
    ({ name, target, field }) =>
      `"Conditions on the ${name}. It must exist. Requires the scope to read ${target.path}."
      ${name}: ${graphNames(target).relatedFilter}${deprecation(field)}`,
  )
  const isTarget = resources.some((one) =>
    toOneRelations(one, resources).some(({ target }) => target === resource),
  )
  const related = isTarget ? conditionsInput(relatedFilter, resource, members) : ''
  return `${conditionsInput(filter, resource, [...members, ...relations])} ${related}`
}

function conditionsInput(name: string, { path }: Resource, members: readonly string[]): string {
  return `"Conditions on ${path}. All given conditions must match."
    input ${name} {
      "All of these conditions must match." and: [${name}!]
      "At least one of these conditions must match." or: [${name}!]
      "This condition must not match." not: ${name}
      ${members.join('\n')}
    }`
}

/** Well below the maximum number of parameters of a statement. */
export const MAXIMUM_VALUES = 1000

/** Each condition may be checked for every row. */
const MAXIMUM_CONDITIONS = 100

export interface FilterArguments {
  readonly filter?: Values | null
  readonly search?: string | null
  readonly apiVersion?: string | null
}

export function filterArguments(resource: Resource): string {
  const { words, characters } = MAXIMUM_SEARCH
  return `"Only items that match this condition." filter: ${graphNames(resource).filter},
    "Only items with all of these words in their texts, regardless of case. At most ${words} words and ${characters} characters." search: String${
      resource.hasApiVersions ? ', "Version of the API whose texts are searched." apiVersion: ApiVersion' : ''
    }`
}

/**
 * The rows that match a filter and a search.
 *
 * @throws {DomainError} VALIDATION_FAILED (400) for a null in the filter; INVALID_QUERY_PARAMETER (400) for too many
 *   values, conditions or words, or a text that cannot be stored; ACCESS_DENIED (403) for the target of a relation, or a field
 */
export function matchingRows(listing: Listing, args: FilterArguments): ReadableRows {
  const { resource, resources } = listing
  const { filter, search } = args
  if (filter) refuseValues(filter)
  const checked = checkSearch(search ?? '')
  if ('problem' in checked) refuse('search', checked.code, `search ${checked.problem}.`)
  const condition = filterFrom(resource, { filter: filter ?? null }, resources)
  if (condition && countConditions(condition) > MAXIMUM_CONDITIONS) {
    const message = `A filter must not have more than ${MAXIMUM_CONDITIONS} conditions. One condition with in takes several values.`
    refuse('filter', 'TOO_LONG', message)
  }
  return listing.rows(
    search ? filterFrom(resource, args, resources, listing.view(args.apiVersion), listing.shown) : condition,
  )
}

/** The filter of arguments, unchecked. A search looks at the texts of the view. */
export function filterFrom(
  resource: Resource,
  { filter, search, apiVersion }: FilterArguments,
  resources: readonly Resource[],
  view = viewOf(resource, apiVersion ?? undefined),
  shown: Listing['shown'] = (target) => [target],
): Filter | undefined {
  const condition = filter && toConditions(resource, filter, resources)
  const titled = titleRelations(view, resources).flatMap(({ column, target }) =>
    shown(target).map((one) => ({ column, target, shown: one })),
  )
  const searched = search ? searchFilter(view, search, titled) : undefined
  // Without a filter, the stored count of the collection is used.
  const all = [condition, searched].filter((part) => !!part && !isEmpty(part))
  return all.length > 1 ? { all: all as Filter[] } : (all[0] ?? undefined)
}

/**
 * Omits conditions without a value, since GraphQL omits members whose variables are not given. Without `resources`, the
 * filter has no relations.
 */
function toConditions(resource: Resource, filter: Values, resources: readonly Resource[]): Filter {
  return conditionsOf(filter, (level) => {
    const members: Record<string, unknown> = { ...level }
    const related = toOneRelations(resource, resources).flatMap(({ name, column, target }): Filter[] => {
      const conditions = toConditions(target, (members[name] ?? {}) as Values, [])
      delete members[name]
      return isEmpty(conditions) ? [] : [{ column, target, related: conditions }]
    })
    return [...fieldFilters(resource.allFields, toWireNames(resource, members)), ...related]
  })
}

function valuesIn(value: unknown, path: string): { readonly field: string; readonly value: unknown }[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [{ field: path, value }]
  return Object.entries(value).flatMap(([name, member]) => valuesIn(member, `${path}.${name}`))
}

function refuseValues(filter: Values): void {
  const values = valuesIn(filter, 'filter')
  const nulls = values.filter(({ value }) => value === null)
  const details = nulls.map(({ field }): Detail => {
    return { field, code: 'INVALID_VALUE', message: `${field} must have a value to compare with.` }
  })
  if (details[0]) throw new DomainError('VALIDATION_FAILED', details[0].message, details)
  if (values.length > MAXIMUM_VALUES) {
    refuse('filter', 'TOO_LONG', `A filter must not have more than ${MAXIMUM_VALUES} values.`)
  }
}

function refuse(argument: string, code: DetailCode, message: string): never {
  throw errorAt(argument, code, 'INVALID_QUERY_PARAMETER', message)
}
