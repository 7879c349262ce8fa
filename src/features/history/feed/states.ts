import { exactOf, quoted, quotedTable } from '../../../database/sql/statement.ts'
import type { Access } from '../../../model/access/access.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { rowOf } from '../../../model/rows/columns.ts'
import type { Columns } from '../../../model/rows/row.ts'

/** A state of a resource, and that of its parent at the same time, from SQL. */
export interface RecordedState {
  /** Null if it is not known. */
  readonly columns: Columns | null
  /** The decimal numbers among them, whose digits JSON would lose. */
  readonly exact: Columns | null
}

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

/** Of all states of children that are read at once, as the database stores them. */
const MAXIMUM_BYTES = 16 * 1024 * 1024

/**
 * Reads the states of the children of a parent (`$2`) at a position (`$3`), and how many rows that took. If there are more
 * than a limit (`$4`) or than 16 MiB, none are read, and the number is the limit.
 */
export function childrenStatement(resource: Resource): string {
  const { path, parentField } = resource
  return `
    WITH states AS (
      (SELECT COALESCE(child.id, change.id) AS id, position, serial,
          CASE WHEN ids IS NULL THEN before ELSE before -> (child.place - 1)::int END AS state
        FROM recorded_changes AS change LEFT JOIN LATERAL unnest(ids) WITH ORDINALITY AS child (id, place) ON TRUE
        WHERE collection = '${path}' AND parent_id = $2 AND before IS NOT NULL AND (position > $3 OR position IS NULL)
        LIMIT $4)
      UNION ALL
      (SELECT id, NULL, NULL, to_jsonb(current.*) FROM ${quotedTable(resource)} AS current
        WHERE ${quoted(parentField as string)} = $2 LIMIT $4)
    )
    SELECT counted.read, children.id, children.state AS columns, ${exactOf('children.state', '$1')} AS exact
    FROM (
      SELECT CASE WHEN sum(pg_column_size(state)) > ${MAXIMUM_BYTES} THEN $4 ELSE count(*)::int END AS read FROM states
    ) AS counted LEFT JOIN (
      SELECT DISTINCT ON (id) id, state FROM states ORDER BY id, position NULLS LAST, serial NULLS LAST
    ) AS children ON counted.read < $4 AND children.state <> 'null' ORDER BY children.id`
}

/** Whether the caller may read a recorded state; undefined for none. It may not read a state that the record lacks. */
export function seesState(access: Access, resource: Resource, { columns, exact }: RecordedState): boolean {
  return columns !== null && access.admits('read', resource, rowOf(resource, columns, exact))
}

/** The owner of a resource, if the caller may not read all of its rows. */
export function limitingOwner(access: Access, { owner }: Resource): Resource | undefined {
  return owner && access.readable(owner) ? owner : undefined
}
