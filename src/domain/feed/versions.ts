import type { Client } from '../../database/client.ts'
import { DomainError } from '../../model/errors.ts'
import { isResourceKey, type ResourceKey } from '../../model/identifiers.ts'
import type { Resource } from '../../model/resource.ts'
import { notFoundOrGone, resourceNotFound } from '../not-found.ts'
import type { Source } from './change-feed.ts'
import { type RecordedVersion, readPage, type VersionPage } from './recorded-version.ts'

/** Versions are integers in the database. */
export const HIGHEST_VERSION = 2 ** 31 - 1

/**
 * Reads the versions of a resource that are kept, whether it exists or was deleted. The current state is always among
 * them. The client must be that of the primary, since replicas may lack changes.
 *
 * @param before only versions below this one
 * @param limit of versions: a deletion comes with the version that was deleted
 * @throws {DomainError} RESOURCE_NOT_FOUND (404) for what never existed, and without a record; RESOURCE_GONE (410) if
 *   nothing is kept of a deleted resource
 */
export async function readVersions(
  { client, changesDays }: Source,
  resource: Resource,
  key: ResourceKey,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<VersionPage> {
  refuseUnrecorded(changesDays, resource, key)
  const page = await readPage(client, resource, key, before - 1, limit)
  if (page.versions.length === 0) await newestVersion(client, resource, key)
  return page
}

/**
 * Reads one state of a resource; see {@link readVersions}.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404) also for a version that the resource has not reached; RESOURCE_GONE
 *   (410) for one that is not kept
 */
export async function readVersion(
  { client, changesDays }: Source,
  resource: Resource,
  key: ResourceKey,
  version: number,
): Promise<RecordedVersion> {
  refuseUnrecorded(changesDays, resource, key)
  const { versions } = await readPage(client, resource, key, version, 1)
  const state = versions.find((one) => one.version === version && one.values !== null)
  if (state) return state
  const wasThere = version >= 1 && version <= (await newestVersion(client, resource, key))
  if (wasThere) throw new DomainError('RESOURCE_GONE', `Version ${version} is not kept.`)
  throw new DomainError('RESOURCE_NOT_FOUND', `The resource has no version ${version}.`)
}

/** A malformed identifier is not found without a query, because PostgreSQL refuses U+0000. */
function refuseUnrecorded(changesDays: number, resource: Resource, key: ResourceKey): void {
  if (!isResourceKey(key)) throw resourceNotFound(resource, key)
  if (changesDays > 0) return
  throw new DomainError('RESOURCE_NOT_FOUND', 'The service keeps no record of changes, and so no versions.')
}

/** @throws {DomainError} RESOURCE_NOT_FOUND (404), RESOURCE_GONE (410) if no version is kept */
async function newestVersion(client: Client, resource: Resource, key: ResourceKey): Promise<number> {
  const [newest] = (await readPage(client, resource, key, HIGHEST_VERSION, 1)).versions
  if (!newest) throw await notFoundOrGone(client, resource, key)
  return newest.version
}
