import { databaseConfiguration, runCommand } from '../service/command.ts'
import { applyMigrations } from '../service/start/apply-migrations.ts'

const usage = `Applies the pending migrations of the database.

  npx halgraph migrate

Migrates the PostgreSQL server of DATABASE_URL. Without DATABASE_URL, it migrates the embedded database in
DATA_DIR, which the service also does when it starts. The service can be running.`

await runCommand(usage, {}, async () => {
  const applied = await applyMigrations(await databaseConfiguration())
  for (const name of applied) console.log(`Applied ${name}`)
  if (applied.length === 0) console.log('The database is up to date')
})
