import { parseConnection } from '../database/connection.ts'
import { openSharedEmbedded } from '../database/embedded/embedded-database.ts'
import { migrate } from '../database/migrations/migrator.ts'
import { databaseConfiguration, runCommand } from '../service/command.ts'
import { patienceOf } from '../service/settings/configuration.ts'

const usage = `Applies the pending migrations of the database.

  npx halgraph migrate

Migrates the PostgreSQL server of DATABASE_URL. Without DATABASE_URL, it migrates the embedded database in
DATA_DIR, which the service also does when it starts. The service can be running.`

await runCommand(usage, {}, async () => {
  const { settings, domain } = await databaseConfiguration()
  const { databaseUrl } = settings
  const embedded =
    databaseUrl === undefined ? await openSharedEmbedded(settings.dataDir, settings) : undefined
  const connection = embedded?.connection ?? parseConnection(databaseUrl ?? '', patienceOf(settings))
  const applied = await migrate(connection, domain.folder.migrations).finally(embedded?.close)
  for (const name of applied) console.log(`Applied ${name}`)
  if (applied.length === 0) console.log('The database is up to date')
})
