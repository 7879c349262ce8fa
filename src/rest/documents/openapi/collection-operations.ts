import type { ErrorCode } from '../../../domain/model/errors.ts'
import { identifierField, type Resource } from '../../../domain/model/resource.ts'
import { bodyTypes } from '../../../http/json/body.ts'
import { answer, answerContent, requestBody, STATE_HEADERS } from './contents.ts'
import { errorReferences } from './error-responses.ts'
import type { Schema } from './field-schema.ts'
import { pageNames } from './page-schemas.ts'
import { listParameters, shared } from './parameters.ts'
import type { Described } from './resource-paths.ts'
import { schemaNames } from './resource-schemas.ts'

const PARENT: readonly ErrorCode[] = ['RESOURCE_NOT_FOUND', 'RESOURCE_GONE']
const CALLER: readonly ErrorCode[] = ['AUTHENTICATION_REQUIRED', 'ACCESS_DENIED', 'NOT_ACCEPTABLE']

/** The errors that each operation on a collection can answer with, for a list with or without a parent. */
export function collectionErrors(parent: Resource | undefined) {
  const within = parent ? PARENT : []
  return {
    list: [...CALLER, 'INVALID_QUERY_PARAMETER', ...within],
    create: [
      ...CALLER,
      'MALFORMED_JSON',
      'VALIDATION_FAILED',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'RESOURCE_ALREADY_EXISTS',
      'BUSINESS_RULE_VIOLATION',
      ...within,
    ],
  } satisfies Record<string, ErrorCode[]>
}

/** The list of a collection, or of the resources of one parent (SPEC §4.1). */
export function listOperation({ resource, parent, plural, examples }: Described): Schema {
  const { json, hal } = pageNames(resource, parent)
  return {
    operationId: `list${plural}`,
    summary: `List ${resource.path}${parent ? ` of one of the ${parent.path}` : ''}`,
    description: `Needs the scope \`${resource.path}:read\`.`,
    tags: [resource.path],
    parameters: listParameters(resource),
    responses: {
      200: {
        ...answer('A page; also when it is empty.', [], answerContent(json, hal, examples.page(parent))),
        links: {
          read: {
            operationId: `read${resource.name}`,
            description: 'Each item can be read at its self link.',
            parameters: itemParameters(resource, `$response.body#/_embedded/${resource.path}/0/id`),
          },
        },
      },
      ...errorReferences(collectionErrors(parent).list),
    },
  }
}

/** Creation with an identifier made by the service (SPEC §4.3). */
export function createOperation({ resource, examples }: Described): Schema {
  const { created, input } = schemaNames(resource)
  const { name } = resource
  const content = answerContent(created, created, examples.representation('created'))
  const parameters = itemParameters(resource, '$response.body#/id')
  const link = (verb: string, description: string) => ({
    operationId: `${verb}${name}`,
    description,
    parameters,
  })
  return {
    operationId: `create${name}`,
    summary: `Create one of the ${resource.path}`,
    description: `The service makes the identifier. Needs the scope \`${resource.path}:write\`.`,
    tags: [resource.path],
    parameters: [shared('IdempotencyKey')],
    requestBody: requestBody(input, examples.input, bodyTypes('POST')),
    responses: {
      201: {
        ...answer('Created.', ['Location', ...STATE_HEADERS], content),
        links: {
          read: link('read', 'Read what was created.'),
          delete: link('delete', 'Delete what was created.'),
        },
      },
      ...errorReferences(collectionErrors(resource.owner).create),
    },
  }
}

/** The path parameters of an item, the identifier taken from an answer. */
function itemParameters({ owner }: Resource, id: string): Schema {
  const parent = owner && identifierField(owner)
  return { ...(parent && { [parent]: `$request.path.${parent}` }), id }
}
