import { EVENT_STREAM } from '../../http/content/event-stream.ts'
import { type ErrorCode, STATUS } from '../../model/errors.ts'
import type { Resource } from '../../model/resource.ts'
import { BATCH_PATH } from '../../rest/batch.ts'
import { CHANGES_PATH } from '../../rest/changes/feed.ts'
import { entryDocument } from '../../rest/routes.ts'
import { API_CATALOG_PATH } from '../../rest/urls.ts'
import { type Schema, type Schemas, schemaNamed } from './field-schema.ts'
import { pathParameter, query, shared } from './parameters.ts'
import {
  ABSENT,
  CALLER,
  EXAMPLE_ORIGIN,
  errorReferences,
  halContent,
  openResponse,
  requestBody,
  response,
} from './responses.ts'

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

export function servicePaths(resources: readonly Resource[], base: string, path: string): Schemas {
  const object = { schema: { type: 'object' } }
  const json = (schema: string) => ({ 'application/json': { schema: schemaNamed(schema) } })
  const html = { 'text/html': { schema: { type: 'string' } } }
  const names = resources.map((resource) => resource.path)
  const [collection = 'collection'] = names
  return {
    [path]: { get: entryOperation(resources, base) },
    [path + BATCH_PATH]: { post: batchOperation(collection, base) },
    [path + CHANGES_PATH]: { get: changesOperation(collection, path) },
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

function entryOperation(resources: readonly Resource[], base: string): Schema {
  const collections = resources.filter(({ owner }) => !owner)
  return {
    operationId: 'readEntry',
    summary: 'The entry document',
    description: 'Links to every collection. Requires a token, with any scope.',
    tags: [TAG],
    responses: {
      200: response('The collections.', [], halContent('Entry', entryDocument(collections, base))),
      ...errorReferences(['AUTHENTICATION_REQUIRED', 'NOT_ACCEPTABLE']),
    },
  }
}

function batchOperation(collection: string, base: string): Schema {
  const operation = { method: 'DELETE', path: `/${collection}/x`, headers: { 'If-Match': '"x:1"' } }
  const results = [{ status: 204, headers: {} }]
  const codes = (Object.keys(STATUS) as ErrorCode[]).filter((code) => code !== 'METHOD_NOT_ALLOWED')
  return {
    operationId: 'runBatch',
    summary: 'Write several resources in one transaction',
    description:
      `Runs the operations in order, all or none. \`path\` is relative to ${base}. If an operation fails, the response ` +
      'is its error, and the fields in the details begin with its position: `operations[3].name`. Each operation ' +
      'requires the write scope of its collection.',
    tags: [TAG],
    parameters: shared('IdempotencyKey', 'PreferWrite'),
    requestBody: requestBody('POST', 'Batch', { operations: [operation] }),
    responses: {
      200: response(
        'The responses to the operations, in order.',
        ['Preference-Applied', 'Consistency-Token'],
        halContent('BatchResults', { results }),
      ),
      ...errorReferences(codes),
    },
  }
}

function changesOperation(collection: string, path: string): Schema {
  const link = (address: string) => ({ href: EXAMPLE_ORIGIN + path + address })
  const change = {
    collection,
    id: 'x',
    version: 2,
    event: 'deleted',
    time: '2031-04-05T06:07:08.900Z',
    by: 'ada',
    _links: { resource: link(`/${collection}/x`) },
  }
  const content = halContent('RecordedChanges', {
    _links: { self: link('/changes?limit=20'), next: link('/changes?since=Nw&limit=20') },
    limit: 20,
    has_more: false,
    _embedded: { changes: [change] },
  })
  const text = { type: 'string' }
  return {
    operationId: 'listChanges',
    summary: 'The changes of resources, in the same order for all readers',
    description:
      'Following `next` returns every change exactly once, for the collections that the token may read. `next` is always ' +
      'present; at the end of the feed, request it again later. A position after which changes are no longer kept is ' +
      '410. In text/event-stream, each change is an event with its position.',
    tags: [TAG],
    parameters: [
      query(
        'since',
        'A position in the feed, or `now` for its end. By default, the oldest change that is kept.',
        text,
      ),
      query('collection', 'Only changes of these collections, separated by commas.', text),
      ...shared('limit', 'PreferWait', 'LastEventID'),
    ],
    responses: {
      200: response('Changes.', ['Preference-Applied', 'Consistency-Token'], {
        ...content,
        [EVENT_STREAM]: { schema: text },
      }),
      ...errorReferences([...CALLER, ...ABSENT, 'METHOD_NOT_ALLOWED']),
    },
  }
}

function open(operationId: string, summary: string, content: Schema): Schema {
  const get = {
    operationId,
    summary,
    description: 'Requires no token. An unknown name gets the same response as any unknown URL.',
    tags: [TAG],
    security: [],
    parameters: shared('IfNoneMatchRead'),
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
  return { get }
}
