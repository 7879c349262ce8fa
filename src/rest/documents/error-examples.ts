import {
  type CommonDetailCode,
  type Detail,
  type DetailCode,
  DomainError,
  type ErrorCode,
  refuseInvalid,
} from '../../domain/model/errors.ts'
import type { Resource, Values } from '../../domain/model/resource.ts'
import { inspectResource } from '../../domain/model/validate.ts'
import { errorEnvelope, STATUS } from '../../http/errors.ts'
import { listQueryParser } from '../parse-list-query.ts'
import { detailExplanations, ERRORS } from './error-catalogue.ts'

/** A request that fails, and its response, as text. */
export interface ErrorExample {
  /** Absent where no single request shows it. */
  readonly request?: string
  readonly response: string
}

/** The bodies of responses with each code (SPEC §2.4), where possible real ones. */
export function errorEnvelopes(resource: Resource): Record<ErrorCode, object> {
  const real: Partial<Record<ErrorCode, DomainError>> = {
    VALIDATION_FAILED: caught(() => refuseInvalid(inspectResource(resource, { colour: 'blue' }).details)),
    INVALID_QUERY_PARAMETER: caught(() => listQueryParser(resource, 100)(new URLSearchParams('page=0'))),
    ...DETAILED,
  }
  const codes = Object.entries(ERRORS) as [ErrorCode, { cause: string }][]
  const envelopes = codes.map(([code, { cause }]) => [
    code,
    errorEnvelope(real[code] ?? new DomainError(code, cause)),
  ])
  return Object.fromEntries(envelopes)
}

/** An example of each code of an error and of a detail, with requests for the first of the resources. */
export function errorExamples(resources: readonly Resource[], base: string): Record<string, ErrorExample> {
  const [first] = resources as [Resource]
  const envelopes = errorEnvelopes(first)
  const requests = requestsFor(first, `${base}/${first.path}`)
  const ofErrors = (Object.keys(ERRORS) as ErrorCode[]).map((code): [string, ErrorExample] => [
    code,
    { request: requests.errors[code], response: responseText(code, envelopes[code]) },
  ])
  const explanations = Object.entries(detailExplanations(resources))
  const ofDetails = explanations.map(([code, { cause }]): [string, ErrorExample] => {
    const error = errorOf(code)
    const detail: Detail = { field: 'field', code, message: cause }
    const envelope = errorEnvelope(new DomainError(error, detail.message, [detail]))
    const request = requests.details[code as CommonDetailCode]
    return [code, { ...(request !== undefined && { request }), response: responseText(error, envelope) }]
  })
  return Object.fromEntries([...ofErrors, ...ofDetails])
}

/** The code of the errors that have a detail. Those that are not named here are rules of resources. */
export function errorOf(detail: DetailCode): ErrorCode {
  return ERRORS_OF_DETAILS[detail as CommonDetailCode] ?? 'BUSINESS_RULE_VIOLATION'
}

const ERRORS_OF_DETAILS: Partial<Record<CommonDetailCode, ErrorCode>> = {
  REQUIRED_FIELD: 'VALIDATION_FAILED',
  INVALID_TYPE: 'VALIDATION_FAILED',
  INVALID_VALUE: 'VALIDATION_FAILED',
  INVALID_FORMAT: 'VALIDATION_FAILED',
  INVALID_RANGE: 'VALIDATION_FAILED',
  OUT_OF_RANGE: 'VALIDATION_FAILED',
  TOO_LONG: 'VALIDATION_FAILED',
  UNKNOWN_FIELD: 'VALIDATION_FAILED',
  READ_ONLY_FIELD: 'VALIDATION_FAILED',
  LIMIT_EXCEEDED: 'VALIDATION_FAILED',
  UNKNOWN_PARAMETER: 'INVALID_QUERY_PARAMETER',
  REPEATED_PARAMETER: 'INVALID_QUERY_PARAMETER',
  DUPLICATE_VALUE: 'RESOURCE_ALREADY_EXISTS',
  RESOURCE_IN_USE: 'DEPENDENCY_CONFLICT',
}

interface Requests {
  readonly errors: Readonly<Record<ErrorCode, string>>
  readonly details: Readonly<Partial<Record<CommonDetailCode, string>>>
}

/** @param url of the collection */
function requestsFor(resource: Resource, url: string): Requests {
  const { pathname, host } = new URL(url)
  const [required = 'name'] = Object.entries(resource.fields).flatMap(([name, { type }]) =>
    type === 'text' ? [name] : [],
  )
  const line = (method: string, path: string, ...headers: string[]) =>
    [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...headers].join('\n')
  const get = (path: string, ...headers: string[]) => line('GET', pathname + path, BEARER, ...headers)
  const send = (method: string, path: string, body: string, ...headers: string[]) =>
    `${line(method, pathname + path, BEARER, ...headers, 'Content-Type: application/json')}\n\n${body}`
  const post = (body: Values) => send('POST', '', JSON.stringify(body))
  const valid = JSON.stringify(resource.example ?? { [required]: 'example' })
  return {
    errors: {
      MALFORMED_JSON: send('POST', '', `{"${required}": `),
      VALIDATION_FAILED: post({ colour: 'blue' }),
      INVALID_QUERY_PARAMETER: get('?page=0'),
      AUTHENTICATION_REQUIRED: line('GET', pathname),
      ACCESS_DENIED: `${send('POST', '', valid)}\n\n(with a token that may only read)`,
      RESOURCE_NOT_FOUND: get('/unknown'),
      METHOD_NOT_ALLOWED: line('DELETE', pathname, BEARER),
      NOT_ACCEPTABLE: get('', 'Accept: application/xml'),
      CONCURRENT_MODIFICATION: send('PATCH', '/example', '{}', 'If-Match: "example:1"'),
      RESOURCE_ALREADY_EXISTS: `${send('POST', '', valid)}\n\n(for the second time)`,
      DEPENDENCY_CONFLICT: line('DELETE', `${pathname}/example`, BEARER),
      RESOURCE_GONE: get('/deleted'),
      PRECONDITION_FAILED: send('PUT', '/example', valid, 'If-None-Match: *'),
      PAYLOAD_TOO_LARGE: line('POST', pathname, BEARER, 'Content-Length: 2000000'),
      UNSUPPORTED_MEDIA_TYPE: `${line('POST', pathname, BEARER, 'Content-Type: text/plain')}\n\nexample`,
      BUSINESS_RULE_VIOLATION: send('POST', '', '{"other_id": "unknown"}'),
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
      DUPLICATE_VALUE: `${send('POST', '', valid)}\n\n(for the second time)`,
      RESOURCE_IN_USE: line('DELETE', `${pathname}/example`, BEARER),
      UNKNOWN_REFERENCE: send('POST', '', '{"other_id": "unknown"}'),
      IDEMPOTENCY_KEY_REUSED: send('POST', '', '{}', 'Idempotency-Key: used-with-another-body'),
    },
  }
}

const BEARER = 'Authorization: Bearer <token>'

function responseText(code: ErrorCode, envelope: object): string {
  return `HTTP/1.1 ${STATUS[code]}\nContent-Type: application/json; charset=utf-8\n\n${JSON.stringify(envelope, null, 2)}`
}

function caught(action: () => unknown): DomainError {
  try {
    action()
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  throw new TypeError('The example of an error is not an error.')
}

/** Codes whose details depend on what is in the database. */
const DETAILED = {
  RESOURCE_ALREADY_EXISTS: detailed('RESOURCE_ALREADY_EXISTS', {
    field: 'name',
    code: 'DUPLICATE_VALUE',
    message: 'Another resource already has this name.',
  }),
  DEPENDENCY_CONFLICT: detailed('DEPENDENCY_CONFLICT', {
    field: 'id',
    code: 'RESOURCE_IN_USE',
    message: 'It cannot be deleted while others refer to it.',
  }),
  BUSINESS_RULE_VIOLATION: detailed('BUSINESS_RULE_VIOLATION', {
    field: 'other_id',
    code: 'UNKNOWN_REFERENCE',
    message: 'There is no resource "unknown" in others.',
  }),
}

function detailed(code: ErrorCode, detail: Detail): DomainError {
  return new DomainError(code, detail.message, [detail])
}
