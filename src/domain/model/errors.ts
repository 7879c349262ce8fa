/**
 * What can go wrong, whatever the protocol: the closed list of codes that every face of the service
 * answers with (SPEC §2.4, §7). The REST adapter gives each a status; GraphQL carries it in
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

/** What is wrong with one field, one query parameter or one rule: the `code` of a detail (SPEC §2.4). */
export type DetailCode =
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
  | 'BELOW_ABSOLUTE_ZERO'
  | 'UNKNOWN_PLANET'
  | 'UNKNOWN_REFERENCE'
  | 'INVALID_COMPOSITION'
  | 'INVALID_STATUS_TRANSITION'
  | 'MISSION_CLOSED'
  | 'CREW_CAPACITY_EXCEEDED'
  | 'ASTRONAUT_ON_MISSION'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'LIMIT_EXCEEDED'

/** One entry of an error's `details`: the dotted path of the field, a code and a sentence. */
export interface Detail {
  readonly field: string
  readonly code: DetailCode
  readonly message: string
}

/** The state a failed precondition was compared with, so that the answer can name it. */
interface CurrentVersion {
  readonly id: string
  readonly parentId?: string | undefined
  readonly version: number
}

/** A response lists this many details; a request of a megabyte can have a hundred thousand problems. */
const MAXIMUM_DETAILS = 100

/**
 * A failure that the caller is told about as it stands, with the first 100 details. Everything else that is
 * thrown is a fault of the service and is masked as INTERNAL_ERROR.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly details: readonly Detail[]

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

function omission(count: number): string {
  return `The first ${MAXIMUM_DETAILS} of ${count} problems are listed.`
}

/**
 * Throws when there is something to report, and is silent otherwise.
 *
 * @throws {DomainError} VALIDATION_FAILED (400) with these details
 */
export function refuseInvalid(details: readonly Detail[]): void {
  if (details.length > 0) {
    throw new DomainError('VALIDATION_FAILED', `The resource is not valid: ${summary(details)}`, details)
  }
}

/**
 * Throws when a business rule was broken, and is silent otherwise.
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
