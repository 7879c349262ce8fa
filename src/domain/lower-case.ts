import { LRUCache } from 'lru-cache'
import type { StatementClient } from '../database/database-client.ts'
import type { LowerCase } from '../model/query/matches.ts'

/** Letters beyond these have one case. */
const LAST_LETTER = 0x1ffff

/** Of all texts whose lower case is kept. */
const KEPT_CHARACTERS = 2 * 1024 * 1024

const mappings = new WeakMap<StatementClient, Promise<LowerCase>>()

/**
 * Lowers the case of a text as this database does, letter by letter. Databases differ from JavaScript and from each other
 * in rare letters such as İ and Ⓐ, so the letters are read once. Recent texts are kept, since each condition of each
 * subscription is checked for the same ones.
 */
export function lowerCaseOf(client: StatementClient): Promise<LowerCase> {
  const reading = mappings.get(client) ?? readLowerCase(client)
  mappings.set(client, reading)
  reading.catch(() => mappings.delete(client))
  return reading
}

async function readLowerCase(client: StatementClient): Promise<LowerCase> {
  const text = 'SELECT one, lower(one COLLATE "default") AS lower FROM unnest($1::text[]) AS one'
  const rows = await client.$rows<{ one: string; lower: string }>({ text, values: [upperCaseLetters()] })
  const letters = new Map(rows.map(({ one, lower }) => [one, lower]))
  const lowered = new LRUCache<string, string>({
    maxSize: KEPT_CHARACTERS,
    // A size must not be 0.
    sizeCalculation: ({ length }) => length + 1,
  })
  return (original) => {
    const recent = lowered.get(original)
    if (recent !== undefined) return recent
    const lower = original.replace(/\p{Changes_When_Lowercased}/gu, (letter) => letters.get(letter) ?? letter)
    lowered.set(original, lower)
    return lower
  }
}

/** A loop, because a start waits for it: an array of all letters takes three times as long. */
function upperCaseLetters(): string[] {
  const found: string[] = []
  for (let point = 1; point <= LAST_LETTER; point++) {
    const letter = String.fromCodePoint(point)
    if (letter !== letter.toLowerCase()) found.push(letter)
  }
  return found
}
