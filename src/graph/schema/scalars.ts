import { GraphQLScalarType } from 'graphql'
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars'

/** The types of values that GraphQL does not define itself. The domain checks what an object of fractions holds. */
export const scalars = {
  DateTime: new GraphQLScalarType({
    ...GraphQLDateTime.toConfig(),
    description: 'Milliseconds are kept; always in UTC when answered.',
  }),
  JSON: new GraphQLScalarType({ ...GraphQLJSON.toConfig(), description: 'Any JSON value.' }),
  Fractions: new GraphQLScalarType({
    ...GraphQLJSON.toConfig(),
    name: 'Fractions',
    description: 'An object of name to fraction, such as a gas and its part of an atmosphere.',
    specifiedByURL: null,
  }),
}

export const SCALAR_TYPES = Object.keys(scalars)
  .map((name) => `scalar ${name}`)
  .join('\n')
