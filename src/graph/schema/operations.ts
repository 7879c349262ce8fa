import type { ResourceKey } from '../../domain/model/identifiers.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { parentArgument } from '../names.ts'
import type { SchemaField } from './sdl.ts'

/** The requests of REST on a resource (SPEC §4). */
export type RestRequest = 'list' | 'read' | 'create' | 'put' | 'patch' | 'remove'

/**
 * One operation of a resource: a field of Query or Mutation with its resolver. The document that REST runs is
 * derived from it.
 */
export interface OperationField extends SchemaField {
  /** Absent where REST does not use the operation. */
  readonly rest?: {
    readonly request: RestRequest
    readonly root: 'query' | 'mutation'
    /** The member of the data that holds the result. */
    readonly result: string
    /** The arguments that are variables, besides the parent's identifier, in this order. */
    readonly variables: readonly string[]
    /** The selected fields, under wire names. */
    readonly selection: string
  }
}

/** The arguments for the key of one resource, as SDL. */
export function addressArguments(resource: Resource): string {
  return `${parentArguments(resource)}${resource.kind === 'singleton' ? '' : '"Its identifier." id: ID!'}`
}

/** The argument for the identifier of the parent, as SDL. Empty where there is no parent. */
export function parentArguments(resource: Resource): string {
  const parent = parentArgument(resource)
  return parent ? `"Identifier of the parent." ${parent}: ID!, ` : ''
}

/** The variables of REST for the key of one resource, besides the parent's identifier. */
export function addressVariables({ kind }: Resource): string[] {
  return kind === 'singleton' ? [] : ['id']
}

/** Arguments that hold the key of a resource, among others. */
export interface KeyArguments {
  readonly [argument: string]: unknown
}

/** Makes the function that reads the key of a resource from arguments. */
export function keyReader(resource: Resource): (args: KeyArguments) => ResourceKey {
  const parent = parentArgument(resource)
  const own = resource.kind === 'singleton' ? (parent as string) : 'id'
  return (args) => ({ parentId: parent && (args[parent] as string), id: args[own] as string })
}
