import { DatabaseRefusedError, parseConnection } from '../database/connection.ts'
import { type Database, openExistingDatabase, type Tables } from '../database/database.ts'
import { lackingFeatures, migrationState } from '../database/migrations/migrator.ts'
import { refuseDamaged } from '../database/migrations/parts.ts'
import { INSUFFICIENT_PRIVILEGE } from '../database/migrations/schemas.ts'
import { collationProblems, readServerFacts } from '../database/server-facts.ts'
import { sessionSettings } from '../database/session.ts'
import { discover } from '../http/auth/discovery.ts'
import type { Resource } from '../model/definition/resource.ts'
import { DomainError } from '../model/errors.ts'
import { DefinitionError } from '../model/problems/definition-problems.ts'
import { runCommand } from '../service/command.ts'
import { databaseOptions, loadConfiguration, patienceOf } from '../service/settings/configuration.ts'
import { type Settings, SettingsError, settingsWarnings } from '../service/settings/settings.ts'
import { styled } from '../service/terminal.ts'
import { buriedProblems, repairBuried } from './doctor/buried.ts'
import {
  feedProblems,
  referenceProblems,
  repairFeed,
  repairReferences,
  repairRowCounts,
  rowCountProblems,
} from './doctor/derived.ts'
import { foreignKeyProblems, partProblems, repairParts, settingProblems } from './doctor/parts.ts'
import { rowProblems, tableDrift } from './doctor/tables.ts'
import { repairUniqueness, uniquenessProblems } from './doctor/uniqueness.ts'

const usage = `Checks the service and its database. Changes nothing unless you pass --repair.

  npx halgraph doctor
  npx halgraph doctor --repair

  --json     print the results as one JSON object
  --repair   make triggers, constraints, indexes and functions that are missing, correct wrong row counts, add missing
             references, remove those whose text is blank, and build unique indexes again that leave out rows

Checks the settings, the metadata of OIDC_ISSUER, the connection, the migrations, the server and its session
settings, whether the database has all that the migrations make, and the definitions, Prisma schema and tables match,
the feed of changes, foreign keys, the stored row counts, the references, texts that must be unique, and whether each
row is valid. The exit status is 1 if a check fails.`

const options = { repair: { type: 'boolean' }, json: { type: 'boolean', default: false } } as const

/** Values of LC_CTYPE that fold the case of ASCII letters only. */
const ASCII_ONLY = /^(?:C|POSIX)$/

const checks: { check: string; ok: boolean; problems: readonly string[] }[] = []
const repairs: string[] = []
const warnings: string[] = []
let isJson = false

await runCommand(usage, { options }, async ({ values }) => {
  isJson = values.json
  await inspect(values.repair === true)
  if (isJson) console.log(JSON.stringify({ ok: checks.every(({ ok }) => ok), checks, repairs, warnings }))
})

async function inspect(repair: boolean): Promise<void> {
  const configuration = await attempt('settings', loadConfiguration)
  if (!configuration) return
  const { settings, domain } = configuration
  for (const warning of settingsWarnings(settings)) warn(warning)
  if (settings.oidcIssuer !== undefined)
    report(
      'metadata of OIDC_ISSUER',
      await discover(settings.oidcIssuer).then(
        () => [],
        ({ message }) => [message],
      ),
    )
  const configured = databaseOptions(configuration)
  // A pooler may have few sessions. By two, one in transaction mode is told.
  const options = { ...configured, databasePoolSize: Math.min(configured.databasePoolSize, 2) }
  const tables = await attempt('definitions and Prisma schema', options.tables)
  if (!tables) return
  if (!report('migrations', await migrationProblems(settings, tables).catch(problemsOf))) return
  const database = await attempt('database', () => openExistingDatabase(options))
  if (database)
    await inspectDatabase(database, domain.resources, tables.migrations, repair).finally(database.close)
}

/** Returns undefined if the work was refused, and reports the reason. */
async function attempt<Value>(check: string, work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    const value = await work()
    report(check, [])
    return value
  } catch (error) {
    report(check, problemsOf(error))
    return undefined
  }
}

/** @throws any error that is not a refusal */
function problemsOf(error: unknown): readonly string[] {
  if (error instanceof SettingsError || error instanceof DefinitionError) return error.problems
  if (error instanceof DatabaseRefusedError) return [error.message]
  throw error
}

async function inspectDatabase(
  database: Database,
  resources: readonly Resource[],
  migrations: string,
  repair: boolean,
): Promise<void> {
  const { client } = database
  await inspectSession(database)
  const isWhole = await inspectParts(database, migrations, repair)
  const isDefined = report('definitions and tables', await tableDrift(client, resources)) && isWhole
  // A statement may name a column, a table or a function that the database lacks.
  const attempt = <Result>(action: () => Promise<Result>) =>
    action().catch((error) => {
      if (isDefined || error instanceof DomainError) throw error
    })
  const inspect = async (check: string, find: () => Promise<readonly string[]>) => {
    const problems = await attempt(find)
    report(check, problems ?? ['cannot be checked, because parts of the database are missing or different'])
  }
  if (repair) {
    for (const action of [repairFeed, repairBuried, repairRowCounts, repairReferences, repairUniqueness])
      repairs.push(...((await attempt(() => action(client, resources))) ?? []))
    if (!isJson) for (const done of repairs) console.log(`done  ${done}`)
  }
  await inspect('row counts', () => rowCountProblems(client, resources))
  await inspect('references', () => referenceProblems(client))
  await inspect('unique texts', () => uniquenessProblems(client, resources))
  await inspect('feed of changes', () => feedProblems(client, resources))
  await inspect('tombstones', () => buriedProblems(client))
  await inspect('foreign keys', () => foreignKeyProblems(client))
  for (const resource of resources) await inspect(resource.path, () => rowProblems(client, resource))
}

/** First, since other checks and repairs use the functions of the database. Returns whether nothing is known to be wrong. */
async function inspectParts(database: Database, migrations: string, repair: boolean): Promise<boolean> {
  const check = 'triggers, constraints, indexes and functions'
  try {
    const { done, refused } = repair
      ? await repairParts(database.connection, migrations)
      : { done: [], refused: [] }
    repairs.push(...done)
    return report(check, [...refused, ...(await partProblems(database, migrations))])
  } catch (error) {
    const problems = problemsOf(error).map((problem) => `not checked: ${problem}`)
    const { code } = (error as { cause?: { code?: string } }).cause ?? {}
    if (code !== INSUFFICIENT_PRIVILEGE) return report(check, problems)
    // The role of a service need not make tables.
    warn(`${check}: ${problems.join(' ')} Run this as the owner of the tables.`)
    return report('disabled triggers', await refuseDamaged(database.pool).then(() => [], problemsOf))
  }
}

/** Returns whether the check passed. */
function report(check: string, problems: readonly string[]): boolean {
  const ok = problems.length === 0
  checks.push({ check, ok, problems })
  if (!ok) process.exitCode = 1
  if (!isJson) {
    const state = styled(process.stdout, ok ? 'green' : 'red', ok ? 'ok  ' : 'FAIL')
    console.log(`${state}  ${check}`)
    for (const problem of problems) console.log(`        ${problem}`)
  }
  return ok
}

function warn(warning: string): void {
  warnings.push(warning)
  if (!isJson) console.log(`${styled(process.stdout, 'yellow', 'warn')}  ${warning}`)
}

/** Only of a server. An embedded database with such problems is refused when it opens. */
async function migrationProblems(settings: Settings, { migrations }: Tables): Promise<readonly string[]> {
  const { databaseUrl } = settings
  if (databaseUrl === undefined) return []
  const connection = parseConnection(databaseUrl, patienceOf(settings))
  const state = await migrationState(connection, migrations)
  const { applied, pending, unknown, edited, failed, misplaced } = state
  // The first migration requires these features.
  if (applied.length === 0) {
    const lacking = lackingFeatures(parseConnection(databaseUrl))
    const name = (feature: string) => `The server lacks ${feature}; see docs/ENGINES.md`
    const problems = await lacking.then((features) => features.map(name), problemsOf)
    report('features of the server', problems)
  }
  return [
    ...misplaced.map((name) => `${name} is in the schema of the resources; run npx halgraph migrate`),
    ...pending.map((name) => `${name} is pending; run npx halgraph migrate`),
    ...unknown.map((name) => `${name} is unknown to this version: the database is newer`),
    ...edited.map((name) => `${name} was edited after it was applied`),
    ...failed.map((name) => `${name} did not finish`),
  ]
}

async function inspectSession(database: Database): Promise<void> {
  const { pool, check } = database
  const facts = await readServerFacts(pool)
  const { version, encoding, collation, ctype, provider, isStandby } = facts
  const limit =
    provider !== 'i' && ASCII_ONLY.test(ctype) ? ' (unique names ignore case for A to Z only)' : ''
  report(
    `server: PostgreSQL ${version}, encoding ${encoding}, collation ${collation}, LC_CTYPE ${ctype}${limit}`,
    [
      ...(isStandby ? ['The server is a standby, which accepts no writes'] : []),
      ...(await collationProblems(pool, facts)),
    ],
  )
  const { rows } = await pool.query<{ name: string; value: string }>(
    'SELECT name, current_setting(name, TRUE) AS value FROM unnest($1::text[]) AS setting (name)',
    [Object.keys(sessionSettings())],
  )
  const settings = rows.map(({ name, value }) => `${name} ${value}`).join('; ')
  const holder = pool.isPooled ? 'each transaction, through a pooler' : 'session'
  const wrong: string[] = []
  await check().catch(({ message }: Error) => wrong.push(message))
  report(`${holder}: ${settings}`, [...wrong, ...(await settingProblems(database))])
}
