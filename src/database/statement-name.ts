/**
 * Maximum number of prepared statements of a connection. Filters and sorts of callers can create any number of
 * statements; those above the maximum are planned each time.
 */
const MAXIMUM_STATEMENTS = 500

const names = new Map<string, string>()

/**
 * The name of a prepared statement, the same for all connections; empty for a statement that is not prepared.
 */
export function statementName({ sql }: { readonly sql: string }): string {
  const known = names.get(sql)
  if (known !== undefined) return known
  if (names.size >= MAXIMUM_STATEMENTS) return ''
  const name = `halgraph_${names.size + 1}`
  names.set(sql, name)
  return name
}
