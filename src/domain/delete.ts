import { prismaModel } from '../database/extension.ts'
import { isResourceKey, keyColumns, type ResourceKey } from '../model/identifiers.ts'
import { type Precondition, requireState } from '../model/precondition.ts'
import type { Resource } from '../model/resource.ts'
import { inTransaction } from './changes.ts'
import type { WriteContext } from './context.ts'
import { deletionError } from './database-errors.ts'
import { notFoundOrGone } from './not-found.ts'
import { retry, WriteConflict } from './retry.ts'

interface DeleteOptions extends Precondition {
  /** A missing resource is an error. */
  readonly strict: boolean
}

export type Deleted = 'DELETED' | 'ABSENT'

/**
 * Deletes a resource and the resources it owns. Idempotent: a missing resource counts as deleted (SPEC §4.7).
 *
 * @throws {DomainError} DEPENDENCY_CONFLICT and CONCURRENT_MODIFICATION (409); when strict,
 *   RESOURCE_NOT_FOUND (404) and RESOURCE_GONE (410)
 */
export async function deleteResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  options: DeleteOptions,
): Promise<Deleted> {
  const outcome = isResourceKey(key) ? await retry(() => remove(context, resource, key, options)) : 'ABSENT'
  if (outcome === 'ABSENT' && options.strict) throw await notFoundOrGone(context.client, resource, key)
  return outcome
}

async function remove(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  condition: DeleteOptions,
): Promise<Deleted> {
  const before =
    condition.versions || condition.unmodifiedSince || resource.databaseRule
      ? await prismaModel(context.client, resource).findByKey(resource, key)
      : undefined
  if (before === null) return 'ABSENT'
  if (before) requireState(before, key, condition)
  try {
    return await inTransaction(context, resource, { key, before, after: undefined }, async (change) => {
      await resource.databaseRule?.(change)
      const where = { ...keyColumns(resource, key), ...(before && { version: before.version }) }
      const { count } = await prismaModel(change.client, resource).deleteMany({ where })
      if (count === 0 && before) throw new WriteConflict()
      return count === 0 ? 'ABSENT' : 'DELETED'
    })
  } catch (error) {
    throw deletionError(error, context.resources)
  }
}
