/**
 * How many statements a connection keeps prepared. Callers can make new ones without end, by filters
 * and sorts; those that come late are planned each time.
 */
const MAXIMUM_STATEMENTS = 500

const names = new Map<string, string>()

/**
 * The name under which a connection keeps a statement prepared, the same on every connection; empty for
 * one that is not to be kept.
 */
export function statementName({ sql }: { readonly sql: string }): string {
  const known = names.get(sql)
  if (known !== undefined) return known
  if (names.size >= MAXIMUM_STATEMENTS) return ''
  const name = `halgraph_${names.size + 1}`
  names.set(sql, name)
  return name
}
