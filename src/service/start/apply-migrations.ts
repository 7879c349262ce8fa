import { parseConnection } from '../../database/connection.ts'
import { openSharedEmbedded } from '../../database/embedded/embedded-database.ts'
import { migrate } from '../../database/migrations/migrator.ts'
import { type Configuration, patienceOf } from '../settings/configuration.ts'

/**
 * Applies the pending migrations of a domain to the database of the settings, which a service may be using.
 *
 * @returns their names
 * @throws {DatabaseRefusedError} if the database cannot be used or migrated
 */
export async function applyMigrations({ settings, domain }: Configuration): Promise<readonly string[]> {
  const { databaseUrl } = settings
  const embedded =
    databaseUrl === undefined ? await openSharedEmbedded(settings.dataDir, settings) : undefined
  const connection = embedded?.connection ?? parseConnection(databaseUrl ?? '', patienceOf(settings))
  return migrate(connection, domain.folder.migrations).finally(embedded?.close)
}
