import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import accepts from 'accepts'
import { LRUCache } from 'lru-cache'
import { errorAt } from '../model/errors.ts'
import type { Context, Middleware } from './context.ts'
import { HEADER_NAMES, type Preferences, parsePreferences } from './headers.ts'

/** The headers that requests are read from, apart from Authorization, and those with forms of their own. */
const READ_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'apollo-require-preflight',
  'content-encoding',
  'content-type',
  'origin',
  'traceparent',
  'tracestate',
  'x-apollo-operation-name',
  'x-request-id',
  ...Object.values(HEADER_NAMES).map((name) => name.toLowerCase()),
])

/** In characters. Some headers take more than proportional time to read. */
const MAXIMUM_HEADER = 2_000

/**
 * Removes headers that are too long to be read, in a request or in an operation of a batch.
 *
 * @throws {DomainError} HEADERS_TOO_LARGE (431) naming the first
 */
export function refuseLongHeaders(headers: IncomingHttpHeaders, place = ''): void {
  const isLong = (name: string) => (headers[name]?.length ?? 0) > MAXIMUM_HEADER && READ_HEADERS.has(name)
  const long = Object.keys(headers).filter(isLong).sort()
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
export function acceptable({ headers }: Context, ...types: readonly string[]): string | false {
  const question = headers.accept === undefined ? String(types) : `${types}\n${headers.accept}`
  const known = accepted.get(question)
  if (known !== undefined) return known
  const answer = acceptedOf(headers, types)
  accepted.set(question, answer)
  return answer
}

/** Clients send few different headers Accept. Reading one takes 5 µs, and a request asks three times. */
const accepted = new LRUCache<string, string | false>({ max: 200 })

/** The library reads the whole header again after each comma behind an open quote. */
function acceptedOf({ accept }: IncomingHttpHeaders, types: readonly string[]): string | false {
  const plain = accept?.replace(RANGE_PARAMETER, '').replaceAll('"', '')
  return accepts({ headers: { accept: plain } } as IncomingMessage).type([...types]) as string | false
}

/** Whether Accept names the media type itself, in any case, and does not refuse it with `q=0`. */
export function asksFor(ctx: Context, type: string): boolean {
  return ctx.get('Accept').toLowerCase().includes(type) && acceptable(ctx, type) === type
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) for an unknown value of `tx` */
export function preferencesOf({ headers, state }: Context): Preferences {
  state.preferences ??= parsePreferences(headers['prefer'] as string | undefined)
  return state.preferences
}

/** @param preference such as `handling=strict` (RFC 7240 §3) */
export function reportApplied(ctx: Context, preference: string): void {
  ctx.append('Preference-Applied', preference)
  ctx.vary('Prefer')
}
