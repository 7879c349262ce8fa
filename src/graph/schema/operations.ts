import type { GraphQLFieldResolver } from 'graphql'
import type { Address } from '../../domain/model/identifiers.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { GraphContext } from '../execution/context.ts'
import { parentArgument } from '../names.ts'
import { type Argument, fieldOf, type SchemaPart } from './sdl.ts'

/** The requests of REST on a resource (SPEC §4). */
export type RestRequest = 'list' | 'read' | 'create' | 'put' | 'patch' | 'remove'

/**
 * One operation of a resource. From it come the field of the schema with its resolver, and the document that
 * REST runs.
 */
export interface OperationField {
  readonly name: string
  readonly description: string
  readonly arguments: readonly Argument[]
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: each has arguments of its own
  readonly resolve: GraphQLFieldResolver<any, GraphContext, any>
  /** Absent where no request of REST is translated into it. */
  readonly rest?: RestUse
}

/** How a request of REST is translated into an operation. */
export interface RestUse {
  readonly request: RestRequest
  /** The member of the data that holds the result. */
  readonly result: string
  /** The arguments that are variables, in this order. */
  readonly variables: readonly string[]
  /** What is selected, under wire names. */
  readonly selection: string
}

/** The fields that operations add to Query or to Mutation. */
export function operationFields(
  root: 'Query' | 'Mutation',
  operations: readonly OperationField[],
): SchemaPart {
  const fields = operations.map(({ name, description, arguments: args, type }) =>
    fieldOf(name, description, args, type),
  )
  return {
    typeDefs: `extend type ${root} { ${fields.join('\n')} }`,
    resolvers: { [root]: Object.fromEntries(operations.map(({ name, resolve }) => [name, resolve])) },
  }
}

/** The arguments that say where one resource is. */
export function addressArguments(resource: Resource): Argument[] {
  const id = { name: 'id', description: 'Its identifier.', type: 'ID!' }
  return resource.kind === 'singleton' ? parentArguments(resource) : [...parentArguments(resource), id]
}

/** The argument that says whose resource it is, where there is a parent. */
export function parentArguments(resource: Resource): Argument[] {
  const name = parentArgument(resource)
  return name === undefined ? [] : [{ name, description: 'Identifier of the parent.', type: 'ID!' }]
}

/** What operations on one resource are asked with. */
export interface AddressArguments {
  readonly [argument: string]: unknown
}

/** The address that the arguments state. */
export function toAddress(resource: Resource, args: AddressArguments): Address {
  const argument = parentArgument(resource)
  const parentId = argument ? (args[argument] as string) : undefined
  return { parentId, id: resource.kind === 'singleton' ? (parentId as string) : (args['id'] as string) }
}
