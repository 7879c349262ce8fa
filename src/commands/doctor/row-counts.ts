import type { DatabaseClient } from '../../database/client.ts'
import { tableOf } from '../../database/sql/statement.ts'
import { type Resource, tableName } from '../../domain/model/resource.ts'

interface Counts {
  readonly kept: string
  readonly actual: string
}

/**
 * Where the kept count of a collection, which lists show, is not that of its rows: after it was changed by
 * hand, or rows were while triggers were off.
 */
export async function rowCountProblems(
  client: DatabaseClient,
  resources: readonly Resource[],
): Promise<string[]> {
  const wrong = await wrongCounts(client, resources)
  return wrong.map(
    ([{ path }, { kept, actual }]) =>
      `${path} is counted as ${kept} and has ${actual}: npm run doctor -- --repair, or SELECT recount_rows('${tableName(path)}')`,
  )
}

/** Counts the collections anew whose kept count is wrong. Writes to them wait meanwhile. Says what was done. */
export async function repairRowCounts(
  client: DatabaseClient,
  resources: readonly Resource[],
): Promise<string[]> {
  const wrong = await wrongCounts(client, resources)
  for (const [{ path }] of wrong)
    await client.$rows({ text: 'SELECT recount_rows($1)', values: [tableName(path)] })
  return wrong.map(([{ path }]) => `${path} was counted anew`)
}

async function wrongCounts(
  client: DatabaseClient,
  resources: readonly Resource[],
): Promise<(readonly [Resource, Counts])[]> {
  const collections = resources.filter(({ kind }) => kind === 'collection')
  const counted = collections.map(async (resource) => [resource, await countsOf(client, resource)] as const)
  return (await Promise.all(counted)).filter(([, { kept, actual }]) => kept !== actual)
}

/** Both of one snapshot, since they are of one statement. */
async function countsOf(client: DatabaseClient, resource: Resource): Promise<Counts> {
  const text = `SELECT (SELECT count(*) FROM ${tableOf(resource)})::text AS actual,
    COALESCE((SELECT sum(rows) FROM row_counts WHERE collection = $1), 0)::text AS kept`
  const [counts] = await client.$rows<Counts>({ text, values: [tableName(resource.path)] })
  return counts as Counts
}
