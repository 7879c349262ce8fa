import { resourceNotFound } from '../domain/not-found.ts'
import { duplicateValue } from '../domain/unique.ts'
import { errorEnvelope, METHODS, methodNotAllowed, STATUS } from '../http/errors.ts'
import { bodyTypes } from '../http/json/body.ts'
import { MAXIMUM_JSON_BYTES, parseStrictJson } from '../http/json/strict-json.ts'
import { authorize } from '../model/authorize.ts'
import type { Caller } from '../model/caller.ts'
import {
  type CommonDetailCode,
  type Detail,
  type DetailCode,
  DomainError,
  type ErrorCode,
  errorAt,
  refuseInvalid,
  refuseRuleViolation,
} from '../model/errors.ts'
import { requireState } from '../model/precondition.ts'
import type { Resource, Values } from '../model/resource.ts'
import type { Row } from '../model/row.ts'
import { inspectResource, readOnlyDetail } from '../model/validate.ts'
import { listQueryParser } from '../rest/parse-list-query.ts'
import { detailExplanations } from './error-catalogue.ts'
import { firstText, malformedBody, requestsFor, type Subjects, subjectsOf } from './error-requests.ts'

/** A failing request and its response as text; absent if no single request can show the code. */
export interface ErrorExample {
  readonly request?: string
  readonly response?: string
}

/** The bodies of responses with each code (SPEC §2.4). */
export function errorEnvelopes(resources: readonly Resource[]): Record<ErrorCode, object> {
  const errors = Object.entries(errorsAbout(subjectsOf(resources)))
  return Object.fromEntries(errors.map(([code, error]) => [code, errorEnvelope(error)])) as Record<
    ErrorCode,
    object
  >
}

/** An example for each code of an error or a detail, below a base URL. */
export function errorExamples(resources: readonly Resource[], base: string): Record<string, ErrorExample> {
  const subjects = subjectsOf(resources)
  const requests = requestsFor(subjects, base)
  const errors = Object.entries(errorsAbout(subjects)) as [ErrorCode, DomainError][]
  const ofErrors = errors.map(([code, error]): [string, ErrorExample] => [
    code,
    { request: requests.errors[code], response: responseText(error) },
  ])
  const details: Partial<Record<DetailCode, DomainError>> = detailsAbout(subjects)
  const ofDetails = Object.keys(detailExplanations(resources)).map((code): [string, ErrorExample] => {
    const [request, error] = [requests.details[code as CommonDetailCode], details[code]]
    return [code, request && error ? { request, response: responseText(error) } : {}]
  })
  return Object.fromEntries([...ofErrors, ...ofDetails])
}

/** The code of the error that contains a detail. Details not listed come from rules of resources. */
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

/** The response to each of the requests. A test sends them. */
function errorsAbout({ resource, referred }: Subjects): Record<ErrorCode, DomainError> {
  const { path } = resource
  const callerWithoutScopes: Caller = { identity: '', scopes: new Set() }
  const unknownReference: Detail = {
    field: referred.field,
    code: 'UNKNOWN_REFERENCE',
    message: `There is no resource "unknown" in ${referred.target.path}.`,
  }
  const inUse = `It cannot be deleted while ${referred.from.path} refer to it.`
  const allowed = METHODS.filter((method) => !['PUT', 'PATCH', 'DELETE'].includes(method))
  const saying = (code: ErrorCode, message: string) => new DomainError(code, message)
  return {
    MALFORMED_REQUEST: saying(
      'MALFORMED_REQUEST',
      'The request must name exactly one host, in the Host header or in the X-Forwarded headers of a gateway.',
    ),
    MALFORMED_JSON: caught(() => parseStrictJson(Buffer.from(malformedBody(resource)), 'The body')),
    VALIDATION_FAILED: invalid(resource, { colour: 'blue' }),
    INVALID_QUERY_PARAMETER: wrongQuery(resource, 'page=0'),
    AUTHENTICATION_REQUIRED: saying(
      'AUTHENTICATION_REQUIRED',
      'Send an access token: Authorization: Bearer <token>',
    ),
    ACCESS_DENIED: caught(() => authorize(callerWithoutScopes, resource, 'write')),
    RESOURCE_NOT_FOUND: resourceNotFound(resource, { id: 'unknown' }),
    METHOD_NOT_ALLOWED: methodNotAllowed('DELETE', { Allow: allowed.join(', ') }),
    NOT_ACCEPTABLE: saying(
      'NOT_ACCEPTABLE',
      'Supported media types: application/json, application/hal+json, application/prs.hal-forms+json.',
    ),
    CONCURRENT_MODIFICATION: caught(() =>
      requireState({ version: 2 } as Row, { id: 'example' }, { versions: [1] }),
    ),
    RESOURCE_ALREADY_EXISTS: duplicateValue(resource, 'id', 'example'),
    DEPENDENCY_CONFLICT: errorAt('id', 'RESOURCE_IN_USE', 'DEPENDENCY_CONFLICT', inUse),
    RESOURCE_GONE: saying('RESOURCE_GONE', `The resource "deleted" in ${path} was deleted.`),
    REQUEST_TIMEOUT: saying('REQUEST_TIMEOUT', 'The request took too long to arrive.'),
    PRECONDITION_FAILED: saying('PRECONDITION_FAILED', 'The resource exists, and may only be created.'),
    PAYLOAD_TOO_LARGE: saying(
      'PAYLOAD_TOO_LARGE',
      `The body must not be larger than ${MAXIMUM_JSON_BYTES} bytes.`,
    ),
    UNSUPPORTED_MEDIA_TYPE: saying(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body must be ${bodyTypes('POST').join(' or ')}, in UTF-8 and without a content encoding.`,
    ),
    BUSINESS_RULE_VIOLATION: caught(() => refuseRuleViolation([unknownReference])),
    TOO_MANY_REQUESTS: saying('TOO_MANY_REQUESTS', 'Only 600 requests per minute are allowed.'),
    HEADERS_TOO_LARGE: saying('HEADERS_TOO_LARGE', 'The headers of the request are too large.'),
    INTERNAL_ERROR: saying(
      'INTERNAL_ERROR',
      'Internal error. The log of the service has the details under request id 0198c5b2-3f6e-7c11-9d55-0f4a3c2b1a00.',
    ),
    SERVICE_UNAVAILABLE: saying('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again.'),
  }
}

function detailsAbout(subjects: Subjects): Partial<Record<CommonDetailCode, DomainError>> {
  const { resource } = subjects
  const required = firstText(resource)
  const reused = 'This idempotency key was used with another body. Use a new key for each new request.'
  const errors = errorsAbout(subjects)
  return {
    REQUIRED_FIELD: invalid(resource, { [required]: ' ' }),
    INVALID_TYPE: invalid(resource, { [required]: 5 }),
    INVALID_VALUE: invalid(resource, { [required]: '\u0000' }),
    TOO_LONG: invalid(resource, { [required]: 'x'.repeat(MAXIMUM_JSON_BYTES) }),
    UNKNOWN_FIELD: invalid(resource, { colour: 'blue' }),
    READ_ONLY_FIELD: caught(() => refuseInvalid([readOnlyDetail('id')])),
    UNKNOWN_PARAMETER: wrongQuery(resource, 'colour=blue'),
    REPEATED_PARAMETER: wrongQuery(resource, 'page=1&page=2'),
    DUPLICATE_VALUE: errors.RESOURCE_ALREADY_EXISTS,
    RESOURCE_IN_USE: errors.DEPENDENCY_CONFLICT,
    UNKNOWN_REFERENCE: errors.BUSINESS_RULE_VIOLATION,
    IDEMPOTENCY_KEY_REUSED: caught(() =>
      refuseRuleViolation([{ field: 'idempotency_key', code: 'IDEMPOTENCY_KEY_REUSED', message: reused }]),
    ),
  }
}

const invalid = (resource: Resource, body: Values) =>
  caught(() => refuseInvalid(inspectResource(resource, body).details))

const wrongQuery = (resource: Resource, query: string) =>
  caught(() => listQueryParser(resource, 100)(new URLSearchParams(query)))

function responseText(error: DomainError): string {
  const body = JSON.stringify(errorEnvelope(error), null, 2)
  return `HTTP/1.1 ${STATUS[error.code]}\nContent-Type: application/json; charset=utf-8\n\n${body}`
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
