import { parseArgs } from 'node:util'
import { parseConnection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { migrationState } from '../database/migrations/migrator.ts'
import { openSharedDatabase } from '../database/open-database.ts'
import { DatabaseRefusedError } from '../database/refused.ts'
import { resources } from '../domain/resources/index.ts'
import { databaseOptions } from '../server.ts'
import { readSettings, type Settings, SettingsError } from '../settings.ts'
import { databaseSettings, runCommand } from './command.ts'
import { modelDrift, tableDrift } from './doctor/drift.ts'
import { repairRowCounts, rowCountProblems } from './doctor/row-counts.ts'
import { refusedRows } from './doctor/rows.ts'
import { inspectSession } from './doctor/session.ts'

const usage = `Examines the service without changing anything.

  npm run doctor
  npm run doctor -- --repair

  --repair   count the rows of a collection anew where the count that lists show is wrong

It checks the settings, whether the database can be reached and has every migration, what the server and the
settings of a session on it are, whether definitions, Prisma schema and tables agree, whether the kept counts
are right, and whether any row is one that the service would refuse. Exit status 1 when something is wrong.`

await runCommand(async () => {
  const { values } = parseArgs({
    options: { repair: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help) return console.log(usage)
  if (!report('settings', settingsProblems())) return
  const settings = databaseSettings()
  if (!report('migrations', await migrationProblems(settings))) return
  const { database, problems } = await opened(settings)
  report('database', problems)
  if (!database) return
  try {
    for (const [what, problems] of await inspectSession(database)) report(what, problems)
    report('definitions and Prisma schema', resources.flatMap(modelDrift))
    report('definitions and tables', await tableDrift(database.client, resources))
    if (values.repair) {
      for (const done of await repairRowCounts(database.client, resources)) console.log(`done  ${done}`)
    }
    report('row counts', await rowCountProblems(database.client, resources))
    for (const resource of resources) report(resource.path, await refusedRows(database.client, resource))
  } finally {
    await database.close()
  }
})

/** Says what was found, and whether that is nothing. */
function report(what: string, problems: readonly string[]): boolean {
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'}  ${what}`)
  for (const problem of problems) console.log(`        ${problem}`)
  if (problems.length > 0) process.exitCode = 1
  return problems.length === 0
}

function settingsProblems(): readonly string[] {
  try {
    readSettings(process.env)
    return []
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
}

/** The embedded database is migrated whenever it is opened; only a server can be behind or ahead. */
async function migrationProblems({ databaseUrl }: Settings): Promise<readonly string[]> {
  if (databaseUrl === undefined) return []
  try {
    const { pending, unknown, edited, failed } = await migrationState(parseConnection(databaseUrl))
    return [
      ...pending.map((name) => `${name} is not applied: npm run migrate`),
      ...unknown.map((name) => `${name} is applied and unknown here: the database is of a newer version`),
      ...edited.map((name) => `${name} was changed after it had been applied`),
      ...failed.map((name) => `${name} was begun and did not finish`),
    ]
  } catch (error) {
    return [refusal(error)]
  }
}

async function opened(settings: Settings): Promise<{ database?: Database; problems: readonly string[] }> {
  try {
    return { database: await openSharedDatabase(databaseOptions(settings)), problems: [] }
  } catch (error) {
    return { problems: [refusal(error)] }
  }
}

/** @throws what is not a refusal of the database */
function refusal(error: unknown): string {
  if (error instanceof DatabaseRefusedError) return error.message
  throw error
}
