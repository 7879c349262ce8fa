/** What can contain a semicolon that ends no statement, and such a semicolon. Bodies are between two equal marks. */
const PARTS = /\$[A-Za-z_]*\$|'[^']*'|"[^"]*"|--[^\n]*|;/g

/** The statements of a migration, for engines that execute one at a time. */
export function statementsOf(sql: string): readonly string[] {
  const ends: number[] = []
  let body: string | undefined
  for (const { 0: part, index } of sql.matchAll(PARTS)) {
    if (part === body) body = undefined
    else if (body === undefined && part.startsWith('$')) body = part
    else if (body === undefined && part === ';') ends.push(index + 1)
  }
  const texts = [...ends, sql.length].map((end, at) => sql.slice(ends[at - 1] ?? 0, end))
  return texts.filter((text) => text.replace(/--[^\n]*/g, '').trim() !== '')
}
