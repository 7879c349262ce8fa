import type { Resource } from '../../model/definition/resource.ts'
import type { Columns } from '../../model/rows/row.ts'
import { columnsOf, quoted, quotedTable, type Statement } from './statement.ts'

/** Passes the rows as one parameter, so that a resource has one statement for any number of them. */
export function insertStatement(resource: Resource, rows: readonly Columns[]): Statement {
  const table = quotedTable(resource)
  const columns = Object.keys(rows[0] ?? {})
    .map(quoted)
    .join(', ')
  const text = `INSERT INTO ${table} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1::json) RETURNING ${columnsOf(resource)}`
  return { text, values: [JSON.stringify(rows)] }
}

/**
 * Finds which keys are stored. PostgreSQL looks up each in the index of the primary key. With a list of identifiers, it
 * might use a plan from a time when the table was empty, and scan the table.
 */
export function storedKeysStatement(resource: Resource, keys: readonly string[]): Statement {
  const { parentField } = resource
  const isSameParent = parentField ? `AND ${quoted(parentField)} = split_part(asked.key, '/', 1)` : ''
  const text = `SELECT asked.key FROM unnest($1::text[]) AS asked (key)
    WHERE (SELECT TRUE FROM ${quotedTable(resource)} WHERE id = split_part(asked.key, '/', 2) ${isSameParent} LIMIT 1)`
  return { text, values: [keys] }
}
