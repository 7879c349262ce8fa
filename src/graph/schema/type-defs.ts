import type { Resource } from '../../domain/model/resource.ts'
import { aggregateTypes } from './aggregate-types.ts'
import { groups } from './field-types.ts'
import { enumerations, groupTypes, objectType } from './object-types.ts'
import { inputTypes, mutations, queries } from './operation-types.ts'
import { queryTypes } from './query-types.ts'
import { SCALAR_TYPES } from './scalars.ts'

/** The types that every resource shares. */
const SHARED = /* GraphQL */ `
${SCALAR_TYPES}

"The direction of a sort."
enum SortDirection {
  "From the smallest, the earliest or the first letter on."
  ASC
  "The other way round."
  DESC
}

"The order of the groups of an aggregate."
enum GroupOrder {
  "The largest groups first."
  COUNT
  "By what the groups have in common, smallest first."
  KEY
}

"What a write did."
enum WriteOutcome {
  "It was not there, and is now."
  CREATED
  "It was changed."
  REPLACED
  "It already was what it was to be."
  UNCHANGED
}

"What a deletion did."
enum DeleteOutcome {
  "It was there, and is not any more."
  DELETED
  "It was not there."
  ABSENT
}

"What a deletion did."
type DeletePayload {
  "What was done."
  outcome: DeleteOutcome!
}

"A collection that the service serves."
type Collection {
  "The segment of its address, and the first half of its scopes."
  path: String!
  "What it is a collection of."
  description: String!
}

"Where a part of a list begins and ends (GraphQL Cursor Connections Specification §5)."
type PageInfo {
  "Whether there is more after the part. When reading backwards: whether before was given."
  hasNextPage: Boolean!
  "Whether there is more before the part. When reading forwards: whether after was given."
  hasPreviousPage: Boolean!
  "The cursor of the first of the part."
  startCursor: String
  "The cursor of the last of the part."
  endCursor: String
}

${comparison('String', '"It contains this, in the same case." contains: String')}
${comparison('ID', '"It contains this, in the same case." contains: String')}
${comparison('Float', ordered('Float'))}
${comparison('Int', ordered('Int'))}
${comparison('Boolean')}
${comparison('DateTime', ordered('DateTime'))}

"What can be read."
type Query {
  "The collections that have an address of their own."
  collections: [Collection!]!
}

"What can be changed."
type Mutation
`

function comparison(type: string, more = ''): string {
  return `"A condition on a value: all members that are given must hold, and no value meets none."
    input ${type}Filter { "It is this." equals: ${type} "It is one of these." in: [${type}!] ${more} }`
}

function ordered(type: string): string {
  return `"It is greater, or later." gt: ${type} "It is this or greater, or later." gte: ${type}
    "It is less, or earlier." lt: ${type} "It is this or less, or earlier." lte: ${type}`
}

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
    aggregateTypes(resource),
    queries(resource),
    mutations(resource),
  ].join('\n')
}
