import type { DetailCode, ErrorCode } from '../../domain/model/errors.ts'
import { STATUS } from '../../http/errors.ts'

/** What a code means and what a client can do about it. */
export interface Explanation {
  readonly cause: string
  readonly remedy: string
}

/** An entry of the catalogue at `/errors`: the code of an envelope, or of one of its details. */
export interface CatalogueEntry extends Explanation {
  readonly code: ErrorCode | DetailCode
  /** Where the code stands: `error.code`, or the `code` of an entry of `error.details`. */
  readonly kind: 'error' | 'detail'
  /** The status of an error; a detail has that of the error it belongs to. */
  readonly status?: number
}

/** Every code there is: those of errors with their status (SPEC §7), then those of details (SPEC §2.4). */
export function catalogueEntries(): CatalogueEntry[] {
  const errors = Object.entries(ERRORS) as [ErrorCode, Explanation][]
  const details = Object.entries(DETAILS) as [DetailCode, Explanation][]
  return [
    ...errors.map(([code, text]): CatalogueEntry => ({ code, kind: 'error', status: STATUS[code], ...text })),
    ...details.map(([code, text]): CatalogueEntry => ({ code, kind: 'detail', ...text })),
  ]
}

/** One row for every code of an envelope. */
export const ERRORS: Readonly<Record<ErrorCode, Explanation>> = {
  MALFORMED_JSON: {
    cause: 'The body is missing, not JSON in UTF-8, or holds a member named __proto__ or constructor.',
    remedy: 'Send one JSON document; its Content-Length must match.',
  },
  VALIDATION_FAILED: {
    cause: 'The body is wrong in itself: a type, a required field, a bound, an unknown or read-only field.',
    remedy: 'Correct what the details name; all problems are reported at once.',
  },
  INVALID_QUERY_PARAMETER: {
    cause: 'A query parameter is unknown, given twice, or has a value that is not possible.',
    remedy: 'Follow the details; they name what is allowed.',
  },
  AUTHENTICATION_REQUIRED: {
    cause: 'There is no access token, or it is not acceptable, or it has expired.',
    remedy: 'Send Authorization: Bearer <token> with a token of the configured issuer.',
  },
  ACCESS_DENIED: {
    cause: 'The token is good but lacks the scope of this collection. Writing does not include reading.',
    remedy: 'Ask for a token with the scope that the message names.',
  },
  RESOURCE_NOT_FOUND: {
    cause: 'Nothing is at this address and, as far as is known, nothing ever was.',
    remedy: 'Check the address and its letter case. To create with PUT, send the id in the body as well.',
  },
  METHOD_NOT_ALLOWED: {
    cause: 'The address exists and does not have this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  NOT_ACCEPTABLE: {
    cause: 'The Accept header takes none of the media types this is available in.',
    remedy: 'Accept application/json or application/hal+json.',
  },
  CONCURRENT_MODIFICATION: {
    cause: 'If-Match names another version than the current one: somebody else has changed the resource.',
    remedy: 'Read it again, repeat the change on what is there now, and send its new ETag.',
  },
  RESOURCE_ALREADY_EXISTS: {
    cause: 'A value that must be unique in the collection is taken, whatever its case.',
    remedy: 'Choose another value, or change the resource that has it.',
  },
  DEPENDENCY_CONFLICT: {
    cause: 'Other resources refer to this one, so it cannot be deleted.',
    remedy: 'Delete or change those first.',
  },
  RESOURCE_GONE: {
    cause: 'The resource was here and was deleted.',
    remedy: 'Drop references to it. PUT with its id creates it again.',
  },
  PRECONDITION_FAILED: {
    cause: 'If-None-Match: * asks that the resource does not exist, and it does.',
    remedy: 'Leave the header out to replace it.',
  },
  PAYLOAD_TOO_LARGE: {
    cause: 'The body is larger than 1 MiB.',
    remedy: 'Send less at once.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    cause: 'The Content-Type of the body is not accepted here, or it is compressed or not in UTF-8.',
    remedy: 'Send application/json; for PATCH application/merge-patch+json is accepted too.',
  },
  BUSINESS_RULE_VIOLATION: {
    cause: 'The body is well formed and breaks a rule that involves other fields, states or resources.',
    remedy: 'The details name the rule that was broken.',
  },
  MALFORMED_REQUEST: {
    cause: 'The request is not HTTP as it has to be, or does not name the one host it is for.',
    remedy: 'Correct what the message names; most libraries send it right by themselves.',
  },
  REQUEST_TIMEOUT: {
    cause: 'The request took too long to arrive.',
    remedy: 'Send it again, on a new connection.',
  },
  HEADERS_TOO_LARGE: {
    cause: 'The headers of the request are larger than is accepted.',
    remedy: 'Send fewer or shorter headers, cookies above all.',
  },
  TOO_MANY_REQUESTS: {
    cause: 'This caller has sent more requests than it may in this time.',
    remedy: 'Wait as long as Retry-After says.',
  },
  INTERNAL_ERROR: {
    cause: 'The service failed. What happened is in its log and not in the answer.',
    remedy: 'Report the X-Request-Id of the answer to whoever runs the service.',
  },
  SERVICE_UNAVAILABLE: {
    cause:
      'The service cannot answer for the moment: it is busy, starting, stopping, or cut off from something.',
    remedy: 'Try again after Retry-After.',
  },
}

/** One row for every code of a detail. */
export const DETAILS: Readonly<Record<DetailCode, Explanation>> = {
  REQUIRED_FIELD: {
    cause: 'A required field is absent, null, empty or blank.',
    remedy: 'Give it a value.',
  },
  INVALID_TYPE: {
    cause: 'The value has another JSON type than the field. Nothing is converted.',
    remedy: 'Send the type that the schema states.',
  },
  INVALID_VALUE: {
    cause: 'The value is not one of those allowed, or holds characters that cannot be stored.',
    remedy: 'Take a value that the message names.',
  },
  INVALID_FORMAT: {
    cause: 'The text does not have the form it needs, such as an ISO 8601 timestamp.',
    remedy: 'Write it as the message shows.',
  },
  INVALID_RANGE: {
    cause: 'The lower end of a range is above its upper end, also after a PATCH has been applied.',
    remedy: 'Send both ends in order.',
  },
  OUT_OF_RANGE: {
    cause: 'The number or the moment lies outside the bounds.',
    remedy: 'Stay within the bounds of the message.',
  },
  TOO_LONG: {
    cause: 'The text has too many characters, or the object too many members.',
    remedy: 'Shorten it.',
  },
  LIMIT_EXCEEDED: {
    cause: 'A GraphQL operation is longer, deeper or costlier than one may be.',
    remedy: 'Ask for less at once: fewer fields, shallower, with smaller pages.',
  },
  UNKNOWN_FIELD: {
    cause: 'There is no field of this name.',
    remedy: 'The message lists the fields there are.',
  },
  READ_ONLY_FIELD: {
    cause: 'A field that the service keeps was sent with another value than it has.',
    remedy: 'Leave it out, or send it as it was read.',
  },
  UNKNOWN_PARAMETER: {
    cause: 'There is no query parameter of this name here.',
    remedy: 'The message lists those there are.',
  },
  REPEATED_PARAMETER: {
    cause: 'A query parameter that has one value was given several times.',
    remedy: 'Give it once; only filter may be repeated.',
  },
  DUPLICATE_VALUE: {
    cause: 'Another resource of the collection has this value.',
    remedy: 'Choose another value.',
  },
  RESOURCE_IN_USE: {
    cause: 'Another resource refers to this one.',
    remedy: 'Delete or change that one first.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    cause: 'The Idempotency-Key was sent before, with another request.',
    remedy: 'Take a new key for each request that is meant to be a new one.',
  },
  BELOW_ABSOLUTE_ZERO: {
    cause: 'A temperature is below −273.15 °C.',
    remedy: 'Send a temperature that can exist.',
  },
  UNKNOWN_PLANET: {
    cause: 'No planet has this identifier or name, and the service is set not to make new ones.',
    remedy: 'Create the planet first.',
  },
  UNKNOWN_REFERENCE: {
    cause: 'The resource that the field refers to does not exist.',
    remedy: 'Create it first, or correct the identifier.',
  },
  INVALID_COMPOSITION: {
    cause: 'The fractions of a composition sum to more than 1.',
    remedy: 'Send fractions that sum to 1 at most.',
  },
  INVALID_STATUS_TRANSITION: {
    cause: 'The status cannot move from what it is to this value.',
    remedy: 'Take one of the moves that the message allows.',
  },
  MISSION_CLOSED: {
    cause: 'The mission is completed or aborted and takes no more crew.',
    remedy: 'Choose a mission that is planned or active.',
  },
  CREW_CAPACITY_EXCEEDED: {
    cause: 'The spacecraft of the mission has no place for this many.',
    remedy: 'Take a larger spacecraft, or a smaller crew.',
  },
  ASTRONAUT_ON_MISSION: {
    cause: 'The astronaut is already aboard a mission that is not over.',
    remedy: 'Wait for the end of that mission, or take another astronaut.',
  },
}
