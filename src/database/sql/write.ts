import type { Resource } from '../../model/definition/resource.ts'
import { keyColumns, type ResourceKey } from '../../model/rows/identifiers.ts'
import type { Columns } from '../../model/rows/row.ts'
import { columnsOf, Parameters, quoted, quotedTable, type Statement } from './statement.ts'

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

/**
 * Locks the stored rows of these keys against changes until the end of the transaction, in the order of their keys. Other
 * rows can still refer to them. It is planned each time: a plan from a time when the table was empty would scan it.
 */
export function lockStatement(resource: Resource, keys: readonly ResourceKey[]): Statement {
  const rows = keys.map((key) => keyColumns(resource, key))
  const columns = Object.keys(rows[0] ?? {})
  const names = columns.map(quoted).join(', ')
  const arrays = columns.map((_, index) => `$${index + 1}::text[]`).join(', ')
  const text = `SELECT stored.id FROM unnest(${arrays}) AS asked (${names})
    JOIN ${quotedTable(resource)} AS stored USING (${names}) ORDER BY ${names} FOR NO KEY UPDATE OF stored`
  return { text, values: columns.map((column) => rows.map((row) => row[column])), isPlannedEachTime: true }
}

/*
 * The triggers take the author of a write from the column `changed_by`, and that of a deletion, or of a statement that
 * names none, from a setting of the transaction (prisma/engine/record_authors.sql). Citus makes a setting where the rows are if
 * the statement reads a table, and refuses a volatile function in DELETE (prisma/engine/distributed_schemas.sql).
 */

/** Makes `author` the author of the transaction. */
export function authorStatement(author: string): Statement {
  const parameters = new Parameters()
  const call = `pg_catalog.set_config('halgraph.subject', ${parameters.add(author)}, true)`
  return { text: `SELECT ${call} AS author FROM change_feed`, values: parameters.values }
}

/** Deletes rows, and returns their identifiers. What the database deletes with them has the same author. */
export function deleteStatement(resource: Resource, where: Columns, author: string): Statement {
  const parameters = new Parameters()
  const conditions = Object.entries(where).map(
    ([column, value]) => `${quoted(column)} = ${parameters.add(value)}`,
  )
  // PostgreSQL calls it for the row, because it names a column, and before the triggers.
  conditions.push(`write_as(${parameters.add(author)}, id)`)
  const text = `DELETE FROM ${quotedTable(resource)} WHERE ${conditions.join(' AND ')} RETURNING id`
  return { text, values: parameters.values }
}
