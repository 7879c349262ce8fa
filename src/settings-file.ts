import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { settingsTable } from './settings-table.ts'

const FILE = '.env'

/**
 * Loads the `.env` file of the working folder into the environment, if it exists; variables of the environment
 * take precedence. Returns one line for each problem: a file that cannot be read, and a name in it that is
 * almost the name of a setting. Other unknown names are left alone, because other programs read the file too.
 */
export function loadSettingsFile(): string[] {
  if (!existsSync(FILE)) return []
  try {
    const values = parseEnv(readFileSync(FILE, 'utf8'))
    for (const [name, value] of Object.entries(values)) process.env[name] ??= value
    return Object.keys(values).flatMap(misspelling)
  } catch (error) {
    return [`${FILE}: cannot be read: ${(error as Error).message}`]
  }
}

const SETTINGS = [...Object.keys(settingsTable), 'NODE_ENV']

function misspelling(name: string): string[] {
  if (SETTINGS.includes(name)) return []
  const given = lettersOf(name)
  const isNear = (setting: string, edits: number) => isWithin(given, lettersOf(setting), edits)
  const meant =
    SETTINGS.find((setting) => isNear(setting, 1)) ??
    SETTINGS.find((setting) => setting.length > SHORT && isNear(setting, 2))
  return meant ? [`${name}: unknown setting in ${FILE}; did you mean ${meant}?`] : []
}

/** Of names up to this length (HOST, PORT), two letters can be changed to get any other word. */
const SHORT = 6

function lettersOf(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}

/** Whether at most so many letters are added, missing, different or exchanged with their neighbour. */
function isWithin(one: string, other: string, edits: number): boolean {
  if (one === other) return true
  if (edits === 0) return false
  let start = 0
  while (one[start] === other[start]) start += 1
  const [a, b] = [one.slice(start), other.slice(start)]
  const isExchanged = a[0] === b[1] && a[1] === b[0]
  return (
    isWithin(a.slice(1), b, edits - 1) ||
    isWithin(a, b.slice(1), edits - 1) ||
    isWithin(a.slice(1), b.slice(1), edits - 1) ||
    (isExchanged && isWithin(a.slice(2), b.slice(2), edits - 1))
  )
}
