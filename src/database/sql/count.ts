import type { Filter } from '../../model/query/query.ts'
import { type Resource, tableName } from '../../model/resource.ts'
import { filterCondition } from './filter.ts'
import { type Parameters, quotedTable } from './statement.ts'

/** The number of rows of a list as an expression: of those that meet conditions, or of the whole collection. */
export function countQuery(
  resource: Resource,
  filter: Filter | undefined,
  parameters: Parameters,
  within: readonly string[],
): string {
  const conditions = [...within, ...(filter ? [filterCondition(resource, filter, parameters)] : [])]
  if (conditions.length === 0) return storedCount(resource)
  return `(SELECT count(*)::int FROM ${quotedTable(resource)} WHERE ${conditions.join(' AND ')})`
}

/**
 * The number of rows of a whole collection. Triggers (in the migrations) keep it as a sum of few rows, of which
 * an empty collection may have none. Counting a million rows takes 60 ms.
 */
export function storedCount({ path }: Resource): string {
  return `COALESCE((SELECT sum(rows)::int FROM row_counts WHERE collection = '${tableName(path)}'), 0)`
}
