import type { DatabaseClient } from '../../database/database-client.ts'
import { quoted, quotedTable } from '../../database/sql/statement.ts'
import type { Leaf, Resource } from '../../model/definition/resource.ts'
import { uniqueExpression, uniqueIndexName, uniqueLeaves } from '../../model/definition/uniqueness.ts'
import { NAMED } from './parts.ts'

/**
 * Texts that must be unique and are equal: of rows that had them before blanks of Unicode counted as blanks, all but one of
 * which the unique index leaves out, or that were written while there was no index.
 */
export async function uniquenessProblems(client: DatabaseClient, resources: readonly Resource[]) {
  const partial = await partialIndexes(client)
  const checked = resources.flatMap((resource) =>
    resource.leaves.flatMap((leaf) => {
      const key = uniqueLeaves(resource, leaf)
      return key ? [{ resource, leaf, key }] : []
    }),
  )
  const problems = checked.map(async ({ resource, leaf, key }) => {
    const equal = await equalRows(client, resource, key)
    if (equal.length === 0 && !partial.includes(uniqueIndexName(resource, key))) return []
    const found = equal.map((ids) => `${ids.join(', ')} are equal`).join('; ') || 'none are equal any more'
    const advice = equal.length > 0 ? 'change or delete all but one, and then run' : 'run'
    return [`${resource.path}.${leaf.name}: ${found}; ${advice} npx halgraph doctor --repair`]
  })
  return (await Promise.all(problems)).flat()
}

/** Writes to the collections wait until the indexes are built. */
export async function repairUniqueness(client: DatabaseClient): Promise<string[]> {
  const before = await partialIndexes(client)
  if (before.length === 0) return []
  await client.$rows({ text: 'SELECT renew_unique_indexes()::text', values: [] })
  const after = await partialIndexes(client)
  return before.filter((name) => !after.includes(name)).map((name) => `built ${name} again`)
}

/** The unique indexes of texts that leave out rows. */
async function partialIndexes(client: DatabaseClient): Promise<string[]> {
  const text = `SELECT relname::text AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND indisunique AND indpred IS NOT NULL
      AND to_regclass(quote_ident(left(relname, 59) || '_all')) IS NOT NULL`
  return (await client.$rows<{ name: string }>({ text, values: [] })).map(({ name }) => name)
}

/** The identifiers of rows that have equal values in these columns. */
async function equalRows(client: DatabaseClient, resource: Resource, key: readonly Leaf[]) {
  const compared = key.map((leaf) => uniqueExpression(resource, leaf, quoted(leaf.column))).join(', ')
  const text = `SELECT array_agg(id ORDER BY id) AS ids FROM ${quotedTable(resource)}
    WHERE (${compared}) IS NOT NULL GROUP BY ${compared} HAVING count(*) > 1 ORDER BY 1 LIMIT ${NAMED}`
  return (await client.$rows<{ ids: string[] }>({ text, values: [] })).map(({ ids }) => ids)
}
