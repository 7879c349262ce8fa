import type { IncomingHttpHeaders } from 'node:http'
import type { Context, Middleware } from 'koa'
import { errorAt } from '../model/errors.ts'

/** The headers that requests are read from, apart from Authorization, and those with forms of their own. */
const READ_HEADERS = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'apollo-require-preflight',
  'consistency-token',
  'content-encoding',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'last-event-id',
  'origin',
  'prefer',
  'traceparent',
  'tracestate',
  'x-apollo-operation-name',
  'x-request-id',
]

/** In characters. Some headers take more than proportional time to read. */
const MAXIMUM_HEADER = 2_000

/**
 * Removes headers that are too long to be read, in a request or in an operation of a batch.
 *
 * @throws {DomainError} HEADERS_TOO_LARGE (431) naming the first
 */
export function refuseLongHeaders(headers: IncomingHttpHeaders, place = ''): void {
  const long = READ_HEADERS.filter((name) => String(headers[name] ?? '').length > MAXIMUM_HEADER)
  for (const name of long) delete headers[name]
  const [first] = long
  if (first === undefined) return
  const message = `The header ${first} must not be longer than ${MAXIMUM_HEADER} characters.`
  throw errorAt(place + first, 'TOO_LONG', 'HEADERS_TOO_LARGE', message)
}

export const checkHeaders: Middleware = (ctx, next) => {
  refuseLongHeaders(ctx.headers)
  return next()
}

/** A parameter of a media range other than `q`; the value may be quoted (RFC 9110 §5.6.6, §12.5.1). */
const RANGE_PARAMETER = /;(?!\s*q\s*=)[^=;,"]*(?:=(?:"(?:[^"\\]|\\.)*"|[^;,]*))?/gi

/**
 * The media type that the client prefers, or false. Ignores parameters: `application/json` is acceptable for
 * `application/json; charset=utf-8`, since it is always in UTF-8.
 */
export function acceptable(ctx: Context, ...types: readonly string[]): string | false {
  // The library reads the whole header again after each comma behind an open quote.
  ctx.headers.accept &&= ctx.headers.accept.replace(RANGE_PARAMETER, '').replaceAll('"', '')
  return ctx.accepts(...types)
}

/** Whether Accept names the media type itself, in any case, and does not refuse it with `q=0`. */
export function asksFor(ctx: Context, type: string): boolean {
  return ctx.get('Accept').toLowerCase().includes(type) && acceptable(ctx, type) === type
}

/** The supported preferences and values. `''` stands for a preference without a value. */
const VALUES = {
  handling: ['strict', 'lenient'],
  return: ['minimal', 'representation'],
  count: ['none'],
  tx: ['commit', 'rollback'],
  'graphql-operation': [''],
} as const

/** The longest `wait` (RFC 7240 §4.3), in seconds. Proxies end connections that are silent for longer. */
const LONGEST_WAIT = 30

type Preferences = { readonly [Name in keyof typeof VALUES]?: (typeof VALUES)[Name][number] } & {
  readonly wait?: number
}

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
export function preferencesOf({ headers: { prefer } }: Pick<Context, 'headers'>): Preferences {
  const sent = new Map<string, string>()
  for (const element of String(prefer ?? '').match(ELEMENTS) ?? []) {
    const [, name = '', rest, quoted, token = ''] = PREFERENCE.exec(element.trim()) ?? []
    // A malformed preference gets a value that no preference has.
    const value = rest === undefined ? element : (quoted?.replace(/\\(.)/g, '$1') ?? token)
    if (!sent.has(name.toLowerCase())) sent.set(name.toLowerCase(), value.toLowerCase())
  }
  const preferences: Record<string, string | number> = {}
  for (const [name, values] of Object.entries<readonly string[]>(VALUES)) {
    const value = sent.get(name)
    if (value !== undefined && values.includes(value)) preferences[name] = value
  }
  if (sent.has('tx') && preferences['tx'] === undefined) {
    const message = `The preference tx must be ${VALUES.tx.join(' or ')}.`
    throw errorAt('prefer', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
  }
  const wait = sent.get('wait') ?? ''
  if (/^[1-9]\d{0,5}$/.test(wait)) preferences['wait'] = Math.min(Number(wait), LONGEST_WAIT)
  return preferences
}

/** @param preference such as `handling=strict` (RFC 7240 §3) */
export function reportApplied(ctx: Context, preference: string): void {
  ctx.append('Preference-Applied', preference)
  ctx.vary('Prefer')
}
