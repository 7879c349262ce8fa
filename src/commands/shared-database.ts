import type { Database } from '../database/database.ts'
import { openSharedDatabase } from '../database/open-database.ts'
import { databaseOptions } from '../server.ts'
import type { Settings } from '../settings.ts'

/**
 * Opens the database of the settings, shared with a running service, and closes it after `use`.
 *
 * @throws {DatabaseRefusedError} when it cannot be opened
 */
export async function withDatabase(
  settings: Settings,
  use: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await openSharedDatabase(databaseOptions(settings))
  try {
    await use(database)
  } finally {
    await database.close()
  }
}
