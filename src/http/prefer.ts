import type { Context } from 'koa'
import { errorAt } from '../model/errors.ts'

/** The preferences that the service applies, with their values. `''` stands for a preference without a value. */
const VALUES = {
  handling: ['strict', 'lenient'],
  return: ['minimal', 'representation'],
  count: ['none'],
  tx: ['commit', 'rollback'],
  'graphql-operation': [''],
} as const

/** The longest wait, in seconds. Proxies end connections that are silent for longer. */
const LONGEST_WAIT = 30

/** The preferences of a request, by name. Undefined for absent and for unrecognized ones. */
export type Preferences = { readonly [Name in keyof typeof VALUES]?: (typeof VALUES)[Name][number] } & {
  /** Seconds that the client waits for something to tell (RFC 7240 §4.3), at most 30. */
  readonly wait?: number
}

const NONE: Preferences = {}

/** The elements of a list. A comma within quotes is no separator. */
const ELEMENTS = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g

/**
 * `name`, `name=value` or `name="value"`, perhaps with parameters, which no preference here has. The second group is
 * undefined for a malformed preference.
 */
const PREFERENCE =
  /^\s*([\w!#$%&'*+.^`|~-]*)(?:(\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]*))\s*)?(?:;.*)?$)|.)/

/**
 * The preferences in the header Prefer (RFC 7240 §2): names and values in any case, the first of each name. What is
 * not recognized is ignored, except in `tx`, since a dry run that is not recognized would write.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for an unknown value of `tx`
 */
export function preferencesOf({ headers: { prefer } }: Pick<Context, 'headers'>): Preferences {
  return prefer === undefined ? NONE : parse(String(prefer))
}

function parse(header: string): Preferences {
  const sent = new Map<string, string>()
  for (const element of header.match(ELEMENTS) ?? []) {
    const [, name = '', rest, quoted, token = ''] = PREFERENCE.exec(element) ?? []
    // A malformed preference has a value that no preference has.
    const value = rest === undefined ? element : (quoted?.replace(/\\(.)/g, '$1') ?? token)
    if (!sent.has(name.toLowerCase())) sent.set(name.toLowerCase(), value.toLowerCase())
  }
  const known = Object.entries(VALUES).filter(([name, values]) => {
    const value = sent.get(name)
    const isKnown = value !== undefined && (values as readonly string[]).includes(value)
    if (name === 'tx' && value !== undefined && !isKnown) throw unknownTransaction(values)
    return isKnown
  })
  const wait =
    /^[1-9]\d{0,5}$/.test(sent.get('wait') ?? '') && Math.min(Number(sent.get('wait')), LONGEST_WAIT)
  return { ...Object.fromEntries(known.map(([name]) => [name, sent.get(name)])), ...(wait && { wait }) }
}

function unknownTransaction(values: readonly string[]) {
  const message = `The preference tx must be ${values.join(' or ')}.`
  return errorAt('prefer', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
}

/**
 * Names a preference as applied (RFC 7240 §3). The response depends on the header.
 *
 * @param preference with its value, if it has one: `handling=strict`
 */
export function reportApplied(ctx: Context, preference: string): void {
  ctx.append('Preference-Applied', preference)
  ctx.vary('Prefer')
}
