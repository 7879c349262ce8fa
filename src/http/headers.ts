import type { IncomingHttpHeaders } from 'node:http'
import { errorAt } from '../model/errors.ts'
import { mapped } from '../model/values.ts'

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

/**
 * The request headers that operations read, by their names without hyphens. One that means different things to different
 * operations has an entry for each. OpenAPI describes Accept, Authorization and Content-Type elsewhere.
 */
export const REQUEST_HEADERS = {
  IfMatch: 'The entity tags of the versions that may be changed, or `*`.',
  IfUnmodifiedSince: 'Fails if the resource has changed since this time. Ignored with If-Match.',
  IfModifiedSince: '304 if the resource has not changed since this time. Ignored with If-None-Match.',
  IfNoneMatchRead: 'Entity tags that the client has. 304 if one of them is current.',
  IfNoneMatchWrite:
    'Entity tags that the resource must not have, or `*`: it must not exist. Otherwise 412. With PUT, `*` creates and never replaces.',
  ConsistencyToken: 'The token of a write that the response must reflect.',
  IdempotencyKey:
    'A unique key for this request. Sending it again creates nothing and returns the first response.',
  PreferRead: preferring('count=none'),
  PreferWrite: preferring('return=minimal', 'return=representation', 'handling=lenient', 'tx=rollback'),
  PreferWait: preferring('wait=20'),
  LastEventID: 'The position of the last event that the client received. Replaces `since`.',
  PreferDelete: preferring('handling=strict', 'tx=rollback'),
}

export type RequestHeader = keyof typeof REQUEST_HEADERS

/** The names in requests, as in `If-None-Match`. */
export const HEADER_NAMES = mapped(REQUEST_HEADERS, (_, header) =>
  header.replace(/(?:Read|Write|Wait|Delete)$/, '').replace(/(?<=[a-z])[A-Z]/g, '-$&'),
) as Readonly<Record<RequestHeader, string>>

const KEYS = mapped(HEADER_NAMES, (name) => name.toLowerCase()) as typeof HEADER_NAMES

/** The value of a header in a request, or in an operation of a batch. Node joins those of repeated headers. */
export function requestHeader(
  { headers }: { readonly headers: IncomingHttpHeaders },
  header: RequestHeader,
): string | undefined {
  return headers[KEYS[header]] as string | undefined
}

function preferring(...preferences: readonly Preference[]): string {
  return `${preferences.map((one) => `\`${one}\`: ${PREFERENCES[one]}`).join('; ')} (RFC 7240).`
}

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

/** The relations of the links in headers, and what each leads to (RFC 5829, RFC 8288, RFC 8631, RFC 9727). */
export const LINK_RELATIONS = {
  describedby: 'the profile of a collection',
  'service-desc': 'the OpenAPI document',
  'service-doc': 'the reference',
  'api-catalog': 'the list of interfaces',
  help: 'the explanation of an error',
  related: 'the resource that a conflict is with',
  changes: 'the feed of a collection',
  'version-history': 'the versions of a resource',
  'successor-version': 'the same resource in the next version of the API',
  first: 'the first page of a list in CSV or NDJSON',
  prev: 'the page before',
  next: 'the page after',
  last: 'the last page',
}

export type LinkRelation = keyof typeof LINK_RELATIONS

/** A value of the header Link (RFC 8288 §3). Some parsers split the header at each comma, also within a target. */
export function link(target: string, relation: LinkRelation): string {
  return `<${target.replaceAll(',', '%2C')}>; rel="${relation}"`
}

const TAG = '"019a3c52-7d1e-7b42-9c53-2f6f4a1d8e01:1"'
const DATE = 'Sat, 05 Apr 2031 06:07:08 GMT'
const URL = '{base}/collection/019a3c52-7d1e-7b42-9c53-2f6f4a1d8e01'
const UUID = '3f0d1f8e-6c86-4a37-9f0c-4c0e1a0f2a55'

const RELATIONS = Object.entries(LINK_RELATIONS)
  .map(([name, target]) => `\`${name}\` to ${target}`)
  .join(', ')

/**
 * The response headers, by name (RFC 6750 §3, RFC 7240 §3, RFC 8288, RFC 9110). In examples, `{base}` stands for the URL
 * of the entry document.
 */
export const RESPONSE_HEADERS = {
  ETag: always('The entity tag of the representation: strong for a resource, weak for a list.', TAG),
  'Last-Modified': perhaps('When the resource last changed, to the second. Absent with `embed`.', DATE),
  Location: always('The URL of the new resource.', URL, 'uri'),
  'Content-Location': always('The URL of the resource in the body.', URL, 'uri'),
  Link: always(
    `Links by relation: ${RELATIONS} (RFC 5829, RFC 8288, RFC 8631, RFC 9727).`,
    '<{base}/profile/collection>; rel="describedby"',
  ),
  Vary: always('The request headers that the response depends on.', 'Accept'),
  'X-Request-Id': perhaps(
    'The id of this request in the service log. Absent only if the request could not be parsed.',
    UUID,
    'uuid',
  ),
  'WWW-Authenticate': perhaps(
    'The challenge. Of 401: a bearer token is required, or why the one sent was refused. Of 403: the scope that it lacks.',
    'Bearer',
  ),
  'Retry-After': perhaps('Of 429 and 503: the seconds to wait before trying again.', '1'),
  RateLimit: perhaps('The remaining requests of this caller, if there is a limit.', '"caller";r=599;t=60'),
  'RateLimit-Policy': perhaps('The limit and its window in seconds.', '"caller";q=600;w=60'),
  'Consistency-Token': perhaps(
    'Identifies this write, or the end of the feed, if the service reads from replicas. Reads with this token see everything up to it.',
  ),
  'X-Total-Count': perhaps(
    'The number of items in the whole list, unless the request prefers not to count them.',
    '95',
  ),
  'Preference-Applied': perhaps('The preferences of the request that were applied.', 'handling=strict'),
}

export type ResponseHeader = keyof typeof RESPONSE_HEADERS

/** The headers that a later conditional request needs (RFC 9110 §8.8). */
export const STATE_HEADERS: readonly ResponseHeader[] = ['ETag', 'Last-Modified']

export const WRITE_HEADERS: readonly ResponseHeader[] = [
  ...STATE_HEADERS,
  'Preference-Applied',
  'Consistency-Token',
]

/** Of a header that each response whose description names it has. */
function always(description: string, example: string, format?: string) {
  return { ...perhaps(description, example, format), required: true }
}

function perhaps(description: string, example?: string, format?: string) {
  const schema = { type: 'string', ...(format && { format }) }
  return { description, schema, ...(example !== undefined && { example }) }
}
