import { PROBLEM } from '../../http/errors.ts'
import { bodyTypes } from '../../http/json.ts'
import { type ErrorCode, STATUS } from '../../model/errors.ts'
import type { Resource } from '../../model/resource.ts'
import { HAL_FORMS, type Templates } from '../../rest/forms.ts'
import { ITEM_TYPES } from '../../rest/items.ts'
import { withoutNullLinks } from '../../rest/respond.ts'
import { VERSIONS_PATH } from '../../rest/urls.ts'
import { ERRORS } from '../error-catalogue.ts'
import { type Schema, type Schemas, schemaNamed } from './field-schema.ts'

/** Links are absolute, so examples need an origin even if none is set. */
export const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000'

const TAG = '"019a3c52-7d1e-7b42-9c53-2f6f4a1d8e01:1"'
const DATE = 'Sat, 05 Apr 2031 06:07:08 GMT'

/** The response headers (RFC 9110; RFC 6750 §3; RFC 7240 §3; RFC 8288), with examples below the path. */
export function headersBelow(path: string): Schemas {
  const location = (description: string) => ({
    ...required(description, `${EXAMPLE_ORIGIN}${path}/collection/019a3c52-7d1e-7b42-9c53-2f6f4a1d8e01`),
    schema: { type: 'string', format: 'uri' },
  })
  return {
    ETag: required('The entity tag of the representation: strong for a resource, weak for a list.', TAG),
    'Last-Modified': header('When the resource last changed, to the second. Absent with `embed`.', DATE),
    Location: location('The URL of the new resource.'),
    'Content-Location': location('The URL of the resource in the body.'),
    Link: required(
      'Links by relation: `describedby` leads to the profile of a collection, `service-desc` to the OpenAPI document, `api-catalog` to the list of interfaces, `help` to the explanation of an error, `changes` to the feed of a collection, `version-history` to the versions of a resource (RFC 5829, RFC 8288, RFC 8631, RFC 9727).',
      `<${EXAMPLE_ORIGIN}${path}/profile/collection>; rel="describedby"`,
    ),
    Vary: required('The request headers that the response depends on.', 'Accept'),
    'X-Request-Id': {
      description:
        'The id of this request in the service log. Absent only if the request could not be parsed.',
      schema: { type: 'string', format: 'uuid' },
      example: '3f0d1f8e-6c86-4a37-9f0c-4c0e1a0f2a55',
    },
    'WWW-Authenticate': required(
      'The challenge: that a bearer token is required, or why the one sent was refused.',
      'Bearer',
    ),
    'Retry-After': required('Seconds to wait before trying again.', '1'),
    RateLimit: header('The remaining requests of this caller, if there is a limit.', '"caller";r=599;t=60'),
    'RateLimit-Policy': header('The limit and its window in seconds.', '"caller";q=600;w=60'),
    'Consistency-Token': header(
      'Identifies this write, or the end of the feed, if the service reads from replicas. Reads with this token see everything up to it.',
    ),
    'X-Total-Count': header(
      'The number of items in the whole list, if its page is sent as CSV or NDJSON.',
      '95',
    ),
    'Preference-Applied': header('The preferences of the request that were applied.', 'handling=strict'),
  }
}

export function header(description: string, example?: string): Schema {
  return { description, schema: { type: 'string' }, ...(example !== undefined && { example }) }
}

function required(description: string, example: string): Schema {
  return { ...header(description, example), required: true }
}

const ALWAYS = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy']

export function halContent(name: string, example: object, templates?: Templates): Schema {
  const schema = schemaNamed(name)
  const halExample = withoutNullLinks(example)
  return {
    'application/json': { schema, example },
    'application/hal+json': { schema, example: halExample },
    [HAL_FORMS]: { schema, example: templates ? { ...halExample, _templates: templates } : halExample },
  }
}

/** Lists in media types without links. */
export const ITEM_CONTENT = Object.fromEntries(
  ITEM_TYPES.map((type) => [type, { schema: { type: 'string' } }]),
)

export function requestBody(method: 'POST' | 'PUT' | 'PATCH', schema: string, example: unknown): Schema {
  const media = { schema: schemaNamed(schema), example }
  return { required: true, content: Object.fromEntries(bodyTypes(method).map((type) => [type, media])) }
}

export const STATE_HEADERS = ['ETag', 'Last-Modified']

export const WRITE_HEADERS = [...STATE_HEADERS, 'Preference-Applied', 'Consistency-Token']

export function response(description: string, more: readonly string[], content?: Schema): Schema {
  return {
    description,
    headers: headerReferences([...more, 'Link', 'Vary', ...ALWAYS]),
    ...(content && { content }),
  }
}

export function openResponse(description: string, content?: Schema): Schema {
  return { description, headers: headerReferences(['ETag', ...ALWAYS]), ...(content && { content }) }
}

export function headerReferences(names: readonly string[]): Schemas {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const COMMON: readonly ErrorCode[] = [
  'MALFORMED_REQUEST',
  'INVALID_QUERY_PARAMETER',
  'REQUEST_TIMEOUT',
  'TOO_MANY_REQUESTS',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]

export const CALLER: readonly ErrorCode[] = ['AUTHENTICATION_REQUIRED', 'ACCESS_DENIED', 'NOT_ACCEPTABLE']
export const ABSENT: readonly ErrorCode[] = ['RESOURCE_NOT_FOUND', 'RESOURCE_GONE']

/** By status. An error response is named after its codes. */
export function errorReferences(codes: readonly ErrorCode[]): Schemas {
  const all = [...new Set([...codes, ...COMMON])].sort()
  const statuses = [...new Set(all.map((code) => STATUS[code]))].sort()
  const nameOf = (status: number) => all.filter((code) => STATUS[code] === status).join('.')
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
  )
}

/** The error responses that these paths refer to. */
export function errorResponses(paths: Schemas): Schemas {
  const references = JSON.stringify(paths).matchAll(/#\/components\/responses\/([A-Z_.]+)/g)
  const names = new Set([...references].map(([, name]) => name as string))
  return Object.fromEntries([...names].map((name) => [name, errorResponse(name.split('.') as ErrorCode[])]))
}

function errorResponse(codes: readonly ErrorCode[]): Schema {
  const status = STATUS[codes[0] as ErrorCode]
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return {
    description: codes.map((code) => `${code}: ${ERRORS[code].cause}`).join('\n\n'),
    headers: headerReferences(['Link', 'Vary', ...ALWAYS, ...(ERROR_HEADERS[status] ?? [])]),
    content: {
      'application/json': {
        schema: schemaNamed('ErrorEnvelope'),
        examples: Object.fromEntries(examples),
      },
      [PROBLEM]: { schema: schemaNamed('Problem') },
    },
  }
}

const ERROR_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

export function versionResponses([resource]: readonly Resource[], base: string): Schemas {
  const href = `${EXAMPLE_ORIGIN}${base}/${resource?.path ?? 'collection'}/x`
  const version = {
    version: 1,
    event: 'created',
    time: '2031-04-05T06:07:08.900Z',
    by: 'ada',
    resource: { id: 'x' },
    _links: { self: { href: `${href}${VERSIONS_PATH}/1` }, resource: { href } },
  }
  const versions = {
    _links: { self: { href: `${href}${VERSIONS_PATH}?limit=20` }, resource: { href } },
    limit: 20,
    has_more: false,
    _embedded: { versions: [version] },
  }
  return {
    versions: response('Versions, the newest first.', [], halContent('RecordedVersions', versions)),
    version: response('The version.', [], halContent('RecordedVersion', version)),
  }
}
