import { parseArgs } from 'node:util'
import { parseConnection } from '../database/connection.ts'
import { openEmbeddedDatabase } from '../database/embedded/embedded-database.ts'
import { migrate } from '../database/migrations/migrator.ts'
import { databaseSettings, runCommand } from './command.ts'

const usage = `Applies the migrations the database lacks.

  npm run migrate

The database is the PostgreSQL server of DATABASE_URL; without that, the embedded one in DATA_DIR, which
the service also migrates by itself.`

await runCommand(async () => {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) return console.log(usage)
  const { databaseUrl, dataDir } = databaseSettings()
  const applied =
    databaseUrl === undefined ? await migrateEmbedded(dataDir) : await migrateServer(databaseUrl)
  for (const name of applied) console.log(`Applied ${name}`)
  if (applied.length === 0) console.log('The database has every migration')
})

function migrateServer(databaseUrl: string): Promise<string[]> {
  return migrate(parseConnection(databaseUrl))
}

async function migrateEmbedded(dataDir: string): Promise<string[]> {
  const embedded = await openEmbeddedDatabase(dataDir)
  try {
    return await migrate(embedded.connection)
  } finally {
    await embedded.close()
  }
}
