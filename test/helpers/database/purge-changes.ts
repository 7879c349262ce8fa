import { numberChanges } from '../../../src/features/history/feed/upkeep.ts'
import type { TestDatabase } from './database.ts'

/** Deletes all recorded changes, as if they were too old. */
export async function purgeChanges({ client, pool }: TestDatabase): Promise<void> {
  await numberChanges(client)
  await pool.query("SELECT purge_changes(now() + interval '1 hour', 1000)")
}
