import type { Resource } from '../model/definition/resource.ts'
import { type DetailCode, type ErrorCode, type Explanation, errorAt, STATUS } from '../model/errors.ts'
import { errorExamples, responseWith } from './error-examples.ts'

interface CodeExplanation extends Explanation {
  /** When the same request can be sent again. By default, only after a change. */
  readonly retry?: string
  /** The error that contains a detail. By default, VALIDATION_FAILED. */
  readonly error?: ErrorCode
}

export type ErrorEntry = ReturnType<typeof errorEntries>[number]

/**
 * The codes of errors (SPEC §7), then those of details (SPEC §2.4).
 *
 * @param root the beginning of all URLs of the service
 */
export function errorEntries(resources: readonly Resource[], root: string, path: string) {
  const { errors, details } = errorExamples(resources, root + path)
  return Object.entries(explanationsOf(resources)).map(([code, { cause, remedy, retry = NOT_UNCHANGED }]) => {
    const isError = code in ERRORS
    const { request, response } = { ...errors, ...details }[code] ?? {}
    return {
      code,
      kind: isError ? 'error' : 'detail',
      status: isError ? STATUS[code as ErrorCode] : undefined,
      cause,
      remedy,
      retry: isError ? retry : undefined,
      request,
      // Some details need a rule, or a field of a certain kind, which the resources may lack.
      response: response ?? responseWith(errorAt('', code, errorOf(code), cause)),
      href: `${root}/errors/${code}`,
    }
  })
}

export function explanationsOf(resources: readonly Resource[]): Readonly<Record<string, CodeExplanation>> {
  return Object.assign({}, ERRORS, DETAILS, ...resources.map(({ detailCodes }) => detailCodes))
}

/** The error that contains a detail. The codes of definitions come from rules. */
export function errorOf(detail: DetailCode): ErrorCode {
  return (DETAILS[detail] ?? { error: 'BUSINESS_RULE_VIOLATION' }).error ?? 'VALIDATION_FAILED'
}

const NOT_UNCHANGED = 'Only after a change: the same request would fail again.'

export const ERRORS: Readonly<Record<ErrorCode, CodeExplanation>> = {
  MALFORMED_JSON: {
    cause:
      'The body is missing or incomplete, or is not JSON in UTF-8. Or it has two members with one name, a member named ' +
      '__proto__ or constructor, more than 10,000 values, or more than 64 levels.',
    remedy: 'Send what the message asks for: one JSON document, whose size matches Content-Length.',
  },
  VALIDATION_FAILED: {
    cause:
      'The body is invalid: a wrong type, a missing required field, a value out of bounds, or an unknown or read-only field.',
    remedy: 'Correct the fields that the details name. All problems are reported in one response.',
  },
  INVALID_QUERY_PARAMETER: {
    cause:
      'A query parameter is unknown, repeated or invalid, or the tx preference is neither commit nor rollback.',
    remedy: 'See the details for the allowed parameters and values.',
  },
  AUTHENTICATION_REQUIRED: {
    cause: 'The access token is missing, invalid or expired.',
    remedy: 'Send Authorization: Bearer <token> with a token of the configured issuer.',
    retry: 'With a new token.',
  },
  ACCESS_DENIED: {
    cause:
      'The token is valid, but lacks the scope for this collection or one of its fields, or an access rule does not allow ' +
      'the write. Writing does not include reading. Or GraphQL accepts persisted operations only.',
    remedy:
      'If the message names a scope, request a token with it. An access rule depends on the token and on the values of the ' +
      'resource, before and after the write.',
    retry: 'With a token that has the scope, or that the rule admits.',
  },
  RESOURCE_NOT_FOUND: {
    cause: 'No resource exists at this URL, and none is known to have existed.',
    remedy:
      'Check the URL, which is case-sensitive. To create a resource with PUT, also send its id in the body.',
    retry: 'No.',
  },
  METHOD_NOT_ALLOWED: {
    cause: 'The resource does not support this method.',
    remedy: 'Use one of the methods in the Allow header.',
    retry: 'No.',
  },
  NOT_ACCEPTABLE: {
    cause: 'The Accept header allows none of the media types that are available here.',
    remedy: 'Accept application/json, application/hal+json or application/prs.hal-forms+json.',
  },
  CONCURRENT_MODIFICATION: {
    cause: 'If-Match or If-Unmodified-Since does not hold: the resource has changed meanwhile.',
    remedy: 'Read the resource again, reapply the change, and send the new ETag.',
    retry: 'After reading the resource again.',
  },
  RESOURCE_ALREADY_EXISTS: {
    cause: 'A value that must be unique in the collection is already in use. Case is ignored.',
    remedy: 'Choose another value, or change the resource that has it.',
  },
  DEPENDENCY_CONFLICT: {
    cause:
      'Other resources refer to this one, or a rule keeps it, so it cannot be deleted. Or the write would change another ' +
      'resource whose stored values are not valid.',
    remedy: 'See the message: first delete or change the other resources, or correct them.',
    retry: 'After changing the other resources.',
  },
  RESOURCE_GONE: {
    cause:
      'The resource was deleted, the version or the position in the feed is no longer kept, or changes before the ' +
      'position were lost in a failover or a restore.',
    remedy:
      'Of a resource: remove references to it. Its versions show its earlier states. PUT with its id creates it again. Of a ' +
      'position in the feed: read the lists again, and continue from the position that they link to.',
    retry: 'No.',
  },
  PRECONDITION_FAILED: {
    cause:
      'If-None-Match names the current entity tag of the resource, or is * and requires that it does not exist.',
    remedy: 'Omit the header to write the resource.',
  },
  PAYLOAD_TOO_LARGE: {
    cause: 'The body is larger than 1 MiB.',
    remedy: 'Send less in one request.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    cause: 'The Content-Type of the body is not supported, or the body is compressed or not in UTF-8.',
    remedy: 'Send application/json; PATCH also accepts application/merge-patch+json.',
  },
  BUSINESS_RULE_VIOLATION: {
    cause: 'The body is well formed but violates a rule about other fields, states or resources.',
    remedy: 'See the details for the rule.',
    retry: 'After the cause is fixed.',
  },
  MALFORMED_REQUEST: {
    cause: 'The request is not valid HTTP, or does not name exactly one host.',
    remedy: 'Fix what the message says. Most HTTP libraries only send valid requests.',
  },
  REQUEST_TIMEOUT: {
    cause: 'The request took too long to arrive.',
    remedy: 'Send it again on a new connection.',
    retry: 'At once, on a new connection.',
  },
  HEADERS_TOO_LARGE: {
    cause:
      'The request headers are too large, or one that the service reads is longer than 2,000 characters.',
    remedy: 'Send fewer or shorter headers. Cookies are the usual cause.',
  },
  TOO_MANY_REQUESTS: {
    cause: 'This caller has exceeded its rate limit.',
    remedy: 'Wait for the number of seconds in Retry-After.',
    retry: 'After the time in Retry-After.',
  },
  INTERNAL_ERROR: {
    cause: 'The service failed. Its log has the cause.',
    remedy: 'Report the X-Request-Id of the response to the operator of the service.',
    retry:
      'Reads: at once. Writes: with the same Idempotency-Key, or after checking whether they took effect.',
  },
  SERVICE_UNAVAILABLE: {
    cause:
      'The service is temporarily unavailable: it is overloaded, starting, stopping, or has lost its database.',
    remedy: 'Try again after the time in Retry-After.',
    retry:
      'After the time in Retry-After; wait longer each time. Writes: with the same Idempotency-Key or If-Match.',
  },
}

const DETAILS: Readonly<Record<string, CodeExplanation>> = {
  REQUIRED_FIELD: {
    cause: 'A required field is absent, null, empty or blank.',
    remedy: 'Send a value for the field.',
  },
  INVALID_TYPE: {
    cause: 'The JSON type of the value does not match the field. Values are not converted.',
    remedy: 'Send the type that the schema names.',
  },
  INVALID_VALUE: {
    cause: 'The value is not one of the allowed values, or contains characters that cannot be stored.',
    remedy: 'Use a value that the message names.',
  },
  INVALID_FORMAT: {
    cause: 'The text does not have the required format, such as an ISO 8601 timestamp.',
    remedy: 'Write it as the message shows.',
  },
  INVALID_RANGE: {
    cause: 'The lower end of a range is above its upper end. For a PATCH, the merged result is checked.',
    remedy: 'Swap or correct the ends.',
  },
  OUT_OF_RANGE: {
    cause: 'The number or time is out of bounds.',
    remedy: 'Use a value within the bounds that the message names.',
  },
  TOO_LONG: {
    cause: 'The text has too many characters, or the object has too many members.',
    remedy: 'Shorten it.',
  },
  LIMIT_EXCEEDED: {
    cause:
      'A GraphQL operation is longer, deeper or costlier than allowed, or embed asks for too many lists.',
    remedy: 'Request less at once: fewer fields and levels, smaller pages.',
  },
  UNKNOWN_FIELD: {
    cause: 'There is no field with this name.',
    remedy: 'Use one of the fields that the message lists.',
  },
  READ_ONLY_FIELD: {
    cause: 'A read-only field was sent with a value that differs from the stored one.',
    remedy: 'Omit it, send it unchanged, or send Prefer: handling=lenient to have it ignored.',
  },
  UNKNOWN_PARAMETER: {
    cause: 'There is no query parameter with this name here.',
    remedy: 'Use one of the parameters that the message lists.',
    error: 'INVALID_QUERY_PARAMETER',
  },
  REPEATED_PARAMETER: {
    cause: 'A query parameter that may appear only once was repeated.',
    remedy: 'Send it once. Only sort, filters, fields and embed may be repeated.',
    error: 'INVALID_QUERY_PARAMETER',
  },
  DUPLICATE_VALUE: {
    cause: 'Another resource of the collection has this value.',
    remedy: 'Choose another value.',
    error: 'RESOURCE_ALREADY_EXISTS',
  },
  RESOURCE_IN_USE: {
    cause: 'Another resource refers to this one.',
    remedy: 'Delete or change that one first.',
    error: 'DEPENDENCY_CONFLICT',
  },
  IDEMPOTENCY_KEY_REUSED: {
    cause: 'The Idempotency-Key was used before, with another request.',
    remedy: 'Use a new key for each new request.',
    error: 'BUSINESS_RULE_VIOLATION',
  },
  INVALID_STATUS_TRANSITION: {
    cause: 'The status cannot change from its current value to this one.',
    remedy: 'Use one of the transitions that the message lists.',
    error: 'BUSINESS_RULE_VIOLATION',
  },
  UNKNOWN_REFERENCE: {
    cause: 'The resource that the field refers to does not exist.',
    remedy: 'Create it first, or correct the identifier.',
    error: 'BUSINESS_RULE_VIOLATION',
  },
}
