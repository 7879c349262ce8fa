import type { DatabaseClient } from '../database/database-client.ts'
import { refusalOf, rejectUnavailable } from '../database/errors.ts'
import { referredOf } from '../database/referred.ts'
import { exactColumns, exactRow } from '../database/sql/statement.ts'
import { type Access, unrestricted } from '../model/access/access.ts'
import type { Resource } from '../model/definition/resource.ts'
import { DomainError } from '../model/errors.ts'
import type { AggregateRequest, Group } from '../model/query/aggregate.ts'
import { rowOf } from '../model/rows/columns.ts'
import { isResourceKey, type ResourceKey } from '../model/rows/identifiers.ts'
import type { Columns, Row } from '../model/rows/row.ts'

/**
 * The error for a missing resource: RESOURCE_GONE if it was deleted and the caller could have read its last state, otherwise
 * RESOURCE_NOT_FOUND (SPEC §4.2). Costs a query, except for a malformed identifier, in which PostgreSQL would refuse U+0000.
 */
export async function notFoundOrGone(
  client: DatabaseClient,
  resource: Resource,
  key: ResourceKey,
  access: Access,
): Promise<DomainError> {
  if (!isResourceKey(key)) return resourceNotFound(resource, key)
  const { parentId = '', id } = key
  const statement = { text: IS_DELETED, values: [resource.path, parentId, id] }
  const [[found], wasReadable] = await Promise.all([
    client.$rows<{ deleted: boolean }>(statement),
    !access.readable(resource) || admitsLastState(client, resource, key, access),
  ])
  if (!found?.deleted || !wasReadable) return resourceNotFound(resource, key)
  return new DomainError('RESOURCE_GONE', `The resource ${quoted(id)} in ${resource.path} was deleted.`)
}

/** Each deleted resource has a tombstone; those of a mass deletion share a set. */
const IS_DELETED = `
  SELECT EXISTS (SELECT FROM tombstones WHERE collection = $1 AND parent_id = $2 AND id = $3)
    OR EXISTS (SELECT FROM tombstone_sets WHERE collection = $1 AND parent_id = $2 AND $3 = ANY(ids)) AS deleted`

/** False also if the last state is not in the record. Takes the same statements whether the resource ever existed or not. */
async function admitsLastState(
  client: DatabaseClient,
  resource: Resource,
  key: ResourceKey,
  access: Access,
): Promise<boolean> {
  const values = [resource.path, key.parentId ?? '', key.id, exactColumns(resource)]
  const [[state], parentError] = await Promise.all([
    client.$rows<{ columns: Columns }>({ text: LAST_STATE, values }),
    parentNotFoundOrGone(client, resource, key, access),
  ])
  if (!state || parentError?.code === 'RESOURCE_NOT_FOUND') return false
  const row = rowOf(resource, state.columns)
  return access.admits('read', resource, row, await referredOf(client, access, 'read', resource, [row]))
}

/** A row of a mass deletion has an array of states. */
const LAST_STATE = `
  SELECT ${exactRow('columns', '$4')} AS columns
  FROM (
    (SELECT serial, event, resource AS columns FROM recorded_changes
      WHERE collection = $1 AND parent_id = $2 AND id = $3 ORDER BY version DESC, serial DESC LIMIT 1)
    UNION ALL
    SELECT serial, event, before -> array_position(ids, $3) - 1 FROM recorded_changes
      WHERE collection = $1 AND parent_id = $2 AND id = '' AND $3 = ANY(ids)
    ORDER BY serial DESC LIMIT 1
  ) AS last WHERE event = 'deleted' AND jsonb_typeof(columns) = 'object'`

/**
 * The error for a missing parent. Writes do not look up the parent first; call this after a violated rule,
 * because a missing parent takes precedence (404 and 410 before 422).
 */
export async function parentNotFoundOrGone(
  client: DatabaseClient,
  { owner }: Resource,
  { parentId }: Pick<ResourceKey, 'parentId'>,
  access: Access,
): Promise<DomainError | undefined> {
  if (!owner || parentId === undefined) return undefined
  const parent = { id: parentId }
  const row = await client.findByKey(owner, parent, access)
  return row ? undefined : notFoundOrGone(client, owner, parent, access)
}

export function resourceNotFound(resource: Resource, { id }: ResourceKey, advice = ''): DomainError {
  const message = `There is no resource ${quoted(id)} in ${resource.path}.${advice && ` ${advice}`}`
  return new DomainError('RESOURCE_NOT_FOUND', message)
}

/** Requested identifiers may be malformed; the message does not repeat long ones in full. */
function quoted(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id)
}

/** PostgreSQL's SQLSTATE of a double that overflows. */
const NUMERIC_VALUE_OUT_OF_RANGE = '22003'

/** Counts and measures the groups of a collection, with exact arithmetic if a double overflows in any group. */
export function aggregate(
  client: DatabaseClient,
  resource: Resource,
  request: AggregateRequest,
): Promise<Group[]> {
  return client.measureGroups(resource, request).catch((error) => {
    if (refusalOf(error).state !== NUMERIC_VALUE_OUT_OF_RANGE) throw error
    return client.measureGroups(resource, { ...request, exact: true })
  })
}

const PAGE_ROWS = 500

const EVERYTHING = unrestricted('a command of the operator exports all rows')

/**
 * Reads all rows of a resource in pages, ordered by key. Each page begins after the last key of the previous
 * one, so memory use is constant and concurrent changes neither repeat nor skip rows.
 */
export async function* allRows(client: DatabaseClient, resource: Resource): AsyncGenerator<Row> {
  const { parentField } = resource
  const orderBy = [...(parentField ? [{ [parentField]: 'asc' }] : []), { id: 'asc' }]
  let where = {}
  for (;;) {
    const query = { where, orderBy, take: PAGE_ROWS }
    const rows = await client.findMany(resource, query, EVERYTHING).catch(rejectUnavailable)
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < PAGE_ROWS) return
    const after = { id: { gt: last.id } }
    const parent = parentField && last[parentField]
    where = parentField
      ? { OR: [{ [parentField]: { gt: parent } }, { [parentField]: parent, ...after }] }
      : after
  }
}
