import type { DatabaseClient } from '../../database/database-client.ts'
import { quotedTable } from '../../database/sql/statement.ts'
import { BETWEEN_TIMELINES } from '../../domain/recording.ts'
import { type Resource, tableName } from '../../model/definition/resource.ts'
import { NAMED } from './parts.ts'

// Triggers maintain these values. Editing a value itself, or rows while triggers are disabled, makes it wrong.

/** Lists show the stored counts. */
export async function rowCountProblems(client: DatabaseClient, resources: readonly Resource[]) {
  const wrong = await wrongCounts(client, resources)
  return wrong.map(
    ({ path, table, stored, actual }) =>
      `${path}: stored count ${stored}, actual count ${actual}; run npx halgraph doctor --repair, or SELECT recount_rows('${table}')`,
  )
}

export async function repairRowCounts(client: DatabaseClient, resources: readonly Resource[]) {
  const wrong = await wrongCounts(client, resources)
  for (const { table } of wrong) await client.$rows({ text: 'SELECT recount_rows($1)', values: [table] })
  return wrong.map(({ path }) => `recounted ${path}`)
}

/** One statement for each collection, so that both counts come from the same snapshot. */
async function wrongCounts(client: DatabaseClient, resources: readonly Resource[]) {
  const collections = resources.filter(({ kind }) => kind === 'collection')
  const counted = collections.map(async (resource) => {
    const table = tableName(resource.path)
    const text = `SELECT (SELECT count(*) FROM ${quotedTable(resource)})::text AS actual,
      COALESCE((SELECT sum(rows) FROM row_counts WHERE collection = $1), 0)::text AS stored`
    const [counts] = await client.$rows<{ stored: string; actual: string }>({ text, values: [table] })
    return { path: resource.path, table, stored: counts?.stored, actual: counts?.actual }
  })
  return (await Promise.all(counted)).filter(({ stored, actual }) => stored !== actual)
}

/** Positions and versions below those that were given would be given again: of a table that was restored without the feed. */
export async function feedProblems(client: DatabaseClient, resources: readonly Resource[]) {
  const tables = resources.map((resource) => `SELECT max(version) AS version FROM ${quotedTable(resource)}`)
  const text = `SELECT last_position < COALESCE((SELECT max(position) FROM recorded_changes), 0)
      OR highest_version < COALESCE((SELECT max(version) FROM (${tables.join(' UNION ALL ')}
        UNION ALL SELECT max(version) FROM recorded_changes UNION ALL SELECT max(version) FROM tombstones) AS given), 0)
      AS "isBehind",
      (SELECT bool_or(later > former AND later - former < ${BETWEEN_TIMELINES}) FROM (VALUES
        (last_position, GREATEST(purged_position, (SELECT max(position) FROM recorded_changes))),
        ((SELECT position - COALESCE(cardinality(ids), 1) FROM recorded_changes
          WHERE position > purged_position ORDER BY position LIMIT 1), purged_position)) AS ends (later, former)) AS "lacksChanges"
    FROM change_feed`
  const [feed] = await client.$rows<Record<'isBehind' | 'lacksChanges', boolean>>({ text, values: [] })
  if (!feed)
    return ['change_feed has no row; run npx halgraph doctor --repair, and then npx halgraph restored']
  const isBehind = 'versions or positions that were given would be given again; run npx halgraph restored'
  const lacksChanges =
    'changes are missing, which readers would not notice; run UPDATE change_feed SET purged_position = last_position'
  return [...(feed.isBehind ? [isBehind] : []), ...(feed.lacksChanges ? [lacksChanges] : [])]
}

/** The row goes on after the changes that are recorded. Those that are not may have been given: see `npx halgraph restored`. */
export async function repairFeed(client: DatabaseClient): Promise<string[]> {
  const text = `INSERT INTO change_feed (last_position)
    SELECT COALESCE(max(position), 0) FROM recorded_changes HAVING NOT EXISTS (SELECT FROM change_feed)
    RETURNING id`
  const made = await client.$rows({ text, values: [] })
  return made.map(() => 'made the row of change_feed')
}

/**
 * References that contradict the text they follow: missing although the text names a resource, or set although it is
 * empty. Any other reference may be right, because resources are renamed.
 */
export async function referenceProblems(client: DatabaseClient): Promise<string[]> {
  const text = 'SELECT collection, id FROM inconsistent_references() ORDER BY 1, 2'
  const wrong = await queryIfDefined<{ collection: string; id: string }>(client, text)
  const named = wrong.slice(0, NAMED).map(({ collection, id }) => `${collection}/${id}`)
  if (named.length === 0) return []
  const others = wrong.length > NAMED ? ` and ${wrong.length - NAMED} more` : ''
  return [`${named.join(', ')}${others}; run npx halgraph doctor --repair, or SELECT repair_references()`]
}

export async function repairReferences(client: DatabaseClient): Promise<string[]> {
  const repaired = await queryIfDefined<{ count: number }>(client, 'SELECT repair_references()::int AS count')
  return repaired.filter(({ count }) => count > 0).map(({ count }) => `corrected ${count} references`)
}

/** The functions for references exist only if a reference follows a text. */
async function queryIfDefined<Row>(client: DatabaseClient, text: string): Promise<Row[]> {
  const exists = "SELECT WHERE to_regprocedure('inconsistent_references()') IS NOT NULL"
  const found = await client.$rows({ text: exists, values: [] })
  return found.length === 0 ? [] : client.$rows<Row>({ text, values: [] })
}
