import type { Patience } from '../../database/connection.ts'
import type { DatabaseOptions, Tables } from '../../database/open-database.ts'
import { domainFolder, type LocatedDomain, loadDefinitions, loadTables } from './domain-folder.ts'
import { readSettings, type Settings } from './settings.ts'
import { loadSettingsFile, misspelling } from './settings-file.ts'
import { settingsTable } from './settings-table.ts'

export interface Configuration {
  readonly settings: Settings
  readonly domain: LocatedDomain
}

/**
 * Reads the `.env` file and the environment, and loads the definitions of DOMAIN, which can add settings.
 *
 * @param without variables to ignore
 * @throws {SettingsError} with all problems of the settings
 * @throws {DefinitionError} with all problems of the domain
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
 * `tables` loads the Prisma client once.
 *
 * @throws {DefinitionError} from `tables`, if the client is missing or differs from the definitions
 */
export function databaseOptions(
  { settings, domain }: Configuration,
  reportWait?: Patience['report'],
): DatabaseOptions {
  let tables: Promise<Tables> | undefined
  const patience = patienceOf(settings, reportWait)
  return { ...settings, tables: () => (tables ??= loadTables(domain)), patience }
}

/** How long to wait for the server of DATABASE_URL. By default, the wait is reported on standard error. */
export function patienceOf(
  { databaseStartSeconds: seconds }: Settings,
  report = (reason: string) => console.error(`${reason}. Waiting for up to ${seconds} s.`),
): Patience {
  return { seconds, report }
}
