import type { Field } from '../domain/fields.ts'
import { operationsOf } from '../domain/operations.ts'
import { nestedReferences } from '../domain/relations.ts'
import type { Resource } from '../domain/resource.ts'
import { inputType, memberOf } from './field-types.ts'
import { camelCase, graphNames, parentArgument, singular } from './names.ts'
import { pageArguments } from './query-types.ts'

/** The fields of Query for a resource. */
export function queries(resource: Resource): string {
  const names = graphNames(resource)
  const page = `"A page of the list." ${names.page}(${parentDefinition(resource)}${nestedDefinition(resource)}${pageArguments(resource)}): ${names.pageType}!`
  return `extend type Query {
    "One resource; an error with RESOURCE_NOT_FOUND or RESOURCE_GONE where there is none."
    ${names.read}(${addressDefinition(resource)}): ${names.type}
    ${operationsOf(resource).listed ? page : ''}
  }`
}

/** The fields of Mutation for a resource, and what they answer with. */
export function mutations(resource: Resource): string {
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

/** The types that a resource is written with. */
export function inputTypes(resource: Resource): string {
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

const CONDITION = '"The change happens only if the version is one of these." ifVersion: [Int!]'

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
