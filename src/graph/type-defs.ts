import type { Field, GroupField, LeafField } from '../domain/fields.ts'
import { operationsOf } from '../domain/operations.ts'
import { operatorsOf, queryable } from '../domain/query.ts'
import { nestedReferences, ownedBy, referencesTo, relationsOf } from '../domain/relations.ts'
import type { Leaf, Resource } from '../domain/resource.ts'
import { camelCase, graphNames, groupType, parentArgument, pascalCase, singular, sortValue } from './names.ts'

/** The types that every resource shares. */
const SHARED = /* GraphQL */ `
"Milliseconds are kept; always in UTC when answered."
scalar DateTime
"Any JSON value."
scalar JSON
"An object of name to fraction, such as a gas and its part of an atmosphere."
scalar Fractions

enum SortDirection { ASC DESC }

"What a write did."
enum WriteOutcome { CREATED REPLACED UNCHANGED }
"What a deletion did: the resource was there, or it was not."
enum DeleteOutcome { DELETED ABSENT }

type DeletePayload { outcome: DeleteOutcome! }

"A collection that the service serves."
type Collection {
  "The segment of its address, and the first half of its scopes."
  path: String!
  description: String!
}

input StringFilter { equals: String in: [String!] contains: String }
input IDFilter { equals: ID in: [ID!] }
input FloatFilter { equals: Float in: [Float!] gt: Float gte: Float lt: Float lte: Float }
input IntFilter { equals: Int in: [Int!] gt: Int gte: Int lt: Int lte: Int }
input BooleanFilter { equals: Boolean in: [Boolean!] }
input DateTimeFilter { equals: DateTime in: [DateTime!] gt: DateTime gte: DateTime lt: DateTime lte: DateTime }

type Query {
  "The collections that have an address of their own."
  collections: [Collection!]!
}
type Mutation
`

/** The whole GraphQL schema as SDL, made from the definitions (SPEC §2; descriptions are theirs). */
export function typeDefinitions(resources: readonly Resource[]): string {
  return [SHARED, ...resources.map((resource) => resourceTypes(resource, resources))].join('\n')
}

function resourceTypes(resource: Resource, resources: readonly Resource[]): string {
  return [
    objectType(resource, resources),
    ...groups(resource).map(([name, group]) => groupTypes(resource, name, group)),
    ...enumerations(resource),
    inputTypes(resource),
    queryTypes(resource),
    queries(resource),
    mutations(resource),
  ].join('\n')
}

function objectType(resource: Resource, resources: readonly Resource[]): string {
  const own = Object.entries(resource.allFields).map(
    ([name, field]) =>
      `${described(field.description)}${camelCase(name)}: ${outputType(resource, name, field)}`,
  )
  const related = relationsOf(resource, resources).map(
    ({ relation, target }) =>
      `"The resource that the ${relation} refers to."\n${camelCase(relation)}: ${target.name}`,
  )
  const { owner } = resource
  const parent = owner ? `"The parent." ${singular(owner)}: ${owner.name}` : ''
  const children = [
    ...ownedBy(resource, resources),
    ...referencesTo(resource, resources).map(({ from }) => from),
  ]
  return `${described(resource.description)}type ${resource.name} {
    ${own.join('\n')}
    "Goes up by one with every change; what ifVersion is compared with."
    version: Int!
    ${related.join('\n')}
    ${parent}
    ${children.map(childField).join('\n')}
  }`
}

function childField(child: Resource): string {
  if (!operationsOf(child).listed) {
    return `${described(child.description)}${camelCase(child.path)}: ${child.name}
    "Whether it has one; needs no scope of its own."
    has${pascalCase(child.path)}: Boolean!`
  }
  const { pageType } = graphNames(child)
  return `${described(child.description)}${camelCase(child.path)}(${pageArguments(child)}): ${pageType}!`
}

function groupTypes(resource: Resource, name: string, group: GroupField): string {
  const type = groupType(resource, name)
  const members = Object.entries(group.fields)
  const outputs = members.map(([member, field]) => memberOf(member, field, leafType(resource, member, field)))
  const inputs = outputs.join('\n')
  const filters = members.map(
    ([member, field]) => `${camelCase(member)}: ${filterType(resource, member, field)}`,
  )
  return `${described(group.description)}type ${type} { ${outputs.join('\n')} }
    ${described(group.description)}input ${type}Input { ${inputs} }
    input ${type}Filter { ${filters.join('\n')} }`
}

function enumerations(resource: Resource): string[] {
  return resource.leaves.flatMap(({ column, field }) =>
    field.type === 'enumeration'
      ? [
          `${described(field.description)}enum ${groupType(resource, column)} { ${field.values.join(' ')} }`,
          `input ${groupType(resource, column)}Filter { equals: ${groupType(resource, column)} in: [${groupType(resource, column)}!] }`,
        ]
      : [],
  )
}

function inputTypes(resource: Resource): string {
  const names = graphNames(resource)
  const fields = Object.entries(resource.allFields)
  const writable = fields.filter(([, field]) => !field.readOnly && !field.hidden)
  const readOnly = fields.filter(([, field]) => field.readOnly)
  const member =
    (full: boolean) =>
    ([name, field]: [string, Field]) =>
      memberOf(name, field, `${inputType(resource, name, field)}${full && field.required ? '!' : ''}`)
  return `"What a caller may set."
    input ${names.input} { ${writable.map(member(true)).join('\n')} }
    "A merge patch: what is null is removed, what is left out stays."
    input ${names.patchInput} { ${writable.map(member(false)).join('\n')} }
    "Read-only fields as the caller last saw them; refused with READ_ONLY_FIELD where they differ."
    input ${names.readOnlyInput} { ${readOnly.map(([name]) => `${camelCase(name)}: JSON`).join('\n')} }`
}

function queryTypes(resource: Resource): string {
  const names = graphNames(resource)
  const leaves = queryable(resource, { hidden: true })
  return `${filterInput(resource, names.filter, leaves)}
    enum ${names.sortField} { ${leaves.map(({ column }) => sortValue(column)).join(' ')} }
    input ${names.sort} { field: ${names.sortField}! direction: SortDirection! = ASC }
    "One page of a list."
    type ${names.pageType} {
      items: [${resource.name}!]!
      "1-based."
      page: Int!
      limit: Int!
      totalCount: Int!
      totalPages: Int!
      hasMore: Boolean!
    }`
}

function filterInput(resource: Resource, name: string, leaves: readonly Leaf[]): string {
  const seen = new Set(leaves.map(({ path }) => path[0] as string))
  const members = [...seen].map((outer) => {
    const field = resource.allFields[outer] as Field
    const type =
      field.type === 'group' ? `${groupType(resource, outer)}Filter` : filterType(resource, outer, field)
    return `${camelCase(outer)}: ${type}`
  })
  return `"All members that are given must hold."
    input ${name} { and: [${name}!] or: [${name}!] ${members.join('\n')} }`
}

function queries(resource: Resource): string {
  const names = graphNames(resource)
  const page = `"A page of the list." ${names.page}(${parentDefinition(resource)}${nestedDefinition(resource)}${pageArguments(resource)}): ${names.pageType}!`
  return `extend type Query {
    "One resource; an error with RESOURCE_NOT_FOUND or RESOURCE_GONE where there is none."
    ${names.read}(${addressDefinition(resource)}): ${names.type}
    ${operationsOf(resource).listed ? page : ''}
  }`
}

function mutations(resource: Resource): string {
  const names = graphNames(resource)
  const { listed, replaceable } = operationsOf(resource)
  const address = addressDefinition(resource)
  const create = `"Creates a resource with an identifier made by the service."
    ${names.create}(${parentDefinition(resource)}input: ${names.input}!): ${names.payload}!`
  const change = `"Creates or replaces the resource with this identifier."
    ${names.put}(${address}, input: ${names.input}!, ${CONDITION}, readOnly: ${names.readOnlyInput},
      "Whether it may be created." mayCreate: Boolean! = true,
      "Whether it may be replaced." mayReplace: Boolean! = true): ${names.payload}!
    "Changes the fields that the patch names."
    ${names.patch}(${address}, patch: ${names.patchInput}!, ${CONDITION}, readOnly: ${names.readOnlyInput}): ${names.payload}!`
  return `"What a write did, and the resource after it."
    type ${names.payload} { outcome: WriteOutcome! ${singular(resource)}: ${names.type}! }
    extend type Mutation {
      ${listed ? create : ''}
      ${replaceable ? change : ''}
      "Deletes the resource; when strict, one that is not there is an error."
      ${names.delete}(${address}, ${CONDITION}, strict: Boolean! = false): DeletePayload!
    }`
}

const CONDITION = '"The change happens only if the version is one of these." ifVersion: [Int!]'

function pageArguments(resource: Resource): string {
  const { sort, filter } = graphNames(resource)
  return `page: Int! = 1, limit: Int! = 20, sort: [${sort}!]! = [], filter: ${filter}`
}

function parentDefinition(resource: Resource): string {
  const parent = parentArgument(resource)
  return parent ? `${parent}: ID!, ` : ''
}

function nestedDefinition(resource: Resource): string {
  return nestedReferences(resource)
    .map(
      ({ column, field }) =>
        `"Only those of this one of the ${field.to}, which must exist." ${camelCase(column)}: ID, `,
    )
    .join('')
}

function addressDefinition(resource: Resource): string {
  return resource.kind === 'singleton'
    ? `${parentArgument(resource)}: ID!`
    : `${parentDefinition(resource)}id: ID!`
}

function memberOf(name: string, { description }: Field, type: string): string {
  return `${described(description)}${camelCase(name)}: ${type}`
}

function outputType(resource: Resource, name: string, field: Field): string {
  const type = field.type === 'group' ? groupType(resource, name) : leafType(resource, name, field)
  return field.type !== 'group' && field.required ? `${type}!` : type
}

function inputType(resource: Resource, name: string, field: Field): string {
  return field.type === 'group' ? `${groupType(resource, name)}Input` : leafType(resource, name, field)
}

function leafType(resource: Resource, name: string, field: LeafField): string {
  if (name === 'id' || name === resource.parentField) return 'ID'
  if (field.type === 'enumeration') return groupType(resource, name)
  return SCALARS[field.type]
}

function filterType(resource: Resource, name: string, field: LeafField): string {
  if (operatorsOf({ name, path: [name], column: name, field }).length === 0) return ''
  const type = leafType(resource, name, field)
  return `${type}Filter`
}

const SCALARS = {
  text: 'String',
  reference: 'ID',
  number: 'Float',
  integer: 'Int',
  boolean: 'Boolean',
  timestamp: 'DateTime',
  fractions: 'Fractions',
} as const

function groups(resource: Resource): [string, GroupField][] {
  return Object.entries(resource.fields).filter(
    (entry): entry is [string, GroupField] => entry[1].type === 'group',
  )
}

function described(description: string): string {
  return `${JSON.stringify(description)}\n`
}
