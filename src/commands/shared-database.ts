import { type Database, openSharedDatabase } from '../database/database.ts'
import { type Configuration, databaseOptions } from '../service/settings/configuration.ts'

/**
 * Opens the database of the settings, shared with a running service, and closes it after `use`.
 *
 * @param open `openExistingDatabase` for a command that only reads: it neither creates nor migrates a database
 */
export async function withDatabase(
  configuration: Configuration,
  use: (database: Database) => Promise<void>,
  open = openSharedDatabase,
): Promise<void> {
  const database = await open(databaseOptions(configuration))
  await use(database).finally(database.close)
}
