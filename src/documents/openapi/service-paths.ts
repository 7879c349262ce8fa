import type { Resource } from '../../model/resource.ts'
import { BATCH_PATH } from '../../rest/batch.ts'
import { CHANGES_PATH } from '../../rest/changes/feed.ts'
import { entryDocument } from '../../rest/routes.ts'
import { API_CATALOG_PATH } from '../../rest/urls.ts'
import { batchOperation } from './batch.ts'
import { changesOperation } from './changes.ts'
import type { Schema } from './field-schema.ts'
import { pathParameter, shared } from './parameters.ts'
import { SCHEMAS } from './resource-schemas.ts'
import { errorReferences, halContent, openResponse, response } from './responses.ts'

const TAG = 'service'

/** The paths of the documents; the first three are below `{base}`. */
export const PATHS = {
  json: '/openapi.json',
  yaml: '/openapi.yaml',
  profiles: '/profile',
  errors: '/errors',
}

export function servicePaths(
  resources: readonly Resource[],
  base: string,
  path: string,
): Record<string, Schema> {
  const object = { schema: { type: 'object' } }
  const json = (schema: string) => ({ 'application/json': { schema: { $ref: SCHEMAS + schema } } })
  const html = { 'text/html': { schema: { type: 'string' } } }
  return {
    [path]: { get: entryOperation(resources, base) },
    [path + BATCH_PATH]: { post: batchOperation(resources, base) },
    [path + CHANGES_PATH]: { get: changesOperation(resources, path) },
    [path + PATHS.json]: {
      get: openOperation('readOpenApiJson', 'This document as JSON', { 'application/json': object }),
    },
    [path + PATHS.yaml]: {
      get: openOperation('readOpenApiYaml', 'This document as YAML', { 'application/yaml': object }),
    },
    [`${path}${PATHS.profiles}/{collection}`]: {
      parameters: [
        pathParameter('collection', 'Name of a collection.', resources[0]?.path, {
          enum: resources.map((resource) => resource.path),
        }),
      ],
      get: openOperation('readProfile', 'The schema and the policies of a collection', json('Profile')),
    },
    [API_CATALOG_PATH]: {
      get: openOperation('readApiCatalog', 'The interfaces of the service (RFC 9727)', {
        'application/linkset+json': object,
      }),
    },
    [PATHS.errors]: {
      get: openOperation('listErrors', 'Every error code', { ...json('ErrorCatalogue'), ...html }),
    },
    [`${PATHS.errors}/{code}`]: {
      parameters: [
        pathParameter('code', 'A code of an error or a detail.', 'RESOURCE_GONE', { pattern: '^[A-Z_]+$' }),
      ],
      get: openOperation('readError', 'What an error code means', {
        ...json('ErrorCatalogueEntry'),
        ...html,
      }),
    },
  }
}

function entryOperation(resources: readonly Resource[], base: string): Schema {
  const example = entryDocument(
    resources.filter(({ owner }) => !owner),
    base,
  )
  return {
    operationId: 'readEntry',
    summary: 'The entry document',
    description: 'Links to every collection. Requires a token, with any scope.',
    tags: [TAG],
    responses: {
      200: response('The collections.', [], halContent('Entry', example)),
      ...errorReferences(['AUTHENTICATION_REQUIRED', 'NOT_ACCEPTABLE']),
    },
  }
}

function openOperation(operationId: string, summary: string, content: Schema): Schema {
  return {
    operationId,
    summary,
    description: 'Requires no token. Unknown names get the same response as any unknown URL.',
    tags: [TAG],
    security: [],
    parameters: [shared('IfNoneMatchRead')],
    responses: {
      200: openResponse(summary, content),
      304: openResponse('If-None-Match names the current version.'),
      ...errorReferences([
        'AUTHENTICATION_REQUIRED',
        'RESOURCE_NOT_FOUND',
        'METHOD_NOT_ALLOWED',
        'NOT_ACCEPTABLE',
      ]),
    },
  }
}
