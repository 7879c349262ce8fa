import { GraphQLScalarType } from 'graphql'
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars'

/** The scalars that GraphQL does not bring along. What an object of fractions may hold, the domain checks. */
export const scalars = {
  DateTime: GraphQLDateTime,
  JSON: GraphQLJSON,
  Fractions: new GraphQLScalarType({ ...GraphQLJSON.toConfig(), name: 'Fractions' }),
}
