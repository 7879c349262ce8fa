import { sentStatements } from './statements.ts'

/** The flag ysql_sequence_cache_minval of YugabyteDB has this value unless it is set. */
export const CACHED_NUMBERS = 100

/** Of an identity column, with the options that it has, if any. */
const IDENTITY = /\bas\s+identity\b(?:\s*\()?/gi

/**
 * The same statements, but that each session takes this many numbers of a new sequence at once. In bodies of functions and
 * strings, sequences stay as they are, as do those that say how many numbers they cache.
 */
export function withCachedSequences(sql: string): string {
  if (!/\bidentity\b|\bsequence\b/i.test(sql)) return sql
  const statements = sentStatements(sql)
  const ends = [...statements.slice(1).map(({ offset }) => offset), sql.length]
  const texts = statements.map(({ words, offset }, index) => cached(words, sql.slice(offset, ends[index])))
  return sql.slice(0, statements[0]?.offset) + texts.join('')
}

function cached(words: string, text: string): string {
  if (/\bcache \d/.test(words)) return text
  const clause = `CACHE ${CACHED_NUMBERS}`
  if (/^create (?:temp |temporary |unlogged )?sequence\b/.test(words)) {
    return text.replace(/\s*(?:;\s*)?$/, (end) => ` ${clause}${end}`)
  }
  if (!/^(?:create|alter)\b.*\btable\b/.test(words)) return text
  return text.replace(IDENTITY, (found) =>
    found.endsWith('(') ? `${found}${clause} ` : `${found} (${clause})`,
  )
}
