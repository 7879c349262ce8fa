import { errorAt } from '../../model/errors.ts'

/** The preferences of the header Prefer (RFC 7240), and what each asks for. */
export const PREFERENCES = {
  'return=minimal': 'no body, even after a creation',
  'return=representation': 'the resource as the body, even after a change, if the caller may read it',
  'handling=strict': 'deleting a resource that does not exist is an error',
  'handling=lenient': 'a change ignores read-only fields with other values',
  'tx=commit': 'a write is stored, which is the default',
  'tx=rollback': 'a dry run, which stores nothing',
  'count=none': 'omit `total_count`, `total_pages` and `last`, and do not count the items',
  'wait=20': 'wait up to 20 seconds for a change; the maximum is 30',
  'graphql-operation': 'the header `GraphQL-Operation` shows the operations that were run',
} as const

export type Preference = keyof typeof PREFERENCES

export type Preferences = {
  readonly [One in Preference as One extends `${infer Name}=${string}` ? Name : One]?: One extends 'wait=20'
    ? number
    : One extends `${string}=${infer Value}`
      ? Value
      : ''
}

/** The longest `wait` (RFC 7240 §4.3), in seconds. Proxies end connections that are silent for longer. */
const LONGEST_WAIT = 30

/** The elements of a list. Commas within quotes do not separate. */
const ELEMENTS = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g

/**
 * `name`, `name=value` or `name="value"`, perhaps with parameters, which are ignored. The second group is undefined for a
 * malformed preference.
 */
const PREFERENCE =
  /^([\w!#$%&'*+.^`|~-]*)(?:(\s*(?:=\s*(?:(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]+))\s*)?)?(?:;.*)?$)|.)/s

/**
 * The header Prefer (RFC 7240 §2). Case is ignored, and the first preference of a name counts. Unknown preferences and
 * values are ignored, except those of `tx`, since a mistyped dry run would write.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for an unknown value of `tx`
 */
export function parsePreferences(header = ''): Preferences {
  const sent = new Map<string, string>()
  for (const element of header.match(ELEMENTS) ?? []) {
    const [, name = '', rest, quoted, token = ''] = PREFERENCE.exec(element.trim()) ?? []
    // A malformed preference gets a value that no preference has.
    const value = rest === undefined ? element : (quoted?.replace(/\\(.)/g, '$1') ?? token)
    if (!sent.has(name.toLowerCase())) sent.set(name.toLowerCase(), value.toLowerCase())
  }
  const preferences: Record<string, string | number> = {}
  for (const [name, value] of sent) {
    if (Object.hasOwn(PREFERENCES, value === '' ? name : `${name}=${value}`)) preferences[name] = value
  }
  if (sent.has('tx') && preferences['tx'] === undefined) {
    const message = 'The preference tx must be commit or rollback.'
    throw errorAt('prefer', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
  }
  const wait = sent.get('wait') ?? ''
  if (/^[1-9]\d{0,5}$/.test(wait)) preferences['wait'] = Math.min(Number(wait), LONGEST_WAIT)
  return preferences
}
