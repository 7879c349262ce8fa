import type { DatabaseClient, StatementClient } from '../../../database/database-client.ts'
import { exactColumns } from '../../../database/sql/statement.ts'
import { notFoundOrGone, resourceNotFound } from '../../../domain/read.ts'
import { unrestricted } from '../../../model/access.ts'
import { DomainError } from '../../../model/errors.ts'
import { isResourceKey, type ResourceKey } from '../../../model/identifiers.ts'
import { type Resource, tableName } from '../../../model/resource.ts'
import type { Columns } from '../../../model/row.ts'
import { rowOf } from '../../../model/rows.ts'
import type { Source } from './change-feed.ts'
import type { ChangeRow } from './recorded-change.ts'

/** A state of a resource, or its deletion. */
interface RecordedVersion {
  /** For a deletion, the version that was deleted. */
  readonly version: number
  /** Null for a state whose change is not in the record. */
  readonly event: ChangeRow['event'] | null
  /** Of the change; for a state without one, when the resource last changed. */
  readonly time: Date
  readonly by: string | null
  /** All columns of the resource, with the values of statements; null for a deletion. */
  readonly row: Columns | null
}

export const HIGHEST_VERSION = 2 ** 31 - 1

/**
 * Reads the versions that are kept of a resource, the newest first, even if it was deleted. They include the current
 * state. The client must be that of the primary, since replicas may lack changes.
 *
 * @param before only versions below this one
 * @param limit of versions: a deletion comes with the version that was deleted
 * @throws {DomainError} RESOURCE_NOT_FOUND (404) if the resource never existed or changes are not recorded;
 *   RESOURCE_GONE (410) if no version of a deleted resource is kept
 */
export async function readVersions(
  { client, changesDays }: Source<DatabaseClient>,
  resource: Resource,
  key: ResourceKey,
  { before, limit }: { readonly before: number; readonly limit: number },
) {
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
  { client, changesDays }: Source<DatabaseClient>,
  resource: Resource,
  key: ResourceKey,
  version: number,
): Promise<RecordedVersion> {
  refuseUnrecorded(changesDays, resource, key)
  const { versions } = await readPage(client, resource, key, version, 1)
  const state = versions.find((one) => one.version === version && one.row !== null)
  if (state) return state
  const wasThere = version >= 1 && version <= (await newestVersion(client, resource, key))
  if (wasThere) throw new DomainError('RESOURCE_GONE', `Version ${version} is not kept.`)
  throw new DomainError('RESOURCE_NOT_FOUND', `The resource has no version ${version}.`)
}

function refuseUnrecorded(changesDays: number, resource: Resource, key: ResourceKey): void {
  if (!isResourceKey(key)) throw resourceNotFound(resource, key)
  if (changesDays > 0) return
  throw new DomainError('RESOURCE_NOT_FOUND', 'The service does not record changes, so it keeps no versions.')
}

/** @throws {DomainError} RESOURCE_NOT_FOUND (404), RESOURCE_GONE (410) if no version is kept */
async function newestVersion(client: DatabaseClient, resource: Resource, key: ResourceKey): Promise<number> {
  const [newest] = (await readPage(client, resource, key, HIGHEST_VERSION, 1)).versions
  if (!newest)
    throw await notFoundOrGone(client, resource, key, unrestricted('no state of the resource is known yet'))
  return newest.version
}

/** Reads versions up to `newest`, the newest first. */
async function readPage(
  client: StatementClient,
  resource: Resource,
  { parentId = '', id }: ResourceKey,
  newest: number,
  limit: number,
) {
  // A version has at most two rows: its change, or its state from before the record, and its deletion.
  const most = 2 * (limit + 1)
  const values = [resource.path, parentId, id, newest, most, exactColumns(resource)]
  const rows = await client.$rows<VersionRow>({ text: statement(resource), values })
  const numbers = [...new Set(rows.map(({ version }) => version))]
  const rowsOf = (number: number) => rows.filter(({ version }) => version === number)
  return {
    versions: numbers.slice(0, limit).flatMap((number) => toVersions(resource, rowsOf(number))),
    hasMore: numbers.length > limit,
  }
}

type VersionRow = Omit<RecordedVersion, 'row'> & Pick<ChangeRow, 'columns' | 'exact'>

/** The deletion of a version, if any, and its state, unless only the deletion was recorded. */
function toVersions(resource: Resource, rows: readonly VersionRow[]): RecordedVersion[] {
  const deletion = rows.find(({ event }) => event === 'deleted')
  const change = rows.find(({ event }) => event === 'created' || event === 'changed')
  const state = change ?? rows.find(({ columns }) => columns !== null)
  const versions = deletion ? [{ ...deletion, row: null }] : []
  if (!state?.columns) return versions
  const { columns, exact, ...recorded } = state
  const row = rowOf(resource, columns, exact)
  const unrecorded = { event: null, time: new Date(columns['last_updated'] as string), by: null }
  return [...versions, { ...recorded, ...(!change && unrecorded), row }]
}

/**
 * The rows of one resource: its changes, the mass deletions that include it, and its current state, whose change may not
 * have been recorded.
 */
function statement({ path, parentField }: Resource): string {
  const isCurrent = parentField === undefined ? 'id = $3' : `"${parentField}" = $2 AND id = $3`
  return `
    SELECT version, event, changed_date AS time, changed_by AS by, columns,
      (SELECT jsonb_object_agg(key, value #>> '{}') FROM jsonb_each(columns) WHERE key = ANY($6)) AS exact
    FROM (
      (SELECT version, event, changed_date, changed_by, resource AS columns FROM recorded_changes
        WHERE collection = $1 AND parent_id = $2 AND id = $3 AND version <= $4
        ORDER BY version DESC, serial DESC LIMIT $5)
      UNION ALL
      SELECT versions[array_position(ids, $3)], event, changed_date, changed_by, NULL FROM recorded_changes
        WHERE collection = $1 AND parent_id = $2 AND id = '' AND versions[array_position(ids, $3)] <= $4
      UNION ALL
      SELECT version, NULL, last_updated, NULL, to_jsonb(current.*) FROM "${tableName(path)}" AS current
        WHERE ${isCurrent} AND version <= $4
    ) AS found ORDER BY version DESC`
}
