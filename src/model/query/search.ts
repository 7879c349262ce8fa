import { kindOf } from '../definition/fields.ts'
import { type Leaf, type Resource, tableName } from '../definition/resource.ts'
import { nameField, titleFields } from '../definition/titles.ts'
import { type Checked, checkText } from '../kinds/kind.ts'
import type { Filter } from './query.ts'

/** Each word is searched for in each row. */
export const MAXIMUM_SEARCH = { characters: 200, words: 10 }

export function checkSearch(text: string): Checked {
  const checked = checkText(text, MAXIMUM_SEARCH.characters)
  if ('problem' in checked || wordsOf(text).length <= MAXIMUM_SEARCH.words) return checked
  return { code: 'TOO_LONG', problem: `must not have more than ${MAXIMUM_SEARCH.words} words` }
}

/** The fields that a search looks at: those with free text that clients see. */
export function searchable({ shownLeaves, parentField }: Resource): Leaf[] {
  return shownLeaves.filter(
    ({ name, field }) => kindOf(field).isFreeText && name !== 'id' && name !== parentField,
  )
}

/**
 * Each word must be in one of the fields, regardless of case, or in the title of a related resource. Without words, everything
 * matches.
 */
export function searchFilter(
  resource: Resource,
  text: string,
  titled: readonly { readonly column: string; readonly target: Resource; readonly shown: Resource }[] = [],
): Filter {
  const fields = searchable(resource).map(({ name }) => name)
  const words = wordsOf(text.slice(0, 2 * MAXIMUM_SEARCH.characters)).slice(0, MAXIMUM_SEARCH.words)
  const none: Filter = { any: [] }
  const related = titled.map(({ column, target, shown }) => {
    const named = [...titleFields(shown), nameField(shown)]
    const fields = searchable(shown).flatMap(({ name }) => (named.includes(name) ? [name] : []))
    return (word: string): Filter =>
      fields.length > 0 ? { column, target, related: { fields, word } } : none
  })
  const own = (word: string): Filter => (fields.length > 0 ? { fields, word } : none)
  const either = (word: string): Filter => ({ any: [own(word), ...related.map((one) => one(word))] })
  return { all: words.map(related.length > 0 ? either : own) }
}

export function searchIndexName({ path }: Resource): string {
  return `${tableName(path)}_search_idx`
}

/**
 * The SQL expression of all texts in these columns (quoted), which the index stores. A word cannot match across the blanks
 * between them. The collation is the database's, because "C" knows the case of ASCII letters only.
 */
export function searchExpression(columns: readonly string[]): string {
  const texts = columns.map((column) => `COALESCE(${column}, '')`)
  return `((${texts.join(` || ' ' || `)}) COLLATE "default")`
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
