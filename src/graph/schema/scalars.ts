import { GraphQLError, GraphQLScalarType } from 'graphql'
import { KINDS } from '../../model/kinds/index.ts'
import type { SchemaPart } from './sdl.ts'

const JSON_SCALAR = new GraphQLScalarType({ name: 'JSON', description: 'Any JSON value.' })

/** Kinds that convert their values also check them; the domain validates the others. */
const scalars = KINDS.flatMap((kind) => {
  const { scalar, check, toJson } = kind
  if (typeof scalar !== 'object') return []
  if (!toJson) return [new GraphQLScalarType(scalar)]
  const parseValue = (value: unknown) => {
    const checked = check({ type: kind.type, description: '' }, value)
    if ('value' in checked) return checked.value
    throw new GraphQLError(`A ${scalar.name} ${checked.problem}.`)
  }
  const serialize = (value: unknown) => toJson(value as never)
  return [new GraphQLScalarType({ ...scalar, parseValue, serialize })]
})

const resolvers = Object.fromEntries([...scalars, JSON_SCALAR].map((scalar) => [scalar.name, scalar]))

export const SCALARS: SchemaPart = {
  typeDefs: Object.keys(resolvers)
    .map((name) => `scalar ${name}`)
    .join('\n'),
  resolvers,
}
