/**
 * The error codes of all protocols (SPEC §2.4, §7). REST maps each to a status; GraphQL returns it in
 * `extensions.code`.
 */
export type ErrorCode =
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_JSON'
  | 'VALIDATION_FAILED'
  | 'INVALID_QUERY_PARAMETER'
  | 'AUTHENTICATION_REQUIRED'
  | 'ACCESS_DENIED'
  | 'RESOURCE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'CONCURRENT_MODIFICATION'
  | 'RESOURCE_ALREADY_EXISTS'
  | 'DEPENDENCY_CONFLICT'
  | 'RESOURCE_GONE'
  | 'REQUEST_TIMEOUT'
  | 'PRECONDITION_FAILED'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'BUSINESS_RULE_VIOLATION'
  | 'TOO_MANY_REQUESTS'
  | 'HEADERS_TOO_LARGE'
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE'

/** The codes of details that hold for every resource: problems with a field or a query parameter (SPEC §2.4). */
export type CommonDetailCode =
  | 'REQUIRED_FIELD'
  | 'INVALID_TYPE'
  | 'INVALID_VALUE'
  | 'INVALID_FORMAT'
  | 'INVALID_RANGE'
  | 'OUT_OF_RANGE'
  | 'TOO_LONG'
  | 'UNKNOWN_FIELD'
  | 'READ_ONLY_FIELD'
  | 'UNKNOWN_PARAMETER'
  | 'REPEATED_PARAMETER'
  | 'DUPLICATE_VALUE'
  | 'RESOURCE_IN_USE'
  | 'UNKNOWN_REFERENCE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'LIMIT_EXCEEDED'

/** The `code` of a detail: a common one, or one that a definition declares for its rules. */
export type DetailCode = CommonDetailCode | (string & {})

/** What a code means, and what a client can do about it. */
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

/** The current version after a failed precondition, for the response. */
interface CurrentVersion {
  readonly id: string
  readonly parentId?: string | undefined
  readonly version: number
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

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: readonly Detail[] = [],
    readonly current?: CurrentVersion,
  ) {
    super(details.length > MAXIMUM_DETAILS ? `${message} ${omission(details.length)}` : message)
    this.details = details.slice(0, MAXIMUM_DETAILS)
  }
}

/** An error with one detail, which has the same message. */
export function errorAt(field: string, detail: DetailCode, code: ErrorCode, message: string): DomainError {
  return new DomainError(code, message, [{ field, code: detail, message }])
}

function omission(count: number): string {
  return `The first ${MAXIMUM_DETAILS} of ${count} problems are listed.`
}

/**
 * Throws if there are details.
 *
 * @throws {DomainError} VALIDATION_FAILED (400) with these details
 */
export function refuseInvalid(details: readonly Detail[]): void {
  if (details.length > 0) {
    throw new DomainError('VALIDATION_FAILED', `The resource is not valid: ${summary(details)}`, details)
  }
}

/**
 * Throws if there are details.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with these details
 */
export function refuseRuleViolation(details: readonly Detail[]): void {
  if (details.length > 0) {
    throw new DomainError(
      'BUSINESS_RULE_VIOLATION',
      `A business rule refuses this: ${summary(details)}`,
      details,
    )
  }
}

function summary(details: readonly Detail[]): string {
  const [first] = details
  const others = details.length - 1
  return `${first?.message ?? ''}${others > 0 ? ` (and ${others} more)` : ''}`
}
