import { type Client, modelOf } from '../database/client.ts'
import { DomainError } from './model/errors.ts'
import { type Address, isAddress } from './model/identifiers.ts'
import type { Resource } from './model/resource.ts'

/**
 * The error for a resource that is not there: gone when it was deleted, unknown when it never was
 * (SPEC §4.2). Costs a look-up, so it is for when the resource was not found. A malformed identifier is
 * simply unknown, and PostgreSQL is not asked: it refuses U+0000.
 */
export async function notFoundOrGone(
  client: Client,
  resource: Resource,
  address: Address,
): Promise<DomainError> {
  if (!isAddress(address)) return notFound(resource, address)
  const { parentId = '', id } = address
  const values = [resource.path, parentId, id]
  const [{ deleted } = { deleted: false }] = await client.$rows<{ deleted: boolean }>({
    text: IS_DELETED,
    values,
  })
  return deleted ? gone(resource, address) : notFound(resource, address)
}

/** A resource deleted alone or with a few others has a tombstone; one of very many is in a set of them. */
const IS_DELETED = `
  SELECT EXISTS (SELECT FROM tombstones WHERE collection = $1 AND parent_id = $2 AND id = $3)
    OR EXISTS (SELECT FROM tombstone_sets WHERE collection = $1 AND parent_id = $2 AND $3 = ANY(ids)) AS deleted`

/**
 * The error for the parent of an address, if the parent is not there. Rules run without a look at the parent,
 * so that a valid write does not pay for one; ask this when a write was refused, because a missing parent
 * takes precedence (404 and 410 come before 422).
 */
export async function parentNotFoundOrGone(
  client: Client,
  { owner }: Resource,
  { parentId }: Address,
): Promise<DomainError | undefined> {
  if (!owner || parentId === undefined) return undefined
  const parent = { id: parentId }
  return (await modelOf(client, owner).lookUp(owner, parent))
    ? undefined
    : notFoundOrGone(client, owner, parent)
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
