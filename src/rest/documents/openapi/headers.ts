import type { Schema } from './field-schema.ts'

const text: Schema = { type: 'string' }
const TAG = '"019a3c52-7d1e-7b42-9c53-2f6f4a1d8e01:1"'
const DATE = 'Sat, 05 Apr 2031 06:07:08 GMT'

/** Every header of an answer, by its name (RFC 9110; RFC 6750 §3; RFC 7240 §3; RFC 8288). */
export const HEADERS: Readonly<Record<string, Schema>> = {
  ETag: { ...header('The entity tag of the state this describes; strong.', TAG), required: true },
  'Last-Modified': { ...header('When the resource last changed, to the second.', DATE), required: true },
  Location: {
    description: 'The address of the new resource.',
    required: true,
    schema: { type: 'string', format: 'uri' },
    example: 'http://127.0.0.1:3000/api/v1/planets/019a3c52-7d1e-7b42-9c53-2f6f4a1d8e01',
  },
  Link: {
    ...header(
      'Where this is described: describedby leads to the profile of a collection, service-desc to the OpenAPI document (RFC 8288, RFC 8631).',
      '<http://127.0.0.1:3000/api/v1/profile/planets>; rel="describedby"',
    ),
    required: true,
  },
  Vary: { ...header('The request headers that the answer depends on.', 'Accept'), required: true },
  'X-Request-Id': {
    description:
      'The id under which the log of the service knows this request. Missing only where what arrived was no ' +
      'request that could be read.',
    schema: { type: 'string', format: 'uuid' },
    example: '3f0d1f8e-6c86-4a37-9f0c-4c0e1a0f2a55',
  },
  'WWW-Authenticate': { ...header('The challenge: a bearer token is needed.', 'Bearer'), required: true },
  'Retry-After': { ...header('Seconds to wait before trying again.', '1'), required: true },
  RateLimit: header(
    'What is left of the requests of this caller, where they are limited.',
    '"caller";r=599;t=60',
  ),
  'RateLimit-Policy': header('The limit and its window in seconds.', '"caller";q=600;w=60'),
  'Preference-Applied': header('The preference of the request that was followed.', 'handling=strict'),
}

/** The headers that any answer may have. */
export const ALWAYS = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy']

/** References to headers, for a response. */
export function headers(names: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function header(description: string, example: string | undefined): Schema {
  return { description, schema: text, ...(example !== undefined && { example }) }
}
