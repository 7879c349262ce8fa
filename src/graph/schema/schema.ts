import { makeExecutableSchema } from '@graphql-tools/schema'
import type { GraphQLSchema } from 'graphql'
import { operationsOf } from '../../domain/model/operations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { aggregateTypes, GROUP_ORDER } from './aggregates.ts'
import { connectionType, PAGE_INFO } from './connections.ts'
import { filterInput, VALUE_FILTERS } from './filters.ts'
import { SORT_DIRECTION, sortInput } from './lists.ts'
import { inputTypes, mutations, OUTCOMES, payloadType } from './mutations.ts'
import { enumerations, groupTypes, objectType } from './objects.ts'
import { operationFields } from './operations.ts'
import { pageType } from './pages.ts'
import { queries } from './queries.ts'
import { SCALARS } from './scalars.ts'
import type { SchemaPart } from './sdl.ts'

/** The executable GraphQL schema of these resources: the one that REST and dashboards both use. */
export function createSchema(resources: readonly Resource[]): GraphQLSchema {
  const parts = [
    SCALARS,
    SORT_DIRECTION,
    GROUP_ORDER,
    OUTCOMES,
    COLLECTION,
    PAGE_INFO,
    VALUE_FILTERS,
    roots(resources),
    ...resources.flatMap((resource) => resourceParts(resource, resources)),
  ]
  return makeExecutableSchema({
    typeDefs: parts.map(({ typeDefs }) => typeDefs).join('\n'),
    resolvers: parts.map(({ resolvers = {} }) => resolvers as never),
    inheritResolversFromInterfaces: false,
  })
}

const COLLECTION: SchemaPart = {
  typeDefs: `"A collection that the service serves."
    type Collection {
      "The segment of its address, and the first half of its scopes."
      path: String!
      "What it is a collection of."
      description: String!
    }`,
}

function roots(resources: readonly Resource[]): SchemaPart {
  return {
    typeDefs: `"What can be read."
      type Query {
        "The collections that have an address of their own."
        collections: [Collection!]!
      }
      "What can be changed."
      type Mutation`,
    resolvers: { Query: { collections: () => resources.filter(({ kind }) => kind === 'collection') } },
  }
}

/** All that the schema says of a resource (SPEC §2; descriptions are the definition's). */
function resourceParts(resource: Resource, resources: readonly Resource[]): SchemaPart[] {
  const lists = operationsOf(resource).listed
    ? [sortInput(resource), pageType(resource), connectionType(resource)]
    : []
  return [
    objectType(resource, resources),
    ...groupTypes(resource),
    ...enumerations(resource),
    inputTypes(resource),
    filterInput(resource),
    ...lists,
    aggregateTypes(resource),
    operationFields('Query', queries(resource, resources)),
    payloadType(resource),
    operationFields('Mutation', mutations(resource)),
  ]
}
