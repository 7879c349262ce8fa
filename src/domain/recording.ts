import type { StatementClient } from '../database/database-client.ts'

/**
 * Sets how many days changes are recorded for; 0 stops recording.
 *
 * @returns whether changes are recorded: false also if the domain lacks the migration
 */
export async function keepChanges(client: StatementClient, days: number): Promise<boolean> {
  if (!(await hasFunction(client, 'keep_changes(integer)'))) return false
  await client.$rows({ text: 'SELECT keep_changes($1)::text AS kept', values: [days] })
  return days > 0
}

/**
 * Gives the next changes higher versions and positions than those that a restored database may have lost.
 *
 * @returns false if the domain lacks the migration
 */
export async function beginTimeline(client: StatementClient): Promise<boolean> {
  if (!(await hasFunction(client, 'begin_timeline()'))) return false
  await client.$rows({ text: 'SELECT begin_timeline()::text AS begun', values: [] })
  return true
}

async function hasFunction(client: StatementClient, signature: string): Promise<boolean> {
  const text = 'SELECT to_regprocedure($1) IS NOT NULL AS exists'
  const [found] = await client.$rows<{ exists: boolean }>({ text, values: [signature] })
  return found?.exists === true
}
