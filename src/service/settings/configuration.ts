import type { Patience } from '../../database/connection.ts'
import type { DatabaseOptions } from '../../database/open-database.ts'
import type { Tables } from '../../database/tables.ts'
import { domainFolder, type LocatedDomain, loadDefinitions, loadTables } from './domain-folder.ts'
import { readSettings, type Settings } from './settings.ts'
import { loadSettingsFile, misspelling } from './settings-file.ts'
import { settingsTable } from './settings-table.ts'

/** What a process is started with: the settings, and the domain that they name. */
export interface Configuration {
  readonly settings: Settings
  readonly domain: LocatedDomain
}

/**
 * Reads the `.env` file and the environment, and loads the definitions of DOMAIN, which can have settings of their own.
 *
 * @param without names of the environment to leave out
 * @throws {SettingsError} listing every problem of the settings
 * @throws {DefinitionError} listing every problem of the domain
 */
export async function loadConfiguration(...without: readonly string[]): Promise<Configuration> {
  const file = loadSettingsFile()
  const domain = await loadDefinitions(domainFolder(process.env['DOMAIN'] || undefined))
  const names = [...Object.keys({ ...settingsTable, ...domain.settings }), 'NODE_ENV']
  const problems = [...file.problems, ...file.names.flatMap((name) => misspelling(name, names))]
  const given = Object.entries(process.env).filter(([name]) => !without.includes(name))
  return { settings: readSettings(Object.fromEntries(given), problems, domain.settings), domain }
}

/**
 * The database of the settings with the tables of the domain, which are loaded when they are first asked for.
 *
 * @throws {DefinitionError} from `tables`, if the Prisma client of the domain is missing or does not fit its
 *   definitions
 */
export function databaseOptions(
  { settings, domain }: Configuration,
  reportWait?: Patience['report'],
): DatabaseOptions {
  const { databaseUrl, dataDir, migrateOnStart, databasePoolSize, databaseTimeout, embeddedFsync } = settings
  const limits = { poolSize: databasePoolSize, timeout: databaseTimeout, fsync: embeddedFsync }
  let tables: Promise<Tables> | undefined
  return {
    tables: () => (tables ??= loadTables(domain)),
    databaseUrl,
    dataDir,
    migrateOnStart,
    patience: patienceOf(settings, reportWait),
    ...limits,
  }
}

/** How long to wait for the server of DATABASE_URL. A command says on standard error that it does. */
export function patienceOf(
  { databaseStartSeconds: seconds }: Settings,
  report = (reason: string) => console.error(`${reason}. Waiting for it, ${seconds} s at most.`),
): Patience {
  return { seconds, report }
}
