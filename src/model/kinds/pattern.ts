import { RE2JS } from 're2js'

/** By name in JSON Schema: the pattern, an example, a phrase for messages and the type in HAL-FORMS. */
export const FORMATS = {
  email: {
    pattern:
      "[A-Za-z0-9.!#$%&'*+\\/=?\\^_`\\{|\\}~\\-]{1,64}@[A-Za-z0-9\\-]{1,63}(?:\\.[A-Za-z0-9\\-]{1,63}){1,8}",
    example: (number: number) => `name-${number}@example.com`,
    phrase: 'an e-mail address',
    control: 'email',
  },
  uri: {
    pattern: "[A-Za-z][A-Za-z0-9+.\\-]*:[A-Za-z0-9\\-._~:\\/?#\\[\\]@!$&'()*+,;=%]+",
    example: (number: number) => `https://example.com/${number}`,
    phrase: 'a URI',
    control: 'url',
  },
  uuid: {
    pattern: '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}',
    example: (number: number) =>
      `01890a5d-ac96-774b-bcce-${Math.trunc(number).toString(16).padStart(12, '0')}`,
    phrase: 'a UUID',
    control: undefined,
  },
} as const

const ESCAPED = '\\\\[\\\\^$.*+?()[\\]{}|/]'
const CLASS = `\\[\\^?(?:${ESCAPED}|\\\\-|[^\\\\^\\[\\]-](?:-[^\\\\^\\[\\]-])?)+\\]`
const ATOM = `(?:${ESCAPED}|${CLASS}|[^\\\\^$.*+?()[\\]{}|])`
const DIALECT = new RegExp(
  `^(?:\\((?:\\?:)?|\\||(?:${ATOM}|\\))(?:[?*+]|\\{\\d{1,3}(?:,\\d{0,3})?\\})?)+$`,
  'u',
)

const compiled = new Map<string, RE2JS>()

/**
 * Whether the whole text matches. With any pattern, RE2 takes time in proportion to the length of the text.
 *
 * @throws {Error} for a pattern that {@link patternProblem} reports
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const expression = compiled.get(pattern) ?? RE2JS.compile(pattern)
  compiled.set(pattern, expression)
  return expression.testExact(text)
}

/** What classes of ECMA-262 reserve with the flag `v`: characters, and others if they are doubled. */
const RESERVED = '(){}/|'
const RESERVED_DOUBLED = '!#$%&*+,.:;<=>?@`~'

/** The same pattern, valid with the flags `u`, which validators of JSON Schema set, and `v`, which browsers set. */
export function ecmaPattern(pattern: string): string {
  let isInClass = false
  let previous: string | undefined
  return pattern.replace(/\\.|./gs, (part) => {
    const isDoubled = isInClass && part === previous && RESERVED_DOUBLED.includes(part)
    previous = part.at(-1)
    if (part === '[' || part === ']') isInClass = part === '['
    if (isDoubled) return `\\x${part.charCodeAt(0).toString(16)}`
    return isInClass && RESERVED.includes(part) ? `\\${part}` : part
  })
}

/**
 * Why a pattern cannot be used. The dialect is what RE2, PostgreSQL and ECMA-262 have in common: characters, classes with
 * ranges, groups, `|`, `?`, `*`, `+`, `{m}`, `{m,}` and `{m,n}`, and `\` before special characters.
 */
export function patternProblem(pattern: string): string | undefined {
  if (!DIALECT.test(pattern))
    return `the pattern ${pattern} uses more than characters, [classes], (groups), |, ?, *, + and {m,n}`
  try {
    matchesPattern(pattern, '')
    return undefined
  } catch (error) {
    return `the pattern ${pattern} is not valid: ${(error as Error).message}`
  }
}
