import type { CommonDetailCode, ErrorCode } from '../model/errors.ts'
import { kindOf } from '../model/fields.ts'
import { referencesTo } from '../model/relations.ts'
import type { Resource, Values } from '../model/resource.ts'

/** The resources of the examples, with the identifiers `example`, `deleted` and `unknown`. */
export interface Subjects {
  readonly resource: Resource
  /** A resource that cannot be deleted while others refer to it, and the referring resource and field. */
  readonly referred: { readonly target: Resource; readonly from: Resource; readonly field: string }
}

export function subjectsOf(resources: readonly Resource[]): Subjects {
  const [resource] = resources as [Resource]
  const relations = resources
    .filter(({ owner }) => !owner)
    .flatMap((target) =>
      referencesTo(target, resources)
        .filter(({ from, leaf }) => !from.owner && from.writable.includes(leaf))
        .filter(({ leaf: { field } }) => (field.onDelete ?? 'restrict') === 'restrict')
        .map(({ from, leaf }) => ({ target, from, field: leaf.name })),
    )
  return { resource, referred: relations[0] ?? { target: resource, from: resource, field: 'other_id' } }
}

export const malformedBody = (resource: Resource) => `{"${firstText(resource)}": `

/** The first text of a resource, which is usually required. */
export function firstText({ fields }: Resource): string {
  const texts = Object.entries(fields).filter(
    ([, field]) => field.type !== 'group' && kindOf(field).isFreeText,
  )
  return texts[0]?.[0] ?? 'name'
}

/** Requests as text, by the code of the error or detail in the response. */
export interface Requests {
  readonly errors: Readonly<Record<ErrorCode, string>>
  readonly details: Readonly<Partial<Record<CommonDetailCode, string>>>
}

/** The requests, to resources at a base address. */
export function requestsFor({ resource, referred }: Subjects, base: string): Requests {
  const { pathname: root, host } = new URL(base)
  const pathname = `${root}/${resource.path}`
  const required = firstText(resource)
  const line = (method: string, path: string, ...headers: string[]) =>
    [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...headers].join('\n')
  const get = (path: string, ...headers: string[]) => line('GET', pathname + path, BEARER, ...headers)
  const send = (method: string, path: string, body: string, ...headers: string[]) =>
    `${line(method, pathname + path, BEARER, ...headers, 'Content-Type: application/json')}\n\n${body}`
  const post = (body: Values) => send('POST', '', JSON.stringify(body))
  const body = resource.example ?? { [required]: 'example' }
  const valid = JSON.stringify(body)
  const taken = post({ id: 'example', ...body })
  const inUse = line('DELETE', `${root}/${referred.target.path}/example`, BEARER)
  const unknownReference = `${line('PATCH', `${root}/${referred.from.path}/example`, BEARER, 'Content-Type: application/json')}\n\n${JSON.stringify({ [referred.field]: 'unknown' })}`
  const reused = send('POST', '', valid, 'Idempotency-Key: used-with-another-body')
  return {
    errors: {
      MALFORMED_JSON: send('POST', '', malformedBody(resource)),
      VALIDATION_FAILED: post({ colour: 'blue' }),
      INVALID_QUERY_PARAMETER: get('?page=0'),
      AUTHENTICATION_REQUIRED: line('GET', pathname),
      ACCESS_DENIED: `${send('POST', '', valid)}\n\n(with a token that may only read)`,
      RESOURCE_NOT_FOUND: get('/unknown'),
      METHOD_NOT_ALLOWED: line('DELETE', pathname, BEARER),
      NOT_ACCEPTABLE: get('', 'Accept: application/xml'),
      CONCURRENT_MODIFICATION: send('PATCH', '/example', '{}', 'If-Match: "example:1"'),
      RESOURCE_ALREADY_EXISTS: taken,
      DEPENDENCY_CONFLICT: inUse,
      RESOURCE_GONE: get('/deleted'),
      PRECONDITION_FAILED: send('PUT', '/example', valid, 'If-None-Match: *'),
      PAYLOAD_TOO_LARGE: line(
        'POST',
        pathname,
        BEARER,
        'Content-Type: application/json',
        'Content-Length: 2000000',
      ),
      UNSUPPORTED_MEDIA_TYPE: `${line('POST', pathname, BEARER, 'Content-Type: text/plain')}\n\nexample`,
      BUSINESS_RULE_VIOLATION: unknownReference,
      MALFORMED_REQUEST: `GET ${pathname} HTTP/1.1\nHost: one.example\nHost: two.example`,
      REQUEST_TIMEOUT: `POST ${pathname} HTTP/1.1\nHost: ${host}\n\n(and no more of it)`,
      HEADERS_TOO_LARGE: get('', 'Cookie: (more than 16 KiB)'),
      TOO_MANY_REQUESTS: `${get('')}\n\n(more often than allowed)`,
      INTERNAL_ERROR: get(''),
      SERVICE_UNAVAILABLE: get(''),
    },
    details: {
      REQUIRED_FIELD: post({ [required]: ' ' }),
      INVALID_TYPE: post({ [required]: 5 }),
      INVALID_VALUE: post({ [required]: '\u0000' }),
      TOO_LONG: post({ [required]: 'x'.repeat(20) }).replace('xxx"', 'xxx… (too many characters)"'),
      UNKNOWN_FIELD: post({ colour: 'blue' }),
      READ_ONLY_FIELD: send('PATCH', '/example', '{"id": "another"}'),
      UNKNOWN_PARAMETER: get('?colour=blue'),
      REPEATED_PARAMETER: get('?page=1&page=2'),
      DUPLICATE_VALUE: taken,
      RESOURCE_IN_USE: inUse,
      UNKNOWN_REFERENCE: unknownReference,
      IDEMPOTENCY_KEY_REUSED: reused,
    },
  }
}

const BEARER = 'Authorization: Bearer <token>'
