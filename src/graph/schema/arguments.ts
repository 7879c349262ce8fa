import type { ResourceKey } from '../../model/identifiers.ts'
import type { Resource } from '../../model/resource.ts'
import { parentArgument } from '../names.ts'

export function addressArguments(resource: Resource): string {
  return `${parentArguments(resource)}${resource.kind === 'singleton' ? '' : '"Identifier of the resource." id: ID!'}`
}

/** Empty if the resource has no parent. */
export function parentArguments(resource: Resource): string {
  const parent = parentArgument(resource)
  return parent ? `"Identifier of the parent." ${parent}: ID!, ` : ''
}

export interface KeyArguments {
  readonly [argument: string]: unknown
}

export function keyReader(resource: Resource): (args: KeyArguments) => ResourceKey {
  const parent = parentArgument(resource)
  const own = resource.kind === 'singleton' ? (parent as string) : 'id'
  return (args) => ({ parentId: parent && (args[parent] as string), id: args[own] as string })
}
