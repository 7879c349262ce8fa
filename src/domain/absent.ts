import { DomainError } from './errors.ts'
import { isAddress } from './identifiers.ts'
import type { Resource } from './resource.ts'
import { type Address, buriedVersion, type Client } from './store.ts'

/**
 * The error for a resource that is not there: gone when it was deleted, unknown when it never was
 * (SPEC §4.2). Costs a look-up, so it is for when the resource was not found. A malformed identifier is
 * simply unknown, and PostgreSQL is not asked: it refuses U+0000.
 */
export async function absenceOf(client: Client, resource: Resource, address: Address): Promise<DomainError> {
  if (!isAddress(address)) return notFound(resource, address)
  const version = await buriedVersion(client, resource, address)
  return version === undefined ? notFound(resource, address) : gone(resource, address)
}

/** RESOURCE_NOT_FOUND (404), with the advice that fits the operation, if any. */
export function notFound(resource: Resource, { id }: Address, advice = ''): DomainError {
  const message = `There is no resource ${quoted(id)} in ${resource.path}.${advice && ` ${advice}`}`
  return new DomainError('RESOURCE_NOT_FOUND', message)
}

function gone(resource: Resource, { id }: Address): DomainError {
  return new DomainError('RESOURCE_GONE', `The resource ${quoted(id)} in ${resource.path} was deleted.`)
}

/** Identifiers that are too long or malformed can be asked for; the answer need not repeat them whole. */
function quoted(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id)
}
