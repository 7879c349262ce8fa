import type { Resource } from '../../model/definition/resource.ts'
import { keyColumns, type ResourceKey } from '../../model/rows/identifiers.ts'
import { quoted, quotedTable, type Statement } from './statement.ts'

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
