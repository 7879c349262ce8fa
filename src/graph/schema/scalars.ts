import { GraphQLError, GraphQLScalarType } from 'graphql'
import { KINDS } from '../../model/fields.ts'
import type { SchemaPart } from './sdl.ts'

/** The domain validates the values of kinds that neither convert them nor have filters. */
const scalars = KINDS.flatMap((kind) => {
  const { scalar, check, toJson, operators } = kind
  if (typeof scalar !== 'object') return []
  if (!toJson && operators.length === 0) return [new GraphQLScalarType(scalar)]
  const parseValue = (value: unknown) => {
    const checked = check({ type: kind.type, description: '' }, value)
    if ('value' in checked) return checked.value
    throw new GraphQLError(`A ${scalar.name} ${checked.problem}.`)
  }
  // The items of lists are stored in their form in JSON.
  const serialize = (value: unknown) => (toJson && typeof value !== 'string' ? toJson(value as never) : value)
  return [new GraphQLScalarType({ ...scalar, parseValue, serialize })]
})

const resolvers = Object.fromEntries(scalars.map((scalar) => [scalar.name, scalar]))

export const SCALARS: SchemaPart = {
  typeDefs: Object.keys(resolvers)
    .map((name) => `scalar ${name}`)
    .join('\n'),
  resolvers,
}
