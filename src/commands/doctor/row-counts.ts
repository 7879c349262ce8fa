import type { DatabaseClient } from '../../database/client.ts'
import { quotedTable } from '../../database/sql/statement.ts'
import { type Resource, tableName } from '../../model/resource.ts'

interface Counts {
  readonly stored: string
  readonly actual: string
}

/**
 * The collections whose stored count, which lists show, is wrong: because it was edited, or because rows were
 * changed while triggers were disabled.
 */
export async function rowCountProblems(
  client: DatabaseClient,
  resources: readonly Resource[],
): Promise<string[]> {
  const wrong = await wrongCounts(client, resources)
  return wrong.map(
    ([{ path }, { stored, actual }]) =>
      `${path}: stored count ${stored}, actual count ${actual}; run npm run doctor -- --repair, or SELECT recount_rows('${tableName(path)}')`,
  )
}

/** Recounts the collections whose stored count is wrong; writes to them wait. Returns what was done. */
export async function repairRowCounts(
  client: DatabaseClient,
  resources: readonly Resource[],
): Promise<string[]> {
  const wrong = await wrongCounts(client, resources)
  for (const [{ path }] of wrong)
    await client.$rows({ text: 'SELECT recount_rows($1)', values: [tableName(path)] })
  return wrong.map(([{ path }]) => `recounted ${path}`)
}

async function wrongCounts(
  client: DatabaseClient,
  resources: readonly Resource[],
): Promise<(readonly [Resource, Counts])[]> {
  const collections = resources.filter(({ kind }) => kind === 'collection')
  const counted = collections.map(async (resource) => [resource, await countsOf(client, resource)] as const)
  return (await Promise.all(counted)).filter(([, { stored, actual }]) => stored !== actual)
}

/** One statement, so both counts are of the same snapshot. */
async function countsOf(client: DatabaseClient, resource: Resource): Promise<Counts> {
  const text = `SELECT (SELECT count(*) FROM ${quotedTable(resource)})::text AS actual,
    COALESCE((SELECT sum(rows) FROM row_counts WHERE collection = $1), 0)::text AS stored`
  const [counts] = await client.$rows<Counts>({ text, values: [tableName(resource.path)] })
  return counts as Counts
}
