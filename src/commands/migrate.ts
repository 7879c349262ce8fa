import { parseConnection } from '../database/connection.ts'
import { openEmbeddedDatabase } from '../database/embedded/embedded-database.ts'
import { migrate } from '../database/migrations/migrator.ts'
import { databaseSettings, runCommand } from './command.ts'

const usage = `Applies the pending migrations of the database.

  npx halgraph migrate

Migrates the PostgreSQL server of DATABASE_URL. Without DATABASE_URL it migrates the embedded database in
DATA_DIR, which the service also does at start.`

await runCommand(usage, {}, async () => {
  const { databaseUrl, dataDir } = databaseSettings()
  const applied =
    databaseUrl === undefined ? await migrateEmbedded(dataDir) : await migrate(parseConnection(databaseUrl))
  for (const name of applied) console.log(`Applied ${name}`)
  if (applied.length === 0) console.log('The database is up to date')
})

async function migrateEmbedded(dataDir: string): Promise<string[]> {
  const embedded = await openEmbeddedDatabase(dataDir)
  try {
    return await migrate(embedded.connection)
  } finally {
    await embedded.close()
  }
}
