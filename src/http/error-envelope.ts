import type { DomainError, ErrorCode } from '../domain/model/errors.ts'

/** The status of each code (SPEC §7): one row for every code there is. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
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
}

/** The body of every failed request (SPEC §2.4). */
export function errorEnvelope({ code, message, details }: DomainError) {
  return { error: { code, message, details } }
}
