import type { Database } from '../database/database.ts'
import { openExistingDatabase, openSharedDatabase } from '../database/open-database.ts'
import { type Configuration, databaseOptions } from '../service/settings/configuration.ts'

/**
 * Opens the database of the settings, shared with a running service, and closes it after `use`.
 *
 * @throws {DatabaseRefusedError} when it cannot be opened
 */
export async function withDatabase(configuration: Configuration, use: Use): Promise<void> {
  await closing(await openSharedDatabase(databaseOptions(configuration)), use)
}

/**
 * The same for a command that only reads: the database must exist, and is neither created nor migrated.
 *
 * @throws {DatabaseRefusedError} when it does not exist or cannot be opened
 */
export async function withExistingDatabase(configuration: Configuration, use: Use): Promise<void> {
  await closing(await openExistingDatabase(databaseOptions(configuration)), use)
}

type Use = (database: Database) => Promise<void>

async function closing(database: Database, use: Use): Promise<void> {
  try {
    await use(database)
  } finally {
    await database.close()
  }
}
