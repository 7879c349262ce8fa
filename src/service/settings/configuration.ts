import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { Patience } from '../../database/connection.ts'
import type { Tables } from '../../database/database.ts'
import { domainFolder, type LocatedDomain, loadDefinitions, loadTables } from './domain-folder.ts'
import { readSettings, type Settings } from './settings.ts'
import { settingsTable } from './settings-table.ts'

export interface Configuration {
  readonly settings: Settings
  readonly domain: LocatedDomain
}

/**
 * Reads `.env` and the environment, and loads the definitions of DOMAIN, which can add settings.
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
  const variables = Object.entries(process.env).filter(([name]) => !without.includes(name))
  return { settings: readSettings(Object.fromEntries(variables), problems, domain), domain }
}

/** @throws {DefinitionError} from `tables`, if the client is missing or differs from the definitions */
export function databaseOptions({ settings, domain }: Configuration, reportWait?: Patience['report']) {
  let tables: Promise<Tables> | undefined
  const patience = patienceOf(settings, reportWait)
  return { ...settings, tables: () => (tables ??= loadTables(domain)), patience }
}

/** Reports the wait on standard error by default. */
export function patienceOf(
  { databaseStartSeconds: seconds }: Settings,
  report = (reason: string) => console.error(`${reason}. Waiting for up to ${seconds} s.`),
): Patience {
  return { seconds, report }
}

const FILE = '.env'

/** Loads `.env` of the working folder into the environment, if it exists. Existing variables take precedence. */
export function loadSettingsFile(): { names: readonly string[]; problems: readonly string[] } {
  if (!existsSync(FILE)) return { names: [], problems: [] }
  try {
    const values = parseEnv(readFileSync(FILE, 'utf8'))
    for (const [name, value] of Object.entries(values)) process.env[name] ??= value
    return { names: Object.keys(values), problems: [] }
  } catch (error) {
    return { names: [], problems: [`${FILE}: cannot be read: ${(error as Error).message}`] }
  }
}

/** Other unknown names are fine, because other programs read the file too. */
function misspelling(name: string, settings: readonly string[]): string[] {
  if (settings.includes(name)) return []
  const letters = lettersOf(name)
  const isNear = (setting: string, edits: number) => isWithin(letters, lettersOf(setting), edits)
  const meant =
    settings.find((setting) => isNear(setting, 1)) ??
    settings.find((setting) => setting.length > SHORT && isNear(setting, 2))
  return meant ? [`${name}: unknown setting in ${FILE}; did you mean ${meant}?`] : []
}

/** Up to this length (HOST, PORT), two edits turn almost any word into a setting. */
const SHORT = 6

function lettersOf(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}

/** An edit adds, removes or replaces a letter, or swaps two neighbours. */
function isWithin(one: string, other: string, edits: number): boolean {
  if (one === other || edits === 0) return one === other
  let start = 0
  while (one[start] === other[start]) start += 1
  const [first = '', second = '', ...others] = one.slice(start)
  const [rest, letter] = [others.join(''), other[start] ?? '']
  const addition = letter + first + second + rest
  const edited = [second + rest, addition, letter + second + rest, second + first + rest]
  return edited.some((text) => isWithin(text, other.slice(start), edits - 1))
}
