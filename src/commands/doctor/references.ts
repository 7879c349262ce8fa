import type { DatabaseClient } from '../../database/client.ts'

/** Resources that are listed; the others are counted. */
const NAMED = 20

/**
 * An edit with disabled triggers can leave references that contradict the text which they follow: missing although the
 * text names a resource, or set although it is empty. Any other reference may be right, because resources are renamed.
 */
export async function referenceProblems(client: DatabaseClient): Promise<string[]> {
  if (!(await hasFollowers(client))) return []
  const text = 'SELECT collection, id FROM inconsistent_references() ORDER BY 1, 2'
  const wrong = await client.$rows<{ collection: string; id: string }>({ text, values: [] })
  const named = wrong.slice(0, NAMED).map(({ collection, id }) => `${collection}/${id}`)
  if (named.length === 0) return []
  const others = wrong.length > NAMED ? ` and ${wrong.length - NAMED} more` : ''
  return [`${named.join(', ')}${others}; run npm run doctor -- --repair, or SELECT repair_references()`]
}

export async function repairReferences(client: DatabaseClient): Promise<string[]> {
  if (!(await hasFollowers(client))) return []
  const text = 'SELECT repair_references()::int AS count'
  const [{ count } = { count: 0 }] = await client.$rows<{ count: number }>({ text, values: [] })
  return count === 0 ? [] : [`corrected ${count} references`]
}

/** If references follow a text, a migration has added functions for them. */
async function hasFollowers(client: DatabaseClient): Promise<boolean> {
  const text = "SELECT to_regprocedure('inconsistent_references()') IS NOT NULL AS found"
  const [row] = await client.$rows<{ found: boolean }>({ text, values: [] })
  return row?.found === true
}
