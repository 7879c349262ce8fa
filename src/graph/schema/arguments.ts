import type { ResourceKey } from '../../model/identifiers.ts'
import type { Resource } from '../../model/resource.ts'
import { parentArgument } from '../names.ts'

/** The arguments for the key of one resource, as SDL. */
export function addressArguments(resource: Resource): string {
  return `${parentArguments(resource)}${resource.kind === 'singleton' ? '' : '"Identifier of the resource." id: ID!'}`
}

/** The argument for the identifier of the parent, as SDL. Empty where there is no parent. */
export function parentArguments(resource: Resource): string {
  const parent = parentArgument(resource)
  return parent ? `"Identifier of the parent." ${parent}: ID!, ` : ''
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
