import { PROBLEM } from '../../http/errors.ts'
import { RESPONSE_HEADERS, type ResponseHeader } from '../../http/headers/response-headers.ts'
import { type ErrorCode, STATUS } from '../../model/errors.ts'
import { mapped } from '../../model/values.ts'
import { HAL_FORMS, type Templates } from '../../rest/forms.ts'
import type { ResourceOperation } from '../../rest/operation.ts'
import { withoutNullLinks } from '../../rest/respond.ts'
import { ERRORS } from '../error-catalogue.ts'
import { type Schema, type Schemas, schemaNamed } from './field-schema.ts'

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

const ALWAYS: readonly ResponseHeader[] = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy']

/** The name of a schema, an example, and the templates that HAL-FORMS adds to it. */
export type Body = readonly [schema: string, example: object, templates?: Templates]

export function halContent(...[name, example, templates]: Body): Schema {
  const schema = schemaNamed(name)
  const halExample = withoutNullLinks(example)
  return {
    'application/json': { schema, example },
    'application/hal+json': { schema, example: halExample },
    [HAL_FORMS]: { schema, example: templates ? { ...halExample, _templates: templates } : halExample },
  }
}

export function response(
  description: string,
  more: readonly ResponseHeader[] = [],
  content?: Schema,
): Schema {
  return {
    description,
    headers: headerReferences([...more, 'Link', 'Vary', ...ALWAYS]),
    ...(content && { content }),
  }
}

export function openResponse(description: string, content?: Schema): Schema {
  return { description, headers: headerReferences(['ETag', ...ALWAYS]), ...(content && { content }) }
}

export function headerReferences(names: readonly string[]): Schemas {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const COMMON: readonly ErrorCode[] = [
  'MALFORMED_REQUEST',
  'INVALID_QUERY_PARAMETER',
  'REQUEST_TIMEOUT',
  'TOO_MANY_REQUESTS',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]

/** By status. An error response is named after its codes. */
export function errorReferences(codes: readonly ErrorCode[]): Schemas {
  const all = [...new Set([...codes, ...COMMON])].sort()
  const statuses = [...new Set(all.map((code) => STATUS[code]))].sort()
  const nameOf = (status: number) => all.filter((code) => STATUS[code] === status).join('.')
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
  )
}

/** The error responses that these paths refer to. */
export function errorResponses(paths: Schemas): Schemas {
  const references = JSON.stringify(paths).matchAll(/#\/components\/responses\/([A-Z_.]+)/g)
  const names = new Set([...references].map(([, name]) => name as string))
  return Object.fromEntries([...names].map((name) => [name, errorResponse(name.split('.') as ErrorCode[])]))
}

function errorResponse(codes: readonly ErrorCode[]): Schema {
  const status = STATUS[codes[0] as ErrorCode]
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return {
    description: codes.map((code) => `${code}: ${ERRORS[code].cause}`).join('\n\n'),
    headers: headerReferences(['Link', 'Vary', ...ALWAYS, ...(ERROR_HEADERS[status] ?? [])]),
    content: {
      'application/json': {
        schema: schemaNamed('ErrorEnvelope'),
        examples: Object.fromEntries(examples),
      },
      [PROBLEM]: { schema: schemaNamed('Problem') },
    },
  }
}

const ERROR_HEADERS: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** The responses that are the same for all resources, by the name of the component. */
export function componentResponses(
  operations: readonly ResourceOperation[],
  examples: Readonly<Record<string, object>>,
): Schemas {
  const responses = operations.flatMap((operation) => Object.values(operation.responses))
  const shared = responses.filter(({ component }) => component !== undefined)
  return Object.fromEntries(
    shared.map(({ component, description, headers, body = '' }) => {
      return [component, response(description, headers, halContent(body, examples[body] as object))]
    }),
  )
}
