import type { StatementClient } from '../database/database-client.ts'
import { hidesRows } from '../model/access/access.ts'
import type { Resource } from '../model/definition/resource.ts'
import { DefinitionError } from '../model/problems/definition-problems.ts'

/** The positions of a timeline begin at least so far above the former one (prisma/engine/tell_lives_apart.sql). */
export const BETWEEN_TIMELINES = 1_000_000_000

/**
 * Sets how many days changes are recorded for; 0 stops recording. The states before changes are recorded where access rules
 * hide rows.
 *
 * @returns whether changes are recorded: false also if the domain lacks the migration
 * @throws {DefinitionError} if a domain with access rules lacks the migration that records states
 */
export async function keepChanges(
  client: StatementClient,
  days: number,
  resources: readonly Resource[],
): Promise<boolean> {
  if (!(await hasFunction(client, 'keep_changes(integer)'))) return false
  await client.$rows({ text: 'SELECT keep_changes($1)::text AS kept', values: [days] })
  const paths = resources.filter(hidesRows).map(({ path }) => path)
  if (await hasFunction(client, 'record_states_before(text[])'))
    await client.$rows({ text: 'SELECT record_states_before($1)::text AS kept', values: [paths.sort()] })
  else if (paths.length > 0) throw new DefinitionError([MIGRATE])
  return days > 0
}

const MIGRATE =
  'Its access rules need the migration record_states_before: run `npx halgraph resource migrate` and apply it'

/**
 * Gives the next changes higher versions and positions than those that a restored database may have lost, and others than
 * any database that is restored from the same backup.
 *
 * @returns false if the domain lacks the migration
 */
export async function beginTimeline(client: StatementClient): Promise<boolean> {
  if (!(await hasFunction(client, 'follow_rows()'))) return false
  await client.$rows({
    text: 'SELECT follow_rows()::text AS followed, begin_timeline()::text AS begun',
    values: [],
  })
  return true
}

async function hasFunction(client: StatementClient, signature: string): Promise<boolean> {
  const text = 'SELECT to_regprocedure($1) IS NOT NULL AS exists'
  const [found] = await client.$rows<{ exists: boolean }>({ text, values: [signature] })
  return found?.exists === true
}
