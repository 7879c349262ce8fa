import type { Resource } from '../../model/resource.ts'
import type { Columns } from '../../model/row.ts'
import { columnsOf, quoted, quotedTable, type Statement } from './statement.ts'

/**
 * Adds rows and returns them. They are one parameter, so that a resource has one statement for any number of rows.
 *
 * @param rows with the same columns each
 */
export function insertStatement(resource: Resource, rows: readonly Columns[]): Statement {
  const table = quotedTable(resource)
  const columns = Object.keys(rows[0] ?? {})
    .map(quoted)
    .join(', ')
  const text = `INSERT INTO ${table} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1::json) RETURNING ${columnsOf(resource)}`
  return { text, values: [JSON.stringify(rows)] }
}
