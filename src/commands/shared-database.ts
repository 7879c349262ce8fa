import type { Database } from '../database/database.ts'
import { openExistingDatabase, openSharedDatabase } from '../database/open-database.ts'
import { databaseOptions } from '../server.ts'
import type { Settings } from '../settings.ts'

/**
 * Opens the database of the settings, shared with a running service, and closes it after `use`.
 *
 * @throws {DatabaseRefusedError} when it cannot be opened
 */
export async function withDatabase(settings: Settings, use: Use): Promise<void> {
  await closing(await openSharedDatabase(databaseOptions(settings)), use)
}

/**
 * The same for a command that only reads: the database must exist, and is neither created nor migrated.
 *
 * @throws {DatabaseRefusedError} when it does not exist or cannot be opened
 */
export async function withExistingDatabase(settings: Settings, use: Use): Promise<void> {
  await closing(await openExistingDatabase(databaseOptions(settings)), use)
}

type Use = (database: Database) => Promise<void>

async function closing(database: Database, use: Use): Promise<void> {
  try {
    await use(database)
  } finally {
    await database.close()
  }
}
