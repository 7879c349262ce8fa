import type { ErrorCode } from '../../../domain/model/errors.ts'
import { bodyTypes } from '../../../http/json/body.ts'
import { answer, answerContent, requestBody, STATE_HEADERS } from './contents.ts'
import { errorReferences } from './error-responses.ts'
import type { Schema } from './field-schema.ts'
import { ALWAYS, headers } from './headers.ts'
import { shared } from './parameters.ts'
import type { Described } from './resource-paths.ts'
import { schemaNames } from './resource-schemas.ts'

const CALLER: readonly ErrorCode[] = ['AUTHENTICATION_REQUIRED', 'ACCESS_DENIED', 'NOT_ACCEPTABLE']
const ABSENT: readonly ErrorCode[] = ['RESOURCE_NOT_FOUND', 'RESOURCE_GONE']
const BODY: readonly ErrorCode[] = [
  'MALFORMED_JSON',
  'VALIDATION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]
const REFUSED: readonly ErrorCode[] = [
  'CONCURRENT_MODIFICATION',
  'RESOURCE_ALREADY_EXISTS',
  'BUSINESS_RULE_VIOLATION',
]

/** The errors that each operation on one resource can answer with. */
export const ITEM_ERRORS = {
  read: [...CALLER, ...ABSENT, 'INVALID_QUERY_PARAMETER'],
  put: [...CALLER, ...BODY, ...ABSENT, ...REFUSED, 'PRECONDITION_FAILED'],
  patch: [...CALLER, ...BODY, ...ABSENT, ...REFUSED],
  remove: [...CALLER, ...ABSENT, 'CONCURRENT_MODIFICATION', 'DEPENDENCY_CONFLICT'],
} satisfies Record<string, ErrorCode[]>

/** Reading one resource, conditionally (SPEC §4.2). */
export function readOperation({ resource, examples }: Described): Schema {
  const { read } = schemaNames(resource)
  return {
    ...heading('read', 'Read', { resource }, `Needs the scope \`${resource.path}:read\`.`),
    parameters: [shared('IfNoneMatchRead')],
    responses: {
      200: answer('The resource.', STATE_HEADERS, answerContent(read, read, examples.representation('read'))),
      304: answer('It is still what If-None-Match names.', STATE_HEADERS),
      ...errorReferences(ITEM_ERRORS.read),
    },
  }
}

/** Creation with a chosen identifier, and replacement (SPEC §4.4, §4.5). */
export function putOperation({ resource, examples }: Described): Schema {
  const { put, input } = schemaNames(resource)
  const isSingleton = resource.kind === 'singleton'
  const description = isSingleton
    ? 'Creates or replaces it; what the body leaves out is cleared.'
    : 'Replaces the resource; what the body leaves out is cleared. With the id of the path in the body as ' +
      'well, one that does not exist is created.'
  const body = isSingleton ? examples.input : { id: examples.id, ...examples.input }
  const content = answerContent(put, put, examples.representation('put'))
  return {
    ...heading('put', 'Create or replace', { resource }, `${description} ${scope(resource.path)}`),
    parameters: [shared('IfMatch'), shared('IfNoneMatchWrite')],
    requestBody: requestBody(input, body, bodyTypes('PUT')),
    responses: {
      201: answer('Created.', ['Location', ...STATE_HEADERS], content),
      204: answer('Replaced, or left as it was where nothing differs.', STATE_HEADERS),
      ...errorReferences(ITEM_ERRORS.put),
    },
  }
}

/** A partial update (SPEC §4.6, RFC 7396). */
export function patchOperation({ resource, examples }: Described): Schema {
  const description = 'A JSON Merge Patch: what it names is changed, null removes, the rest stays.'
  return {
    ...heading('patch', 'Change', { resource }, `${description} ${scope(resource.path)}`),
    parameters: [shared('IfMatch')],
    requestBody: requestBody(schemaNames(resource).patch, examples.patch, bodyTypes('PATCH')),
    responses: {
      204: answer('Changed, or left as it was where nothing differs.', STATE_HEADERS),
      ...errorReferences(ITEM_ERRORS.patch),
    },
  }
}

/** Deletion, idempotent unless asked otherwise (SPEC §4.7). */
export function deleteOperation({ resource }: Described): Schema {
  const description = 'Deletes it with all it owns. Where it is not there, it is deleted already.'
  return {
    ...heading('delete', 'Delete', { resource }, `${description} ${scope(resource.path)}`),
    parameters: [shared('IfMatch'), shared('Prefer')],
    responses: {
      204: {
        description: 'Deleted, now or earlier.',
        headers: headers(['Preference-Applied', 'Link', 'Vary', ...ALWAYS]),
      },
      ...errorReferences(ITEM_ERRORS.remove),
    },
  }
}

function heading(
  verb: string,
  action: string,
  { resource: { name, path } }: Pick<Described, 'resource'>,
  description: string,
): Schema {
  return { operationId: `${verb}${name}`, summary: `${action} one of the ${path}`, description, tags: [path] }
}

function scope(path: string): string {
  return `Needs the scope \`${path}:write\`.`
}
