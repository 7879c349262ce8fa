import { LINK_RELATIONS } from './links.ts'

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
