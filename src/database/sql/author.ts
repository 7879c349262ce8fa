import type { Resource } from '../../model/definition/resource.ts'
import type { Columns } from '../../model/rows/row.ts'
import { Parameters, quoted, quotedTable, type Statement } from './statement.ts'

/*
 * The triggers take the author of a write from the column `changed_by`, and that of a deletion, or of a statement that
 * names none, from a setting of the transaction (prisma/engine/record_authors.sql).
 */

/** Makes `author` the author of the transaction. */
export function authorStatement(author: string): Statement {
  const parameters = new Parameters()
  return { text: `SELECT ${setAuthor(author, parameters)} AS author`, values: parameters.values }
}

/** Deletes rows, and returns their identifiers. What the database deletes with them has the same author. */
export function deleteStatement(resource: Resource, where: Columns, author: string): Statement {
  const parameters = new Parameters()
  const conditions = Object.entries(where).map(
    ([column, value]) => `${quoted(column)} = ${parameters.add(value)}`,
  )
  // The function is volatile, so PostgreSQL calls it for the row, and before the triggers.
  conditions.push(`${setAuthor(author, parameters)} IS NOT NULL`)
  const text = `DELETE FROM ${quotedTable(resource)} WHERE ${conditions.join(' AND ')} RETURNING id`
  return { text, values: parameters.values }
}

function setAuthor(author: string, parameters: Parameters): string {
  return `pg_catalog.set_config('halgraph.subject', ${parameters.add(author)}, true)`
}
