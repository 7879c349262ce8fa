import type { Detail, ErrorCode } from '../../../domain/model/errors.ts'
import { DomainError, refuseInvalid } from '../../../domain/model/errors.ts'
import type { Resource } from '../../../domain/model/resource.ts'
import { inspectResource } from '../../../domain/model/validate.ts'
import { errorEnvelope, STATUS } from '../../../http/errors.ts'
import { parseListQuery } from '../../parse-list-query.ts'
import { ERRORS } from '../error-catalogue.ts'
import type { Schema } from './field-schema.ts'
import { ALWAYS, headers } from './headers.ts'

/** What every operation can answer with, whatever it does. */
export const COMMON: readonly ErrorCode[] = [
  'MALFORMED_REQUEST',
  'INVALID_QUERY_PARAMETER',
  'REQUEST_TIMEOUT',
  'TOO_MANY_REQUESTS',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]

/** The name of the response that stands for these codes, which share a status. */
function responseName(codes: readonly ErrorCode[]): string {
  return codes.join('.')
}

/** References to the error responses of an operation, by status. */
export function errorReferences(codes: readonly ErrorCode[]): Record<string, Schema> {
  return Object.fromEntries(
    byStatus(codes).map(([status, group]) => [
      String(status),
      { $ref: `#/components/responses/${responseName(group)}` },
    ]),
  )
}

/** The error responses that these lists of codes refer to, with an example for each code. */
export function errorResponses(lists: readonly (readonly ErrorCode[])[]): Record<string, Schema> {
  const groups = lists.flatMap((codes) => byStatus(codes).map(([, group]) => group))
  return Object.fromEntries(groups.map((codes) => [responseName(codes), errorResponse(codes)]))
}

/** An example of each code's envelope (SPEC §2.4), where possible made by what makes the real one. */
export function errorExamples(resource: Resource): Record<ErrorCode, object> {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  const real: Partial<Record<ErrorCode, DomainError>> = {
    VALIDATION_FAILED: caught(() => refuseInvalid(inspectResource(resource, { colour: 'blue' }).details)),
    INVALID_QUERY_PARAMETER: caught(() => parseListQuery(resource, new URLSearchParams('page=0'), 100)),
    ...DETAILED,
  }
  return Object.fromEntries(
    codes.map((code) => [
      code,
      { value: errorEnvelope(real[code] ?? new DomainError(code, ERRORS[code].cause)) },
    ]),
  ) as unknown as Record<ErrorCode, object>
}

function errorResponse(codes: readonly ErrorCode[]): Schema {
  const status = STATUS[codes[0] as ErrorCode]
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return {
    description: codes.map((code) => `${code}: ${ERRORS[code].cause}`).join('\n\n'),
    headers: headers([...ALWAYS, ...(HEADERS[status] ?? [])]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples),
      },
    },
  }
}

/** The headers that come with a status, beside the request id. */
const HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

function byStatus(codes: readonly ErrorCode[]): [number, ErrorCode[]][] {
  const all = [...new Set([...codes, ...COMMON])].sort()
  const statuses = [...new Set(all.map((code) => STATUS[code]))].sort()
  return statuses.map((status) => [status, all.filter((code) => STATUS[code] === status)])
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

/** Codes whose envelope has details that only a database would tell. */
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
    field: 'planet_id',
    code: 'UNKNOWN_REFERENCE',
    message: 'There is no resource "kepler-0" in planets.',
  }),
}

function detailed(code: ErrorCode, detail: Detail): DomainError {
  return new DomainError(code, detail.message, [detail])
}
