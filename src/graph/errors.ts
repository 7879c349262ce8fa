import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { meaningOfTrouble } from '../domain/database/trouble.ts'
import { type Detail, DomainError, type ErrorCode } from '../domain/errors.ts'
import { camelCase } from './names.ts'

/** Told of every fault of the service. */
export type ReportFault = (error: unknown) => void

/** What Apollo calls what a caller did wrong, in the codes of this service. */
const APOLLO_CODES: Readonly<Record<string, ErrorCode>> = {
  GRAPHQL_PARSE_FAILED: 'VALIDATION_FAILED',
  GRAPHQL_VALIDATION_FAILED: 'VALIDATION_FAILED',
  OPERATION_RESOLUTION_FAILURE: 'VALIDATION_FAILED',
  BAD_USER_INPUT: 'VALIDATION_FAILED',
  BAD_REQUEST: 'VALIDATION_FAILED',
  PERSISTED_QUERY_NOT_SUPPORTED: 'VALIDATION_FAILED',
}

/**
 * Makes the formatter of errors for GraphQL's callers: the service's code and details in `extensions`,
 * fields under their GraphQL names, and nothing internal. A fault of the service is reported.
 */
export function formatErrors(reportFault: ReportFault) {
  return (formatted: GraphQLFormattedError, thrown: unknown): GraphQLFormattedError => {
    const cause = causeOf(thrown)
    const place = {
      ...(formatted.locations && { locations: formatted.locations }),
      ...(formatted.path && { path: formatted.path }),
    }
    if (cause instanceof DomainError) {
      const details = cause.details.map(inCamelCase)
      return { message: cause.message, ...place, extensions: { code: cause.code, details } }
    }
    const code = APOLLO_CODES[String(formatted.extensions?.['code'])]
    if (code) return { message: formatted.message, ...place, extensions: { code, details: [] } }
    reportFault(cause)
    const message = 'The service failed to answer.'
    return { message, ...place, extensions: { code: 'INTERNAL_ERROR', details: [] } }
  }
}

/** What was thrown before GraphQL wrapped it; a database in trouble as SERVICE_UNAVAILABLE. */
export function causeOf(error: unknown): unknown {
  const isWrapped = error instanceof GraphQLError && error.originalError
  return isWrapped ? causeOf(error.originalError) : meaningOfTrouble(error)
}

function inCamelCase({ field, code, message }: Detail): Detail {
  return { field: field.split('.').map(camelCase).join('.'), code, message }
}
