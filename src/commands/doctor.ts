import { parseConnection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { migrationState } from '../database/migrations/migrator.ts'
import { openExistingDatabase } from '../database/open-database.ts'
import { DatabaseRefusedError } from '../database/refused.ts'
import { resources } from '../domain/resources/index.ts'
import { databaseOptions } from '../server.ts'
import { readSettings, type Settings, SettingsError } from '../settings.ts'
import { loadSettingsFile } from '../settings-file.ts'
import { databaseSettings, runCommand } from './command.ts'
import { modelDrift, tableDrift } from './doctor/drift.ts'
import { referenceProblems, repairReferences } from './doctor/references.ts'
import { repairRowCounts, rowCountProblems } from './doctor/row-counts.ts'
import { rowProblems } from './doctor/rows.ts'
import { inspectSession } from './doctor/session.ts'

const usage = `Checks the service and its database without changing them.

  npm run doctor
  npm run doctor -- --repair

  --repair   recount the rows of collections whose stored count is wrong, and correct references

Checks the settings, the connection, the migrations, the server and its session settings, whether definitions,
Prisma schema and tables match, the stored row counts, the references, and whether each row is valid. Exit status 1 when a
check fails.`

await runCommand(usage, { options: { repair: { type: 'boolean' } } }, async ({ values }) => {
  if (!report('settings', settingsProblems())) return
  const settings = databaseSettings()
  if (!report('migrations', await migrationProblems(settings))) return
  const { database, problems } = await open(settings)
  report('database', problems)
  if (!database) return
  const { client } = database
  try {
    for (const [check, problems] of await inspectSession(database)) report(check, problems)
    report('definitions and Prisma schema', resources.flatMap(modelDrift))
    report('definitions and tables', await tableDrift(client, resources))
    if (values.repair) {
      const repairs = [...(await repairRowCounts(client, resources)), ...(await repairReferences(client))]
      for (const repair of repairs) console.log(`done  ${repair}`)
    }
    report('row counts', await rowCountProblems(client, resources))
    report('references', await referenceProblems(client))
    for (const resource of resources) report(resource.path, await rowProblems(client, resource))
  } finally {
    await database.close()
  }
})

/** Prints the result of a check; returns whether it passed. */
function report(check: string, problems: readonly string[]): boolean {
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'}  ${check}`)
  for (const problem of problems) console.log(`        ${problem}`)
  if (problems.length > 0) process.exitCode = 1
  return problems.length === 0
}

function settingsProblems(): readonly string[] {
  try {
    readSettings(process.env, loadSettingsFile())
    return []
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
}

/** Only of a server: an embedded database is refused when it is opened. */
async function migrationProblems({ databaseUrl }: Settings): Promise<readonly string[]> {
  if (databaseUrl === undefined) return []
  try {
    const { pending, unknown, edited, failed } = await migrationState(parseConnection(databaseUrl))
    return [
      ...pending.map((name) => `${name} is pending: run npm run migrate`),
      ...unknown.map((name) => `${name} is not known to this version: the database is newer`),
      ...edited.map((name) => `${name} was edited after it was applied`),
      ...failed.map((name) => `${name} did not finish`),
    ]
  } catch (error) {
    return [refusalOf(error)]
  }
}

async function open(settings: Settings): Promise<{ database?: Database; problems: readonly string[] }> {
  try {
    return { database: await openExistingDatabase(databaseOptions(settings)), problems: [] }
  } catch (error) {
    return { problems: [refusalOf(error)] }
  }
}

/** @throws the error, unless the database was refused */
function refusalOf(error: unknown): string {
  if (error instanceof DatabaseRefusedError) return error.message
  throw error
}
