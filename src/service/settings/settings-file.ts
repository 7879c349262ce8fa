import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

const FILE = '.env'

/**
 * Loads the `.env` file of the working folder into the environment, if it exists. Existing variables take precedence.
 *
 * @returns the names in the file, and one line for each problem
 */
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

/** The problem of a name that is almost a setting. Other unknown names are fine: other programs read the file too. */
export function misspelling(name: string, settings: readonly string[]): string[] {
  if (settings.includes(name)) return []
  const given = lettersOf(name)
  const isNear = (setting: string, edits: number) => isWithin(given, lettersOf(setting), edits)
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
