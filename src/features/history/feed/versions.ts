import type { DatabaseClient } from '../../../database/database-client.ts'
import { exactColumns, exactOf } from '../../../database/sql/statement.ts'
import { notFoundOrGone, resourceNotFound } from '../../../domain/read.ts'
import type { Access } from '../../../model/access/access.ts'
import { type Resource, tableName } from '../../../model/definition/resource.ts'
import { DomainError } from '../../../model/errors.ts'
import { rowOf } from '../../../model/rows/columns.ts'
import { isResourceKey, type ResourceKey } from '../../../model/rows/identifiers.ts'
import type { Columns } from '../../../model/rows/row.ts'
import type { Source } from './read-feed.ts'
import type { StateRow } from './readable-changes.ts'
import type { ChangeRow } from './recorded-change.ts'
import { limitingOwner, parentState, type RecordedState, seesState } from './states.ts'
import { numberChanges } from './upkeep.ts'

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
  { before, limit, access }: { readonly before: number; readonly limit: number; readonly access: Access },
) {
  refuseUnrecorded(changesDays, resource, key)
  const page = await readPage({ client, access }, resource, key, before - 1, limit)
  if (page.versions.length === 0) await newestVersion({ client, access }, resource, key)
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
  { version, access }: { readonly version: number; readonly access: Access },
): Promise<RecordedVersion> {
  refuseUnrecorded(changesDays, resource, key)
  const { versions } = await readPage({ client, access }, resource, key, version, 1)
  const state = versions.find((one) => one.version === version && one.row !== null)
  if (state) return state
  const newest = await newestVersion({ client, access }, resource, key)
  // A caller that may not read all states does not learn which are kept.
  const wasThere = version >= 1 && version <= newest && !access.readable(resource)
  if (wasThere) throw new DomainError('RESOURCE_GONE', `Version ${version} is not kept.`)
  throw new DomainError('RESOURCE_NOT_FOUND', `The resource has no version ${version}.`)
}

function refuseUnrecorded(changesDays: number, resource: Resource, key: ResourceKey): void {
  if (!isResourceKey(key)) throw resourceNotFound(resource, key)
  if (changesDays > 0) return
  throw new DomainError('RESOURCE_NOT_FOUND', 'The service does not record changes, so it keeps no versions.')
}

interface VersionsSource {
  readonly client: DatabaseClient
  readonly access: Access
}

/** @throws {DomainError} RESOURCE_NOT_FOUND (404), RESOURCE_GONE (410) if no version is kept */
async function newestVersion(source: VersionsSource, resource: Resource, key: ResourceKey): Promise<number> {
  const [newest] = (await readPage(source, resource, key, HIGHEST_VERSION, 1)).versions
  if (!newest) throw await notFoundOrGone(source.client, resource, key, source.access)
  return newest.version
}

/** For a caller that may not read all states, a statement reads more than are shown. */
const LEAST_READ = 100

/** Reads versions up to `newest`, the newest first. */
async function readPage(
  { client, access }: VersionsSource,
  resource: Resource,
  { parentId = '', id }: ResourceKey,
  newest: number,
  limit: number,
) {
  const isLimited = access.readable(resource) !== undefined
  if (isLimited) await numberChanges(client)
  const owner = limitingOwner(access, resource)
  const sees = ({ parent, parent_exact, ...state }: VersionRow) =>
    (!owner || seesState(access, owner, { columns: parent, exact: parent_exact })) &&
    seesState(access, resource, state)
  const text = statement(resource, owner, isLimited)
  const count = isLimited ? Math.max(limit, LEAST_READ) : limit
  // A version has at most two rows: its change, or its state from before the record, and its deletion.
  const most = 2 * (count + 1)
  const exact = [resource, ...(owner ? [owner] : [])].flatMap(exactColumns)
  const visible: VersionRow[] = []
  for (let top = newest; ; ) {
    const values = [resource.path, parentId, id, top, most, exact]
    const rows = await client.$rows<VersionRow>({ text, values })
    visible.push(...(isLimited ? rows.filter(sees) : rows))
    const ownRows = rows.filter(({ is_own }) => is_own)
    // The version of the last row may have another one.
    const lowest = ownRows.length < most ? 0 : (ownRows.at(-1)?.version ?? 0)
    const numbers = [...new Set(visible.map(({ version }) => version))].filter((version) => version >= lowest)
    if (lowest === 0 || numbers.length > limit) return pageOf(resource, visible, numbers, limit)
    top = lowest
  }
}

function pageOf(resource: Resource, rows: readonly VersionRow[], numbers: number[], limit: number) {
  numbers.sort((one, other) => other - one)
  const rowsOf = (number: number) => rows.filter(({ version }) => version === number)
  return {
    versions: numbers.slice(0, limit).flatMap((number) => toVersions(resource, rowsOf(number))),
    hasMore: numbers.length > limit,
  }
}

type VersionRow = Omit<RecordedVersion, 'row'> &
  RecordedState &
  Pick<StateRow, 'parent' | 'parent_exact'> & { readonly is_own: boolean }

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
 *
 * @param owner if its states decide on those of the resource
 * @param isLimited whether the caller may not read all states, which includes those before mass deletions
 */
function statement({ path, parentField }: Resource, owner: Resource | undefined, isLimited: boolean): string {
  const isCurrent = parentField === undefined ? 'id = $3' : `"${parentField}" = $2 AND id = $3`
  // The states of the parent are known from a position on. Position 0 is that of a state from before the record.
  const parent = owner
    ? `, CASE WHEN change.position > (SELECT states_position FROM change_feed)
        THEN ${parentState(owner, '$2', 'change.position')} END AS parent`
    : ', NULL::jsonb AS parent'
  const current = owner
    ? `, (SELECT to_jsonb(owner.*) FROM "${tableName(owner.path)}" AS owner WHERE id = $2)`
    : ', NULL'
  const massDeleted = isLimited ? 'before -> array_position(ids, $3) - 1' : 'NULL'
  return `
    SELECT version, event, changed_date AS time, changed_by AS by, columns, ${exactOf('columns', '$6')} AS exact, parent,
      ${exactOf('parent', '$6')} AS parent_exact, is_own
    FROM (
      (SELECT version, event, changed_date, changed_by, resource AS columns${parent}, TRUE AS is_own
        FROM recorded_changes AS change
        WHERE collection = $1 AND parent_id = $2 AND id = $3 AND version <= $4
        ORDER BY version DESC, serial DESC LIMIT $5)
      UNION ALL
      SELECT versions[array_position(ids, $3)], event, changed_date, changed_by, ${massDeleted}${parent}, FALSE
        FROM recorded_changes AS change
        WHERE collection = $1 AND parent_id = $2 AND id = '' AND versions[array_position(ids, $3)] <= $4
      UNION ALL
      SELECT version, NULL, last_updated, NULL, to_jsonb(current.*)${current}, FALSE
        FROM "${tableName(path)}" AS current
        WHERE ${isCurrent} AND version <= $4
    ) AS found ORDER BY version DESC`
}
