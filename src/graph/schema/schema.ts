import { makeExecutableSchema } from '@graphql-tools/schema'
import type { GraphQLSchema } from 'graphql'
import type { Resource } from '../../domain/model/resource.ts'
import { createResolvers } from './resolvers.ts'
import { typeDefinitions } from './type-defs.ts'

/** The executable GraphQL schema of these resources: the one that REST and dashboards both use. */
export function createSchema(resources: readonly Resource[]): GraphQLSchema {
  return makeExecutableSchema({
    typeDefs: typeDefinitions(resources),
    resolvers: createResolvers(resources) as never,
    inheritResolversFromInterfaces: false,
  })
}
