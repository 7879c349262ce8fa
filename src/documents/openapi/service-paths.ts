import type { Resource } from '../../model/definition/resource.ts'
import { descriptionOf, type ServiceOperation } from '../../rest/operation.ts'
import { API_CATALOG_PATH } from '../../rest/urls.ts'
import { type Schema, type Schemas, schemaNamed } from './field-schema.ts'
import { describe } from './operations.ts'
import { pathParameter, queryParameters, shared } from './parameters.ts'
import { errorReferences, response } from './responses.ts'

const TAG = 'service'

export const SERVICE_TAG = {
  name: TAG,
  description: 'The service itself: its entry document and its documentation.',
}

/** The paths of the documents; the first three are below `{base}`. */
export const PATHS = {
  json: '/openapi.json',
  yaml: '/openapi.yaml',
  profiles: '/profile',
  errors: '/errors',
}

/** @param examples of bodies, by the names of their schemas */
export function servicePaths(
  resources: readonly Resource[],
  all: readonly ServiceOperation[],
  examples: Readonly<Record<string, object>>,
  base: string,
  path: string,
): Schemas {
  const object = { schema: { type: 'object' } }
  const json = (schema: string) => ({ 'application/json': { schema: schemaNamed(schema) } })
  const html = { 'text/html': { schema: { type: 'string' } } }
  const names = resources.map((resource) => resource.path)
  const operations = all.map((operation) => {
    const { method, id: operationId, summary } = operation
    const subject = {
      operationId,
      summary,
      description: descriptionOf(operation, { base }),
      tag: TAG,
      path: operation.path,
      parameters: queryParameters(operation, resources),
      requestBody: (name: string) => [name, examples[name] as object] as const,
      schemaOf: (name: string) => name,
    }
    return [path + operation.path, { [method.toLowerCase()]: describe(operation, subject) }]
  })
  return {
    ...Object.fromEntries(operations),
    [path + PATHS.json]: open('readOpenApiJson', 'This document as JSON', { 'application/json': object }),
    [path + PATHS.yaml]: open('readOpenApiYaml', 'This document as YAML', { 'application/yaml': object }),
    [`${path}${PATHS.profiles}/{collection}`]: {
      parameters: [pathParameter('collection', 'Name of a collection.', names[0], { enum: names })],
      ...open('readProfile', 'The schema and the policies of a collection', json('Profile')),
    },
    [API_CATALOG_PATH]: open('readApiCatalog', 'The interfaces of the service (RFC 9727)', {
      'application/linkset+json': object,
    }),
    [PATHS.errors]: open('listErrors', 'Every error code', { ...json('ErrorCatalogue'), ...html }),
    [`${PATHS.errors}/{code}`]: {
      parameters: [
        pathParameter('code', 'A code of an error or a detail.', 'RESOURCE_GONE', { pattern: '^[A-Z_]+$' }),
      ],
      ...open('readError', 'What an error code means', { ...json('ErrorCatalogueEntry'), ...html }),
    },
  }
}

function open(operationId: string, summary: string, content: Schema): Schema {
  const get = {
    operationId,
    summary,
    description: `${summary}. Requires no token. An unknown name gets the same response as any unknown URL.`,
    tags: [TAG],
    security: [],
    parameters: shared('IfNoneMatchRead'),
    responses: {
      200: response(summary, ['ETag'], content),
      304: response('If-None-Match names the current version.', ['ETag']),
      ...errorReferences([
        'AUTHENTICATION_REQUIRED',
        'RESOURCE_NOT_FOUND',
        'METHOD_NOT_ALLOWED',
        'NOT_ACCEPTABLE',
      ]),
    },
  }
  return { get }
}
