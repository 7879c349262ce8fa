/** One SQL statement, as the restrictions read it. */
export interface Statement {
  /**
   * Its tokens with one blank between them. Comments are left out, words are in lower case, and a string constant is `''`,
   * so that a pattern matches what PostgreSQL would execute.
   */
  readonly words: string
  /** What contains it; undefined for a statement that the client sent as such. */
  readonly inside: Body | undefined
  /** Whether no other one comes before it in the message. */
  readonly isFirst: boolean
  /** Where its text begins in that of the message, or in the body that contains it. */
  readonly offset: number
}

export type Body = 'DO' | 'function' | 'trigger function'

/** PostgreSQL, section 4.1. Comments that contain comments are not expected. */
const TOKEN = new RegExp(
  [
    /(?<blank>\s+|--[^\n]*|\/\*.*?\*\/)/,
    /(?<string>[eE]'(?:[^'\\]|\\.|'')*'|(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*')/,
    /\$(?<tag>[A-Za-z_]\w*)?\$(?<body>.*?)\$\k<tag>\$/,
    /(?<quoted>"(?:[^"]|"")*")/,
    /(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)/,
    /(?<number>\d[\w.]*|\$\d+)/,
    /(?<symbol>::|[<>=!]+|.)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gs',
)

/**
 * The statements of a text, and those in the bodies of its functions and of DO, and in the string constants that such a body
 * executes. A parser would be exact, but PL/pgSQL is a string to PostgreSQL's own, and what `format` completes is no
 * statement for any.
 */
export function statementsOf(sql: string, inside?: Body): Statement[] {
  const statements: Statement[] = []
  let words: string[] = []
  let start: number | undefined
  const finish = () => {
    const isFirst = inside === undefined && statements.every((statement) => statement.inside !== undefined)
    if (start !== undefined) statements.push({ words: words.join(' '), inside, isFirst, offset: start })
    words = []
    start = undefined
  }
  for (const { groups = {}, index, 0: token } of sql.matchAll(TOKEN)) {
    const { blank, string, body, quoted, word, symbol } = groups
    if (blank !== undefined) continue
    if (symbol === ';') {
      finish()
      continue
    }
    start ??= index
    const constant = body ?? (string === undefined ? undefined : contentOf(string))
    const kind = constant === undefined ? undefined : bodyAfter(words.join(' '), inside)
    if (constant !== undefined && kind) statements.push(...statementsOf(constant, kind))
    words.push(constant !== undefined ? "''" : word !== undefined ? word.toLowerCase() : (quoted ?? token))
  }
  finish()
  return statements
}

/** What a string constant is after these words of a statement; undefined for a value. */
function bodyAfter(words: string, inside: Body | undefined): Body | undefined {
  if (inside && /\bexecute (?!function|procedure)/.test(`${words} `)) return inside
  if (/^do\b/.test(words)) return 'DO'
  const [, rest] = /^create (?:or replace )?(?:function|procedure) (.*)$/.exec(words) ?? []
  if (rest === undefined || !/ as$/.test(rest)) return undefined
  return / returns trigger\b/.test(rest) ? 'trigger function' : 'function'
}

function contentOf(string: string): string {
  return string.slice(string.indexOf("'") + 1, -1).replaceAll("''", "'")
}

/** The statements of a text without those in bodies. */
export function sentStatements(sql: string): Statement[] {
  return statementsOf(sql).filter(({ inside }) => inside === undefined)
}
