import { duplicateValue } from '../domain/rules.ts'
import { errorEnvelope } from '../http/errors.ts'
import { MAXIMUM_JSON_BYTES, parseStrictJson } from '../http/json.ts'
import { isRequired, kindOf } from '../model/definition/fields.ts'
import { referencesTo } from '../model/definition/relations.ts'
import type { Leaf, Resource, Values } from '../model/definition/resource.ts'
import {
  type DetailCode,
  DomainError,
  type ErrorCode,
  errorAt,
  refuseInvalid,
  refuseRuleViolation,
  STATUS,
} from '../model/errors.ts'
import { inspectResource, readOnlyDetail } from '../model/validate.ts'
import { listQueryParser } from '../rest/parse-list-query.ts'
import { LIST_TYPES, MEDIA_TYPES } from '../rest/respond.ts'

/** A request, if one shows it here, and its error, or only the message if the code is that of the entry. */
type Example = readonly [request: string | undefined, error: DomainError | string]

/**
 * An example for each error code, and for each detail code that a single request can show with the fields of these
 * resources, which have the identifiers `example`, `deleted` and `unknown`. A test sends the requests.
 */
export function errorExamples(resources: readonly Resource[], base: string) {
  const resource = mostUseful(resources)
  const reference = referenceIn(resources)
  const { pathname: root, host } = new URL(base)
  const path = `${root}/${resource.path}`
  const { allFields, writable, replaceable } = resource
  const required = writable.filter(({ path, field }) => path.length === 1 && isRequired(field))
  const { name } = writable.find(isText) ?? { name: 'name' }
  const [{ name: needed } = { name }] = required
  const samples = required.map((leaf) => [leaf.name, kindOf(leaf.field).sample(leaf.field, leaf.name, 1)])
  const body: Values = resource.example ?? { [name]: 'example', ...Object.fromEntries(samples) }
  const valid = JSON.stringify(body)
  let unknown = 'colour'
  while (Object.hasOwn(allFields, unknown)) unknown = `unknown_${unknown}`

  const line = (method: string, at: string, ...headers: string[]) =>
    [`${method} ${at} HTTP/1.1`, `Host: ${host}`, ...headers].join('\n')
  const get = (rest: string, ...headers: string[]) => line('GET', path + rest, BEARER, ...headers)
  const send = (method: string, at: string, content: string, ...headers: string[]) =>
    `${line(method, at, BEARER, ...headers, JSON_BODY)}\n\n${content}`
  const post = (content: Values) => send('POST', path, JSON.stringify(content))
  const change = (method: string, content: string, ...headers: string[]) =>
    replaceable ? send(method, `${path}/example`, content, ...headers) : undefined
  const invalid = (content: Values, request = post(content)) =>
    refused(request, () => refuseInvalid(inspectResource(resource, content).details))
  const wrongQuery = (query: string) =>
    refused(get(`?${query}`), () => listQueryParser(resource, 100)(new URLSearchParams(query)))
  const violation = (request: string | undefined, at: string, code: DetailCode, message: string) =>
    refused(request, () => refuseRuleViolation([{ field: at, code, message }]))

  const malformed = `{"${name}": `
  const unknownField = invalid({ [unknown]: 'blue' })
  const taken: Example = [post({ id: 'example', ...body }), duplicateValue(resource, 'id', 'example')]
  const { target, from, leaf } = reference ?? { target: resource, from: resource, leaf: { name: 'other_id' } }
  const inUseMessage = `It cannot be deleted while ${from.path} refer to it.`
  const inUse: Example = [
    reference && line('DELETE', `${root}/${target.path}/example`, BEARER),
    errorAt('id', 'RESOURCE_IN_USE', 'DEPENDENCY_CONFLICT', inUseMessage),
  ]
  const unknownReference = violation(
    reference && send('PATCH', `${root}/${from.path}/example`, JSON.stringify({ [leaf.name]: 'unknown' })),
    leaf.name,
    'UNKNOWN_REFERENCE',
    `There is no resource "unknown" in ${target.path}.`,
  )
  const errors: Readonly<Record<ErrorCode, Example | undefined>> = {
    MALFORMED_REQUEST: [
      `GET ${path} HTTP/1.1\nHost: one.example\nHost: two.example`,
      'The request must name exactly one host, in the Host header or in the X-Forwarded headers of a gateway.',
    ],
    MALFORMED_JSON: refused(send('POST', path, malformed), () =>
      parseStrictJson(Buffer.from(malformed), 'The body'),
    ),
    VALIDATION_FAILED: unknownField,
    INVALID_QUERY_PARAMETER: wrongQuery('page=0'),
    AUTHENTICATION_REQUIRED: [line('GET', path), 'Send an access token: Authorization: Bearer <token>'],
    ACCESS_DENIED: [
      `${send('POST', path, valid)}\n\n(with a token that may only read)`,
      `The token lacks the scope ${resource.path}:write.`,
    ],
    RESOURCE_NOT_FOUND: [get('/unknown'), `There is no resource "unknown" in ${resource.path}.`],
    METHOD_NOT_ALLOWED: [
      line('DELETE', path, BEARER),
      'DELETE is not allowed here. Allowed: GET, HEAD, POST, OPTIONS.',
    ],
    NOT_ACCEPTABLE: [get('', 'Accept: application/xml'), `Supported media types: ${LIST_TYPES.join(', ')}.`],
    CONCURRENT_MODIFICATION: [
      change('PATCH', '{}', 'If-Match: "example:1"'),
      'This resource changed after you read it. Fetch it and try again.',
    ],
    RESOURCE_ALREADY_EXISTS: taken,
    DEPENDENCY_CONFLICT: inUse,
    RESOURCE_GONE: [get('/deleted'), `The resource "deleted" in ${resource.path} was deleted.`],
    REQUEST_TIMEOUT: [
      `POST ${path} HTTP/1.1\nHost: ${host}\n\n(and no more of it)`,
      'The request took too long to arrive.',
    ],
    PRECONDITION_FAILED: [change('PUT', valid, 'If-None-Match: *'), 'The resource already exists.'],
    PAYLOAD_TOO_LARGE: [
      line('POST', path, BEARER, JSON_BODY, 'Content-Length: 2000000'),
      `The body must not be larger than ${MAXIMUM_JSON_BYTES} bytes.`,
    ],
    UNSUPPORTED_MEDIA_TYPE: [
      `${line('POST', path, BEARER, 'Content-Type: text/plain')}\n\nexample`,
      `The body must be ${MEDIA_TYPES.join(' or ')}, in UTF-8 and without a content encoding.`,
    ],
    BUSINESS_RULE_VIOLATION: unknownReference,
    TOO_MANY_REQUESTS: [
      `${get('')}\n\n(more often than allowed)`,
      'Only 600 requests per minute are allowed.',
    ],
    HEADERS_TOO_LARGE: [get('', 'Cookie: (more than 16 KiB)'), 'The request headers are too large.'],
    INTERNAL_ERROR: [
      get(''),
      'Internal error. The service log has the details under request id 0198c5b2-3f6e-7c11-9d55-0f4a3c2b1a00.',
    ],
    SERVICE_UNAVAILABLE: [get(''), 'The service is overloaded. Try again.'],
  }
  const details: Readonly<Record<string, Example | undefined>> = {
    REQUIRED_FIELD: invalid({ [needed]: null }),
    INVALID_TYPE: invalid({ [name]: 5 }),
    INVALID_VALUE: invalid({ [name]: '\u0000' }),
    TOO_LONG: invalid(
      { [name]: 'x'.repeat(MAXIMUM_JSON_BYTES) },
      post({ [name]: `${'x'.repeat(20)}… (too many characters)` }),
    ),
    UNKNOWN_FIELD: unknownField,
    READ_ONLY_FIELD: refused(change('PATCH', '{"id": "another"}'), () =>
      refuseInvalid([readOnlyDetail('id')]),
    ),
    UNKNOWN_PARAMETER: wrongQuery(`${unknown}=blue`),
    REPEATED_PARAMETER: wrongQuery('page=1&page=2'),
    DUPLICATE_VALUE: taken,
    RESOURCE_IN_USE: inUse,
    UNKNOWN_REFERENCE: unknownReference,
    IDEMPOTENCY_KEY_REUSED: violation(
      send('POST', path, valid, 'Idempotency-Key: used-with-another-body'),
      'idempotency_key',
      'IDEMPOTENCY_KEY_REUSED',
      'This idempotency key was used with another body. Use a new key for each new request.',
    ),
  }
  const complete = ([code, example]: readonly [string, Example | undefined]) => {
    if (!example) return []
    const [request, shown] = example
    const error = typeof shown === 'string' ? new DomainError(code as ErrorCode, shown) : shown
    const codes = [error.code, ...error.details.map((detail) => detail.code)]
    const entry = { request, envelope: errorEnvelope(error), response: responseWith(error) }
    return codes.includes(code) ? [[code, entry] as const] : []
  }
  return {
    errors: Object.fromEntries(Object.entries(errors).flatMap(complete)),
    details: Object.fromEntries(Object.entries(details).flatMap(complete)),
  }
}

/** The text of a response. */
export function responseWith(error: DomainError): string {
  const head = `HTTP/1.1 ${STATUS[error.code]}\nContent-Type: application/json; charset=utf-8`
  return `${head}\n\n${JSON.stringify(errorEnvelope(error), null, 2)}`
}

const BEARER = 'Authorization: Bearer <token>'
const JSON_BODY = 'Content-Type: application/json'

/** The first that has a text and can change, else the first that no other one owns. */
function mostUseful(resources: readonly Resource[]): Resource {
  const independent = resources.filter(({ owner }) => !owner)
  return (independent.find(({ replaceable, writable }) => replaceable && writable.some(isText)) ??
    independent[0]) as Resource
}

function isText({ path, field }: Leaf): boolean {
  return path.length === 1 && kindOf(field).isFreeText === true
}

/** A reference that prevents the deletion of its target. */
function referenceIn(resources: readonly Resource[]) {
  return resources
    .filter(({ owner }) => !owner)
    .flatMap((target) => referencesTo(target, resources))
    .filter(
      ({ from, leaf }) =>
        !from.owner && from.replaceable && from.writable.includes(leaf) && leaf.path.length === 1,
    )
    .find(({ leaf: { field } }) => (field.onDelete ?? 'restrict') === 'restrict')
}

function refused(request: string | undefined, action: () => unknown): Example | undefined {
  try {
    action()
  } catch (error) {
    if (error instanceof DomainError) return [request, error]
    throw error
  }
  return undefined
}
