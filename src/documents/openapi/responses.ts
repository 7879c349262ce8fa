import { PROBLEM } from '../../http/errors.ts'
import { RESPONSE_HEADERS, type ResponseHeader } from '../../http/headers.ts'
import { type ErrorCode, STATUS } from '../../model/errors.ts'
import { mapped } from '../../model/values.ts'
import { HAL_FORMS } from '../../rest/forms.ts'
import type { OperationResponse, ResourceOperation } from '../../rest/operation.ts'
import { ERRORS } from '../error-codes.ts'
import { component, type Schema, type Schemas, schemaNamed } from './field-schema.ts'

/** Links are absolute, so examples need an origin even if none is set. */
export const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000'

/** @param base the URL of the entry document */
export function responseHeaders(base: string): Schemas {
  return mapped(RESPONSE_HEADERS, (header: Schema) => {
    const { example } = header
    return typeof example === 'string' ? { ...header, example: example.replace('{base}', base) } : header
  })
}

export function header(description: string, example?: string): Schema {
  return { description, schema: { type: 'string' }, ...(example !== undefined && { example }) }
}

/** Of every response where a token is needed. Only the default response names them, because they would be a tenth of the document. */
const ALWAYS: readonly ResponseHeader[] = ['Link', 'Vary', 'X-Request-Id', 'RateLimit', 'RateLimit-Policy']

/** The name of a schema, and an example. */
export type Body = readonly [schema: string, example: object]

/** The types have the same schema. Examples of HAL-FORMS would be a fifth of the document. */
export function halContent(name: string): Schema {
  const schema = schemaNamed(name)
  return {
    'application/json': { schema, ...exampleNamed(name) },
    'application/hal+json': { schema },
    [HAL_FORMS]: { schema },
  }
}

function exampleNamed(...names: readonly string[]): Schema {
  const references = names.map((name) => [name, component('examples', name)])
  return { examples: Object.fromEntries(references) }
}

/** Those that the paths refer to. Tools complain of others. */
export function usedIn(paths: unknown, kind: 'responses' | 'examples'): Set<string> {
  const references = JSON.stringify(paths).matchAll(/#\/components\/(\w+)\/([\w.]+?)(?:Example|Response)"/g)
  return new Set([...references].flatMap(([, from, name]) => (from === kind ? [name as string] : [])))
}

export function response(
  description: string,
  headers: readonly ResponseHeader[] = [],
  content?: Schema,
): Schema {
  return {
    description,
    ...(headers.length > 0 && { headers: headerReferences(headers) }),
    ...(content && { content }),
  }
}

export function headerReferences(names: readonly string[]): Schemas {
  return Object.fromEntries(names.map((name) => [name, component('headers', name)]))
}

const COMMON: readonly ErrorCode[] = ['MALFORMED_REQUEST', 'INVALID_QUERY_PARAMETER']

/** Of every operation, which refers to them as its default response. */
const DEFAULT: readonly ErrorCode[] = [
  'AUTHENTICATION_REQUIRED',
  'NOT_ACCEPTABLE',
  'REQUEST_TIMEOUT',
  'TOO_MANY_REQUESTS',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]

/** By status. An error response is named after its codes. */
export function errorReferences(codes: readonly ErrorCode[]): Schemas {
  const all = [...new Set([...codes, ...COMMON])].filter((code) => !DEFAULT.includes(code)).sort()
  const statuses = [...new Set(all.map((code) => STATUS[code]))].sort()
  const nameOf = (status: number) => all.filter((code) => STATUS[code] === status).join('.')
  const named = statuses.map((status) => [String(status), nameOf(status)])
  return mapped(Object.fromEntries([...named, ['default', 'Error']]), (name) =>
    component('responses', name as string),
  )
}

/** The error responses that these paths refer to. */
export function errorResponses(paths: Schemas): Schemas {
  const names = [...usedIn(paths, 'responses')].filter((name) => /^[A-Z_.]+$/.test(name))
  const responses = names.map((name) => [name, errorResponse(name.split('.') as ErrorCode[])])
  const headers = [...ALWAYS, 'WWW-Authenticate', 'Retry-After'] as const
  return { ...Object.fromEntries(responses), Error: errorResponse(DEFAULT, headers) }
}

function errorResponse(codes: readonly ErrorCode[], headers?: readonly ResponseHeader[]): Schema {
  return {
    ...response(codes.map((code) => `${STATUS[code]} ${code}: ${ERRORS[code].cause}`).join('\n\n'), headers),
    content: {
      'application/json': { schema: schemaNamed('ErrorEnvelope'), ...exampleNamed(...codes) },
      [PROBLEM]: { schema: schemaNamed('Problem') },
    },
  }
}

/** The responses that are the same for all resources, by the name of the component. */
export function componentResponses(operations: readonly ResourceOperation[]): Schemas {
  const all = operations.flatMap((operation) =>
    Object.keys(operation.responses).flatMap((status) => {
      const name = componentOf(operation, status)
      const { description, headers, body } = operation.responses[status] as OperationResponse
      const content = body === undefined ? undefined : halContent(body)
      return name === undefined ? [] : [[name, response(description, headers, content)]]
    }),
  )
  return Object.fromEntries(all)
}

/** Responses without a body are the same for all resources. */
export function componentOf(operation: ResourceOperation, status: string): string | undefined {
  const { component, body } = operation.responses[status] as OperationResponse
  return component ?? (body === undefined ? `${operation.id}${status}` : undefined)
}
