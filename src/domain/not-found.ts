import type { Client } from '../database/client.ts'
import { prismaModel } from '../database/extension.ts'
import { DomainError } from '../model/errors.ts'
import { isResourceKey, type ResourceKey } from '../model/identifiers.ts'
import type { Resource } from '../model/resource.ts'

/**
 * The error for a missing resource: RESOURCE_GONE if it was deleted, otherwise RESOURCE_NOT_FOUND
 * (SPEC §4.2). Costs a query, except for a malformed identifier, in which PostgreSQL would refuse U+0000.
 */
export async function notFoundOrGone(
  client: Client,
  resource: Resource,
  key: ResourceKey,
): Promise<DomainError> {
  if (!isResourceKey(key)) return resourceNotFound(resource, key)
  const { parentId = '', id } = key
  const values = [resource.path, parentId, id]
  const [{ deleted } = { deleted: false }] = await client.$rows<{ deleted: boolean }>({
    text: IS_DELETED,
    values,
  })
  if (!deleted) return resourceNotFound(resource, key)
  return new DomainError('RESOURCE_GONE', `The resource ${quoted(id)} in ${resource.path} was deleted.`)
}

/** Each deleted resource has a tombstone; those of a mass deletion share a set. */
const IS_DELETED = `
  SELECT EXISTS (SELECT FROM tombstones WHERE collection = $1 AND parent_id = $2 AND id = $3)
    OR EXISTS (SELECT FROM tombstone_sets WHERE collection = $1 AND parent_id = $2 AND $3 = ANY(ids)) AS deleted`

/**
 * The error for the parent of a key, if the parent is missing. Writes do not look up the parent first;
 * call this after a violated rule, because a missing parent takes precedence (404 and 410 before 422).
 */
export async function parentNotFoundOrGone(
  client: Client,
  { owner }: Resource,
  { parentId }: ResourceKey,
): Promise<DomainError | undefined> {
  if (!owner || parentId === undefined) return undefined
  const parent = { id: parentId }
  return (await prismaModel(client, owner).findByKey(owner, parent))
    ? undefined
    : notFoundOrGone(client, owner, parent)
}

/** RESOURCE_NOT_FOUND (404), with advice for the operation, if any. */
export function resourceNotFound(resource: Resource, { id }: ResourceKey, advice = ''): DomainError {
  const message = `There is no resource ${quoted(id)} in ${resource.path}.${advice && ` ${advice}`}`
  return new DomainError('RESOURCE_NOT_FOUND', message)
}

/** Requested identifiers may be malformed; the message does not repeat long ones in full. */
function quoted(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id)
}
