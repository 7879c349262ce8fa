import type { Resource } from '../domain/resource.ts'
import { groups } from './field-types.ts'
import { enumerations, groupTypes, objectType } from './object-types.ts'
import { inputTypes, mutations, queries } from './operation-types.ts'
import { queryTypes } from './query-types.ts'

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
