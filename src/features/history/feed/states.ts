import { filterCondition } from '../../../database/sql/filter.ts'
import { exactRow, Parameters, quoted, quotedTable, type Statement } from '../../../database/sql/statement.ts'
import { type Access, comparedColumns } from '../../../model/access/access.ts'
import { kindOf, type LeafField } from '../../../model/definition/fields.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import type { Referred } from '../../../model/query/matches.ts'
import { rowOf } from '../../../model/rows/columns.ts'
import type { Columns } from '../../../model/rows/row.ts'

/**
 * The SQL expression of the state of a parent at a position of the feed: the one before its next change, or else the current
 * one. What a deletion deletes with a parent comes after it, and has its last state. Null if the record lacks it. Changes
 * without a position are few; the sum keeps PostgreSQL from looking for them among all versions.
 *
 * @param id an expression, as the position
 */
export function parentState(owner: Resource, id: string, position: string): string {
  const known = `FROM recorded_changes WHERE collection = '${owner.path}' AND parent_id = '' AND id = ${id}
    AND before IS NOT NULL`
  return `COALESCE(NULLIF((SELECT state FROM (
      (SELECT before AS state, 1 AS place ${known} AND position > ${position} ORDER BY position LIMIT 1)
      UNION ALL
      (SELECT before, 2 ${known} AND position IS NULL ORDER BY version + 0 LIMIT 1)
      UNION ALL
      (SELECT to_jsonb(current.*), 3 FROM ${quotedTable(owner)} AS current WHERE id = ${id})
    ) AS states ORDER BY place LIMIT 1), 'null'),
    (SELECT before ${known} AND position <= ${position} ORDER BY position DESC LIMIT 1))`
}

/**
 * Counts the children of a parent (`$2`) at a position (`$3`) that the caller may read, and reads the states of some (`$6`)
 * after others (`$5`), by their identifiers. If it takes more rows than a limit (`$4`), it counts not all.
 */
export function childrenStatement(resource: Resource, access: Access, values: readonly unknown[]): Statement {
  const { path, parentField = '' } = resource
  const parameters = new Parameters(values)
  const filter = access.rule('read', resource)
  const isSeen = filter ? filterCondition(resource, filter, parameters) : 'TRUE'
  const wasSeen = stateCondition(access, resource, "NULLIF(state, 'null')", parameters)
  const children = `${quotedTable(resource)} AS current WHERE ${quoted(parentField)} = $2`
  const text = `
    WITH states AS MATERIALIZED (
      SELECT COALESCE(child.id, change.id) AS id, position, serial,
          CASE WHEN ids IS NULL THEN before ELSE before -> (child.place - 1)::int END AS state
        FROM recorded_changes AS change LEFT JOIN LATERAL unnest(ids) WITH ORDINALITY AS child (id, place) ON TRUE
        WHERE collection = '${path}' AND parent_id = $2 AND before IS NOT NULL AND (position > $3 OR position IS NULL)
        LIMIT $4
    ), former AS MATERIALIZED (
      SELECT DISTINCT ON (id) id, state FROM states ORDER BY id, position NULLS LAST, serial NULLS LAST
    ), present AS MATERIALIZED (
      SELECT id, ${isSeen} AS is_seen FROM ${children} LIMIT $4
    ), seen AS MATERIALIZED (
      SELECT id, state FROM former WHERE ${wasSeen}
      UNION ALL
      SELECT id, NULL FROM present WHERE is_seen AND id NOT IN (SELECT id FROM former)
    )
    SELECT (SELECT count(*) FROM states)::int + (SELECT count(*) FROM present)::int AS read,
      (SELECT count(*) FROM seen)::int AS total, part.id, ${exactRow('part.columns', '$1')} AS columns
    FROM (SELECT) AS one LEFT JOIN (
      SELECT id, COALESCE(state, (SELECT to_jsonb(current.*) FROM ${children} AND current.id = seen.id)) AS columns
        FROM seen ORDER BY id OFFSET $5 LIMIT $6
    ) AS part ON TRUE ORDER BY part.id`
  return { text, values: parameters.values }
}

/** Whether the caller may read a recorded state. It may not read one that the record lacks. The rows that it refers to are current. */
export function seesState(access: Access, resource: Resource, state: Columns | null, referred: Referred) {
  return state !== null && access.admits('read', resource, rowOf(resource, state), referred)
}

/** What a text in JSON must be like to be a value of a type. States are older than the definition of a field can be. */
const FORMS: Readonly<Record<string, string>> = {
  integer: '^-?[0-9]{1,10}$',
  'double precision': '^(-?[0-9.]+(e[+-]?[0-9]+)?|NaN|-?Infinity)$',
  numeric: '^(-?[0-9.]+|NaN|-?Infinity)$',
  boolean: '^(true|false)$',
  date: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  'timestamp with time zone': '^[0-9]{4}-[0-9]{2}-[0-9]{2}T',
}

/**
 * The SQL condition that the caller may read a state in JSON, as {@link seesState} decides on one. Takes only the members that
 * it compares, all at once, because a state can be large.
 *
 * @param state an expression of an object or NULL
 */
export function stateCondition(
  access: Access,
  resource: Resource,
  state: string,
  parameters: Parameters,
): string {
  const filter = access.rule('read', resource)
  const isState = `${state} IS NOT NULL`
  if (!filter) return isState
  const columns = new Set(comparedColumns(resource, filter))
  const compared = resource.leaves.filter(({ column }) => columns.has(column))
  // The search index is one of rows.
  const { searchIndex: _, ...unindexed } = resource
  const condition = filterCondition(unindexed, filter, parameters)
  if (compared.length === 0) return `${isState} AND ${condition}`
  const types = compared.map(({ column, field }) => `${quoted(column)} ${isJson(field) ? 'jsonb' : 'text'}`)
  const values = compared.map(
    ({ column, field }) => `${typedValue(quoted(column), field)} AS ${quoted(column)}`,
  )
  return `${isState} AND EXISTS (SELECT FROM (SELECT ${values.join(', ')}
    FROM jsonb_to_record(${state}) AS member (${types.join(', ')})) AS state WHERE ${condition})`
}

function isJson(field: LeafField): boolean {
  return kindOf(field).dataType === 'jsonb'
}

function typedValue(text: string, field: LeafField): string {
  const { dataType } = kindOf(field)
  const form = FORMS[dataType]
  if (form) return `CASE WHEN ${text} ~ '${form}' THEN ${text}::${dataType} END`
  return isJson(field) ? text : `${text} COLLATE "C"`
}

/** The owner of a resource, if the caller may not read all of its rows. */
export function limitingOwner(access: Access, { owner }: Resource): Resource | undefined {
  return owner && access.readable(owner) ? owner : undefined
}
