import {
  GraphQLError,
  type GraphQLScalarLiteralParser,
  GraphQLScalarType,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql'
import { KINDS } from '../../model/definition/fields.ts'
import type { SchemaPart } from './sdl.ts'

/** Kinds without conversion and filters need no check here: the domain validates their values. */
const scalars = KINDS.flatMap((kind) => {
  const { scalar, check, toJson, operators } = kind
  if (typeof scalar !== 'object') return []
  if (!toJson && operators.length === 0) return [new GraphQLScalarType(scalar)]
  const parse = (value: unknown, literal?: ValueNode) => {
    const checked = check({ type: kind.type, description: '' }, value)
    if ('value' in checked) return checked.value
    throw new GraphQLError(`A ${scalar.name} ${checked.problem}.`, { nodes: literal ?? null })
  }
  const parseValue = (value: unknown) => parse(value)
  const parseLiteral: GraphQLScalarLiteralParser<unknown> = (literal, variables) =>
    parse(valueFromASTUntyped(literal, variables), literal)
  // Items of lists are stored as JSON.
  const serialize = (value: unknown) => (toJson && value instanceof Date ? toJson(value as never) : value)
  return [new GraphQLScalarType({ ...scalar, parseValue, parseLiteral, serialize })]
})

const resolvers = Object.fromEntries(scalars.map((scalar) => [scalar.name, scalar]))

export const SCALARS: SchemaPart = {
  typeDefs: Object.keys(resolvers)
    .map((name) => `scalar ${name}`)
    .join('\n'),
  resolvers,
}
