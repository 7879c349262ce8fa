import { GraphQLScalarType } from 'graphql'
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars'
import type { SchemaPart } from './sdl.ts'

const resolvers = {
  DateTime: new GraphQLScalarType({
    ...GraphQLDateTime.toConfig(),
    description: 'Milliseconds are kept; always in UTC when answered.',
  }),
  JSON: new GraphQLScalarType({ ...GraphQLJSON.toConfig(), description: 'Any JSON value.' }),
  Fractions: new GraphQLScalarType({
    ...GraphQLJSON.toConfig(),
    name: 'Fractions',
    description: 'An object whose members are fractions from 0 to 1, by name.',
    specifiedByURL: null,
  }),
}

/** The scalars that GraphQL does not define. The domain validates objects of fractions. */
export const SCALARS: SchemaPart = {
  typeDefs: Object.keys(resolvers)
    .map((name) => `scalar ${name}`)
    .join('\n'),
  resolvers,
}
