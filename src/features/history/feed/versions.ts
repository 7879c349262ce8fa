import {
  exactColumns,
  exactRow,
  Parameters,
  quoted,
  quotedTable,
  type Statement,
} from '../../../database/sql/statement.ts'
import { resourceNotFound } from '../../../domain/read.ts'
import type { Recorded, Session } from '../../../domain/session/session.ts'
import type { Access } from '../../../model/access/access.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { DomainError } from '../../../model/errors.ts'
import { rowOf } from '../../../model/rows/columns.ts'
import { isResourceKey, type ResourceKey } from '../../../model/rows/identifiers.ts'
import type { Columns } from '../../../model/rows/row.ts'
import type { ChangeRow } from './recorded-change.ts'
import { limitingOwner, parentState, stateCondition } from './states.ts'
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
 * state.
 *
 * @param version only this one
 * @param before only versions below this one
 * @param limit of versions: a deletion comes with the version that was deleted
 * @throws {DomainError} RESOURCE_NOT_FOUND (404) if the resource never existed or changes are not recorded, or for a
 *   version that the resource has not reached; RESOURCE_GONE (410) for one that is not kept, or if none is
 */
export function readVersions(
  session: Session,
  resource: Resource,
  key: ResourceKey,
  { version, before, limit }: { version: number | undefined; before: number; limit: number },
) {
  return session.recorded([resource], ['versions', key, version, before, limit], async (record) => {
    if (!isResourceKey(key)) throw resourceNotFound(resource, key)
    const unrecorded = 'The service does not record changes, so it keeps no versions.'
    if (record.changesDays === 0) throw new DomainError('RESOURCE_NOT_FOUND', unrecorded)
    const read = (newest: number, count: number) => readPage(record, resource, key, newest, count)
    const newestVersion = async () => {
      const [newest] = (await read(HIGHEST_VERSION, 1)).versions
      if (!newest) throw await record.missing(resource, key)
      return newest.version
    }
    if (version === undefined) {
      const page = await read(before - 1, limit)
      if (page.versions.length > 0) return page
      if (before === HIGHEST_VERSION) throw await record.missing(resource, key)
      await newestVersion()
      return page
    }
    const { versions } = await read(version, 1)
    const state = versions.find((one) => one.version === version && one.row !== null)
    if (state) return { versions: [state], hasMore: false }
    const newest = await newestVersion()
    // A caller that may not read all states does not learn which are kept.
    const wasThere = version >= 1 && version <= newest && !record.access.readable(resource)
    if (wasThere) throw new DomainError('RESOURCE_GONE', `Version ${version} is not kept.`)
    throw new DomainError('RESOURCE_NOT_FOUND', `The resource has no version ${version}.`)
  })
}

/** Reads versions up to `newest` that the caller may read, the newest first. */
async function readPage(
  { client, access }: Recorded,
  resource: Resource,
  { parentId = '', id }: ResourceKey,
  newest: number,
  limit: number,
) {
  if (access.readable(resource)) await numberChanges(client)
  // A version has at most two rows: its change, or its state from before the record, and its deletion.
  const most = 2 * (limit + 1)
  const values = [resource.path, parentId, id, newest, most, exactColumns(resource)]
  const rows = await client.$rows<VersionRow>(statement(resource, access, values))
  const ownRows = rows.filter(({ is_own }) => is_own)
  // The version of the last row may have another one.
  const lowest = ownRows.length < most ? 0 : (ownRows.at(-1)?.version ?? 0)
  const kept = rows.filter(({ version }) => version >= lowest)
  const numbers = [...new Set(kept.map(({ version }) => version))].sort((one, other) => other - one)
  const rowsOf = (number: number) => kept.filter(({ version }) => version === number)
  return {
    versions: numbers.slice(0, limit).flatMap((number) => toVersions(resource, rowsOf(number))),
    hasMore: numbers.length > limit,
  }
}

interface VersionRow extends Omit<RecordedVersion, 'row'> {
  readonly columns: Columns | null
  readonly is_own: boolean
}

/** The deletion of a version, if any, and its state, unless only the deletion was recorded. */
function toVersions(resource: Resource, rows: readonly VersionRow[]): RecordedVersion[] {
  const deletion = rows.find(({ event }) => event === 'deleted')
  const change = rows.find(({ event }) => event === 'created' || event === 'changed')
  const state = change ?? rows.find(({ columns }) => columns !== null)
  const versions = deletion ? [{ ...deletion, row: null }] : []
  if (!state?.columns) return versions
  const { columns, ...recorded } = state
  const row = rowOf(resource, columns)
  const unrecorded = { event: null, time: new Date(columns['last_updated'] as string), by: null }
  return [...versions, { ...recorded, ...(!change && unrecorded), row }]
}

/**
 * The rows of one resource that a caller may read: its changes, the mass deletions that include it, and its current state,
 * whose change may not have been recorded.
 */
function statement(resource: Resource, access: Access, values: readonly unknown[]): Statement {
  const { parentField } = resource
  const parameters = new Parameters(values)
  const isLimited = access.readable(resource) !== undefined
  const owner = limitingOwner(access, resource)
  const seen = (state: string, parent: string) => {
    const states = [[resource, state] as const, ...(owner ? [[owner, parent] as const] : [])]
    const conditions = states.map(([one, text]) => ` AND ${stateCondition(access, one, text, parameters)}`)
    return isLimited ? conditions.join('') : ''
  }
  // The states of the parent are known from a position on. Position 0 is that of a state from before the record. The offset
  // keeps PostgreSQL from looking for one once for each field. Without any that is seen, it looks for none.
  const parent = owner
    ? ` CROSS JOIN LATERAL (SELECT CASE WHEN change.position > (SELECT states_position FROM change_feed)
        THEN NULLIF(${parentState(owner, '$2', 'change.position')}, 'null') END AS state OFFSET 0) AS parent`
    : ''
  const current = owner && `(SELECT to_jsonb(owner.*) FROM ${quotedTable(owner)} AS owner WHERE id = $2)`
  const known = owner
    ? ` AND (${stateCondition(access, owner, current as string, parameters)} OR EXISTS (SELECT FROM recorded_changes AS known
        WHERE collection = '${owner.path}' AND parent_id = '' AND id = $2
          AND ${stateCondition(access, owner, "NULLIF(known.before, 'null')", parameters)}))`
    : ''
  const isCurrent = parentField === undefined ? 'id = $3' : `${quoted(parentField)} = $2 AND id = $3`
  const deleted = "NULLIF(change.before -> array_position(change.ids, $3) - 1, 'null')"
  const text = `
    SELECT version, event, changed_date AS time, changed_by AS by, ${exactRow('columns', '$6')} AS columns, is_own
    FROM (
      (SELECT version, event, changed_date, changed_by, resource AS columns, TRUE AS is_own
        FROM recorded_changes AS change${parent}
        WHERE collection = $1 AND parent_id = $2 AND id = $3 AND version <= $4${known}${seen('change.resource', 'parent.state')}
        ORDER BY version DESC, serial DESC LIMIT $5)
      UNION ALL
      SELECT versions[array_position(ids, $3)], event, changed_date, changed_by, ${isLimited ? deleted : 'NULL'}, FALSE
        FROM recorded_changes AS change${parent}
        WHERE collection = $1 AND parent_id = $2 AND id = '' AND versions[array_position(ids, $3)] <= $4
          ${known}${seen(deleted, 'parent.state')}
      UNION ALL
      SELECT version, NULL, last_updated, NULL, to_jsonb(current.*), FALSE
        FROM ${quotedTable(resource)} AS current
        WHERE ${isCurrent} AND version <= $4${seen('to_jsonb(current.*)', current ?? '')}
    ) AS found ORDER BY version DESC`
  return { text, values: parameters.values }
}
