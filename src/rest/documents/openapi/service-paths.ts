import type { Resource } from '../../../domain/model/resource.ts'
import { Urls } from '../../urls.ts'
import { answer, answerContent } from './contents.ts'
import { errorReferences } from './error-responses.ts'
import type { Schema } from './field-schema.ts'
import { ALWAYS, headers } from './headers.ts'
import { shared } from './parameters.ts'
import { SCHEMAS } from './resource-schemas.ts'

const TAG = 'service'

/** The errors of the entry document, and those of what is open to everyone. */
export const SERVICE_ERRORS = {
  entry: ['AUTHENTICATION_REQUIRED', 'NOT_ACCEPTABLE', 'INVALID_QUERY_PARAMETER'],
  open: ['AUTHENTICATION_REQUIRED', 'RESOURCE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'NOT_ACCEPTABLE'],
} as const

/** What is served beside the resources: the entry document, the documents on the service, the catalogue. */
export function servicePaths(
  resources: readonly Resource[],
  base: string,
  path: string,
): Record<string, Schema> {
  return {
    [path]: { get: entryOperation(resources, base) },
    [`${path}/openapi.json`]: {
      get: document('readOpenApiJson', 'This document as JSON', 'application/json'),
    },
    [`${path}/openapi.yaml`]: {
      get: document('readOpenApiYaml', 'This document as YAML', 'application/yaml'),
    },
    [`${path}/profile/{collection}`]: { parameters: [collection(resources)], get: profileOperation() },
    '/errors': { get: catalogueOperation() },
    '/errors/{code}': { parameters: [code()], get: entryOfCatalogueOperation() },
  }
}

function entryOperation(resources: readonly Resource[], base: string): Schema {
  const collections = resources.filter(({ owner }) => !owner)
  const urls = new Urls(base)
  const example = {
    _links: {
      self: { href: base },
      ...Object.fromEntries(
        collections.map((resource) => [
          resource.path,
          { href: urls.collection(resource, undefined), title: resource.description },
        ]),
      ),
    },
  }
  return {
    operationId: 'readEntry',
    summary: 'The entry document',
    description: 'A link to every collection. Any token will do.',
    tags: [TAG],
    responses: {
      200: answer('The collections.', [], answerContent('Entry', 'Entry', example)),
      ...errorReferences(SERVICE_ERRORS.entry),
    },
  }
}

function document(operationId: string, summary: string, type: string): Schema {
  return open(operationId, summary, { [type]: { schema: { type: 'object' } } })
}

function profileOperation(): Schema {
  const schema = { $ref: `${SCHEMAS}Profile` }
  return open('readProfile', 'The schema and the policies of a collection', {
    'application/json': { schema },
  })
}

function catalogueOperation(): Schema {
  const schema = { $ref: `${SCHEMAS}ErrorCatalogue` }
  return open('listErrors', 'Every error code', { 'application/json': { schema }, ...HTML })
}

function entryOfCatalogueOperation(): Schema {
  const schema = { $ref: `${SCHEMAS}ErrorCatalogueEntry` }
  return open('readError', 'What an error code means', { 'application/json': { schema }, ...HTML })
}

const HTML = { 'text/html': { schema: { type: 'string' } } }

/** A document that needs no token. */
function open(operationId: string, summary: string, content: Schema): Schema {
  const description = 'Open: needs no token. Names that are not known are answered like any unknown address.'
  return {
    operationId,
    summary,
    description,
    tags: [TAG],
    security: [],
    parameters: [shared('IfNoneMatchRead')],
    responses: {
      200: { description: summary, headers: headers(['ETag', ...ALWAYS]), content },
      304: { description: 'It is still what If-None-Match names.', headers: headers(['ETag', ...ALWAYS]) },
      ...errorReferences(SERVICE_ERRORS.open),
    },
  }
}

function collection(resources: readonly Resource[]): Schema {
  const schema = { type: 'string', enum: resources.map(({ path }) => path) }
  return { name: 'collection', in: 'path', required: true, description: 'Name of a collection.', schema }
}

function code(): Schema {
  const schema = { type: 'string', pattern: '^[A-Z_]+$' }
  return { name: 'code', in: 'path', required: true, description: 'A code of an error or a detail.', schema }
}
