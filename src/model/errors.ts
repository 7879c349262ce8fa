import type { ResourceKey } from './rows/identifiers.ts'

/** The error codes of all protocols, with the status of each in HTTP (SPEC §2.4, §7). */
export const STATUS = {
  MALFORMED_REQUEST: 400,
  MALFORMED_JSON: 400,
  VALIDATION_FAILED: 400,
  INVALID_QUERY_PARAMETER: 400,
  AUTHENTICATION_REQUIRED: 401,
  ACCESS_DENIED: 403,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  CONCURRENT_MODIFICATION: 409,
  RESOURCE_ALREADY_EXISTS: 409,
  DEPENDENCY_CONFLICT: 409,
  RESOURCE_GONE: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BUSINESS_RULE_VIOLATION: 422,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof STATUS

/** Of a resource that does not exist: it never did, or it was deleted. */
export const ABSENT: readonly ErrorCode[] = ['RESOURCE_NOT_FOUND', 'RESOURCE_GONE']

/** A problem with a field or a parameter (SPEC §2.4): a code of `documents/error-codes.ts` or of a definition. */
export type DetailCode = string

export interface Explanation {
  readonly cause: string
  readonly remedy: string
}

/** An entry of `details` of an error: the dotted path of the field, a code and a message. */
export interface Detail {
  readonly field: string
  readonly code: DetailCode
  readonly message: string
}

/** A request of a megabyte can have a hundred thousand problems. */
const MAXIMUM_DETAILS = 100

/**
 * An error that is returned to the caller, with the first 100 details. Any other error is a fault of the
 * service, which the response replaces with INTERNAL_ERROR.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly details: readonly Detail[]
  /** The resource that the request conflicts with, if the caller may read it. */
  readonly related?: { readonly path: string; readonly id: string }
  /** The alias of the field of an operation that failed. */
  readonly failedField?: string
  /** The scope that the token lacks. */
  readonly scope?: string

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: readonly Detail[] = [],
    /** Set after a failed precondition, for the response. */
    readonly current?: ResourceKey & { readonly version: number },
  ) {
    const omission = `The first ${MAXIMUM_DETAILS} of ${details.length} problems are listed.`
    super(details.length > MAXIMUM_DETAILS ? `${message} ${omission}` : message)
    this.details = details.slice(0, MAXIMUM_DETAILS)
  }
}

/** Whether the same request can succeed later, without a change. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'SERVICE_UNAVAILABLE'
}

/** An error with one detail, which has the same message. */
export function errorAt(field: string, detail: DetailCode, code: ErrorCode, message: string): DomainError {
  return new DomainError(code, message, [{ field, code: detail, message }])
}

/** @throws {DomainError} VALIDATION_FAILED (400) with these details, if there are any */
export function refuseInvalid(details: readonly Detail[]): void {
  refuse('VALIDATION_FAILED', 'The resource is not valid', details)
}

/** @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with these details, if there are any */
export function refuseRuleViolation(details: readonly Detail[]): void {
  refuse('BUSINESS_RULE_VIOLATION', 'The request violates a business rule', details)
}

function refuse(code: ErrorCode, what: string, details: readonly Detail[]): void {
  const [first, ...others] = details
  if (!first) return
  const summary =
    others.length > 0 ? `${first.message.replace(/\.$/, '')} (and ${others.length} more).` : first.message
  throw new DomainError(code, `${what}: ${summary}`, details)
}
