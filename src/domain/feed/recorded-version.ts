import type { Client } from '../../database/client.ts'
import type { ResourceKey } from '../../model/identifiers.ts'
import { type Resource, tableName, type Values } from '../../model/resource.ts'
import { type ChangeRow, exactColumns, jsonValues, rowOf } from './recorded-change.ts'

/** A state of a resource, or its deletion. */
export interface RecordedVersion {
  /** Of a deletion: the version that was deleted. */
  readonly version: number
  /** Null for a state whose change is not in the record. */
  readonly event: ChangeRow['event'] | null
  /** Of the change; of a state without one, when the resource had last changed. */
  readonly time: Date
  readonly by: string | null
  /** The resource as JSON, without hidden fields; null for a deletion. */
  readonly values: Values | null
}

export interface VersionPage {
  /** The newest first. */
  readonly versions: readonly RecordedVersion[]
  readonly hasMore: boolean
}

/** Of a version there are at most two rows: its change, or its state from before the record, and its deletion. */
const ROWS_OF_VERSION = 2

/**
 * Reads versions up to one of them, the newest first.
 *
 * @param limit of versions: a deletion comes with the version that was deleted
 */
export async function readPage(
  client: Client,
  resource: Resource,
  key: ResourceKey,
  newest: number,
  limit: number,
): Promise<VersionPage> {
  const { parentId = '', id } = key
  const most = ROWS_OF_VERSION * (limit + 1)
  const values = [resource.path, parentId, id, newest, most, exactColumns([resource])]
  const rows = await client.$rows<VersionRow>({ text: statement(resource), values })
  const numbers = [...new Set(rows.map(({ version }) => version))]
  return {
    versions: numbers.slice(0, limit).flatMap((number) =>
      toVersions(
        resource,
        rows.filter(({ version }) => version === number),
      ),
    ),
    hasMore: numbers.length > limit,
  }
}

type VersionRow = Omit<ChangeRow, 'event' | 'changed_by'> &
  Pick<RecordedVersion, 'event'> & { changed_by: string | null }

/** The deletion of a version, if it was deleted, and its state, unless only the deletion is in the record. */
function toVersions(resource: Resource, rows: readonly VersionRow[]): RecordedVersion[] {
  const deletion = rows.find(({ event }) => event === 'deleted')
  const change = rows.find(({ event }) => event === 'created' || event === 'changed')
  const state = change ?? rows.find(({ columns }) => columns !== null)
  const versions = deletion ? [toVersion(deletion, null)] : []
  if (!state?.columns) return versions
  const values = jsonValues(resource, rowOf(resource, state.columns, state.exact))
  if (change) return [...versions, toVersion(change, values)]
  const time = new Date(state.columns['last_updated'] as string)
  return [...versions, { version: state.version, event: null, time, by: null, values }]
}

function toVersion(row: VersionRow, values: Values | null): RecordedVersion {
  const { version, event, changed_date: time, changed_by: by } = row
  return { version, event, time, by, values }
}

/**
 * The rows of one resource: its own changes, the mass deletions that it was part of, and its current state, whose change
 * may be from before the record.
 */
function statement({ path, parentField }: Resource): string {
  const isCurrent = parentField === undefined ? 'id = $3' : `"${parentField}" = $2 AND id = $3`
  return `
    SELECT version, event, changed_date, changed_by, columns,
      (SELECT jsonb_object_agg(key, value #>> '{}') FROM jsonb_each(columns) WHERE key = ANY($6)) AS exact
    FROM (
      (SELECT version, event, changed_date, changed_by, resource AS columns FROM recorded_changes
        WHERE collection = $1 AND parent_id = $2 AND id = $3 AND version <= $4
        ORDER BY version DESC, serial DESC LIMIT $5)
      UNION ALL
      SELECT versions[array_position(ids, $3)], event, changed_date, changed_by, NULL FROM recorded_changes
        WHERE collection = $1 AND parent_id = $2 AND id = '' AND versions[array_position(ids, $3)] <= $4
      UNION ALL
      SELECT version, NULL, last_updated, NULL, to_jsonb(current) FROM "${tableName(path)}" AS current
        WHERE ${isCurrent} AND version <= $4
    ) AS found ORDER BY version DESC`
}
