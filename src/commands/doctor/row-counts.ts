import type { DatabaseClient } from '../../database/client.ts'
import { quotedTable } from '../../database/sql/statement.ts'
import { type Resource, tableName } from '../../model/resource.ts'

interface Counts {
  readonly stored: string
  readonly actual: string
}

type Resources = readonly Resource[]

/** Stored counts, which lists show, are wrong after an edit of them or of rows with disabled triggers. */
export async function rowCountProblems(client: DatabaseClient, resources: Resources): Promise<string[]> {
  const wrong = await wrongCounts(client, resources)
  return wrong.map(
    ([{ path }, { stored, actual }]) =>
      `${path}: stored count ${stored}, actual count ${actual}; run npm run doctor -- --repair, or SELECT recount_rows('${tableName(path)}')`,
  )
}

/** Writes to the collections wait until they are recounted. */
export async function repairRowCounts(client: DatabaseClient, resources: Resources): Promise<string[]> {
  const wrong = await wrongCounts(client, resources)
  for (const [{ path }] of wrong)
    await client.$rows({ text: 'SELECT recount_rows($1)', values: [tableName(path)] })
  return wrong.map(([{ path }]) => `recounted ${path}`)
}

async function wrongCounts(client: DatabaseClient, resources: Resources) {
  const collections = resources.filter(({ kind }) => kind === 'collection')
  const counted = collections.map(async (resource) => [resource, await countsOf(client, resource)] as const)
  return (await Promise.all(counted)).filter(([, { stored, actual }]) => stored !== actual)
}

/** In one statement, so that both counts come from the same snapshot. */
async function countsOf(client: DatabaseClient, resource: Resource): Promise<Counts> {
  const text = `SELECT (SELECT count(*) FROM ${quotedTable(resource)})::text AS actual,
    COALESCE((SELECT sum(rows) FROM row_counts WHERE collection = $1), 0)::text AS stored`
  const [counts] = await client.$rows<Counts>({ text, values: [tableName(resource.path)] })
  return counts as Counts
}
