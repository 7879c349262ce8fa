import { type ExecutionResult, GraphQLError, type GraphQLFormattedError, Kind } from 'graphql'
import { type Detail, DomainError, type ErrorCode, STATUS } from '../../model/errors.ts'
import { camelCase } from '../names.ts'

/** Apollo's code for faults of the service. */
const FAULT = 'INTERNAL_SERVER_ERROR'

/**
 * Creates the error formatter of /graphql. `extensions` has only the code and the details, whose fields are GraphQL paths
 * that begin with the argument: `input.temperatureRange.minCelsius`. Internal errors are reported.
 */
export function formatErrors(reportFault: (error: unknown) => void) {
  return (formatted: GraphQLFormattedError, thrown: unknown): GraphQLFormattedError => {
    const cause = causeOf(thrown)
    const { message, locations, path, extensions } = formatted
    const answer = (text: string, code: ErrorCode, details: readonly Detail[] = []) => ({
      message: text,
      ...(locations && { locations }),
      ...(path && { path }),
      extensions: { code, details },
    })
    if (cause instanceof DomainError) {
      const details = cause.details.map((detail) => inGraphQL(detail, thrown))
      return answer(cause.message, cause.code, details)
    }
    if (isRequestError(thrown) || (extensions?.['code'] ?? FAULT) !== FAULT) {
      const { http } = (thrown as { extensions?: { http?: { status?: number } } }).extensions ?? {}
      return answer(message, REFUSALS[http?.status ?? 0] ?? 'VALIDATION_FAILED')
    }
    reportFault(cause)
    return answer('Internal error.', 'INTERNAL_ERROR')
  }
}

/** The codes of requests that Apollo refuses, by status. Others are VALIDATION_FAILED. */
const REFUSALS: Record<number, ErrorCode> = { 405: 'METHOD_NOT_ALLOWED', 415: 'UNSUPPORTED_MEDIA_TYPE' }

/** An error of a whole request. Apollo responds with its status. */
export function refusal(cause: DomainError): GraphQLError {
  const http = { status: STATUS[cause.code] }
  return new GraphQLError(cause.message, { originalError: cause, extensions: { http } })
}

export type Format = ReturnType<typeof formatErrors>

export function formatResult({ errors, ...result }: ExecutionResult, format: Format) {
  return errors ? { errors: errors.map((error) => format(error.toJSON(), error)), ...result } : result
}

/** Whether graphql-js refused the request before execution (GraphQL specification §7.1.2). */
function isRequestError(thrown: unknown): boolean {
  return thrown instanceof GraphQLError && !thrown.originalError && thrown.path === undefined
}

export function causeOf(error: unknown): unknown {
  const isWrapped = error instanceof GraphQLError && error.originalError
  return isWrapped ? causeOf(error.originalError) : error
}

/** The causes of the errors of a result. */
export function causesIn({ errors = [] }: ExecutionResult): unknown[] {
  return errors.map(causeOf)
}

function inGraphQL({ field, code, message }: Detail, thrown: unknown): Detail {
  const path = field.split('.').filter(Boolean).map(camelCase)
  const argument = argumentOf(path[0], code, thrown)
  return { field: [...(argument ? [argument] : []), ...path].join('.'), code, message }
}

/** The argument that contains the field. Undefined if the path already begins with an argument. */
function argumentOf(first: string | undefined, code: Detail['code'], thrown: unknown): string | undefined {
  const [node] = (thrown instanceof GraphQLError && thrown.nodes) || []
  if (node?.kind !== Kind.FIELD) return undefined
  const names = new Set(node.arguments?.map(({ name }) => name.value))
  if (first !== undefined && names.has(first)) return undefined
  if (code === 'READ_ONLY_FIELD' && names.has('readOnly')) return 'readOnly'
  return ['input', 'patch'].find((name) => names.has(name))
}
