import type { Field } from '../../domain/model/fields.ts'
import { operationsOf } from '../../domain/model/operations.ts'
import { nestedReferences } from '../../domain/model/relations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { camelCase, graphNames, parentArgument, singular } from '../names.ts'
import { aggregateArguments } from './aggregate-types.ts'
import { inputType, memberOf } from './field-types.ts'
import { connectionArguments, pageArguments } from './query-types.ts'

/** The fields of Query for a resource. They may be null, so that one that fails leaves the others be. */
export function queries(resource: Resource): string {
  const names = graphNames(resource)
  const parents = parentDefinition(resource) + nestedDefinition(resource)
  const lists = `"A page of ${resource.path}."
    ${names.page}(${parents}${pageArguments(resource)}): ${names.pageType}
    "A part of ${resource.path}, by cursors."
    ${names.connection}(${parents}${connectionArguments(resource)}): ${names.connectionType}`
  return `extend type Query {
    "One of ${resource.path}; an error with RESOURCE_NOT_FOUND or RESOURCE_GONE where there is none."
    ${names.read}(${addressDefinition(resource)}): ${names.type}
    ${operationsOf(resource).listed ? lists : ''}
    "The ${resource.path} counted and measured, whole or in groups."
    ${names.aggregate}(${aggregateArguments(resource)}): ${names.aggregateType}
  }`
}

/** The fields of Mutation for a resource, and what they answer with: null for one that fails. */
export function mutations(resource: Resource): string {
  const names = graphNames(resource)
  const { listed, replaceable } = operationsOf(resource)
  const address = addressDefinition(resource)
  const create = `"Creates a resource with an identifier made by the service."
    ${names.create}(${parentDefinition(resource)}${INPUT} input: ${names.input}!,
      "${KEY}" idempotencyKey: String): ${names.payload}`
  const change = `"Creates or replaces the resource with this identifier."
    ${names.put}(${address}, ${INPUT} input: ${names.input}!, ${CONDITION}, ${READ_ONLY} readOnly: ${names.readOnlyInput},
      "Whether it may be created." mayCreate: Boolean! = true,
      "Whether it may be replaced." mayReplace: Boolean! = true): ${names.payload}
    "Changes the fields that the patch names."
    ${names.patch}(${address}, "The changes." patch: ${names.patchInput}!,
      ${CONDITION}, ${READ_ONLY} readOnly: ${names.readOnlyInput}): ${names.payload}`
  return `"What a write did, and the resource after it."
    type ${names.payload} {
      "What was done." outcome: WriteOutcome!
      "What it is now." ${singular(resource)}: ${names.type}!
    }
    extend type Mutation {
      ${listed ? create : ''}
      ${replaceable ? change : ''}
      "Deletes the resource; when strict, one that is not there is an error."
      ${names.delete}(${address}, ${CONDITION},
        "Whether it is an error that it is not there." strict: Boolean! = false): DeletePayload
    }`
}

const KEY = 'The same key with the same input creates once, and is answered the same each time.'

/** The types that a resource is written with. */
export function inputTypes(resource: Resource): string {
  const names = graphNames(resource)
  const fields = Object.entries(resource.allFields)
  const writable = Object.entries(resource.writableFields)
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
    input ${names.readOnlyInput} { ${readOnly.map(([name, field]) => memberOf(name, field, 'JSON')).join('\n')} }`
}

const INPUT = '"What it is to be."'
const READ_ONLY = '"Read-only fields as last seen."'
const CONDITION = '"The change happens only if the version is one of these." ifVersion: [Int!]'

function parentDefinition(resource: Resource): string {
  const parent = parentArgument(resource)
  return parent ? `"Identifier of the parent." ${parent}: ID!, ` : ''
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
    ? `"Identifier of the parent." ${parentArgument(resource)}: ID!`
    : `${parentDefinition(resource)}"Its identifier." id: ID!`
}
