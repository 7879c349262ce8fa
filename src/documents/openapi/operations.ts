import { pascalCase } from '../../graph/names.ts'
import { bodyTypes } from '../../http/json/body.ts'
import type { ErrorCode } from '../../model/errors.ts'
import { inWords, nounWithArticle } from '../../model/labels.ts'
import { identifierField, type Resource } from '../../model/resource.ts'
import { OPERATION_METHODS, type OperationName, resourcePaths } from '../../rest/resource-paths.ts'
import type { ResourceExamples } from './examples.ts'
import type { Schema } from './field-schema.ts'
import { identifierParameter, listParameters, selectionParameters, shared } from './parameters.ts'
import { pageName } from './resource-schemas.ts'
import {
  errorReferences,
  halContent,
  ITEM_CONTENT,
  requestBody,
  response,
  STATE_HEADERS,
  WRITE_HEADERS,
} from './responses.ts'
import { versionPathItems } from './versions.ts'

interface Described {
  readonly resource: Resource
  readonly resources: readonly Resource[]
  readonly examples: ResourceExamples
  readonly parent: Resource | undefined
}

interface Operation {
  /** Precedes the sentence on the scope. */
  readonly description?: string
  readonly parameters?: readonly Schema[]
  readonly requestBody?: Schema
  readonly responses: Schema
  readonly errors: readonly ErrorCode[]
}

const CALLER: readonly ErrorCode[] = ['AUTHENTICATION_REQUIRED', 'ACCESS_DENIED', 'NOT_ACCEPTABLE']
const ABSENT: readonly ErrorCode[] = ['RESOURCE_NOT_FOUND', 'RESOURCE_GONE']
const BODY: readonly ErrorCode[] = [
  'MALFORMED_JSON',
  'VALIDATION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RESOURCE_ALREADY_EXISTS',
  'BUSINESS_RULE_VIOLATION',
]

const CONDITIONS = [shared('IfMatch'), shared('IfUnmodifiedSince')]

const NAMES: Readonly<Record<OperationName, readonly [verb: string, action: string]>> = {
  list: ['list', 'List'],
  read: ['read', 'Read'],
  create: ['create', 'Create'],
  put: ['put', 'Create or replace'],
  patch: ['patch', 'Update'],
  remove: ['delete', 'Delete'],
}

const OPERATIONS: Readonly<Record<OperationName, (described: Described) => Operation>> = {
  list({ resource, resources, parent, examples }) {
    const id = `$response.body#/_embedded/${resource.path}/0/id`
    return {
      parameters: listParameters(resource, resources),
      responses: {
        200: {
          ...response('A page, which may be empty.', ['ETag', 'Preference-Applied', 'X-Total-Count'], {
            ...halContent(pageName(resource, parent), examples.page(parent), examples.listTemplates(parent)),
            ...ITEM_CONTENT,
          }),
          links: { read: itemLink(resource, 'read', 'Read an item.', id) },
        },
        304: response('Not modified.', ['ETag', 'Preference-Applied']),
      },
      errors: parent ? ABSENT : [],
    }
  },

  read({ resource, resources, examples }) {
    const content = halContent(resource.name, examples.representation('read'), examples.templates)
    return {
      parameters: [
        ...selectionParameters(resource, resources),
        shared('IfNoneMatchRead'),
        shared('IfModifiedSince'),
        shared('ConsistencyToken'),
      ],
      responses: {
        200: response('The resource.', STATE_HEADERS, content),
        304: response('Not modified.', STATE_HEADERS),
      },
      errors: ABSENT,
    }
  },

  create({ resource, parent, examples }) {
    const content = halContent(`${resource.name}Created`, examples.representation('created'))
    const link = (verb: string, action: string) =>
      itemLink(resource, verb, `${action} the new resource.`, '$response.body#/id')
    return {
      description: 'The service generates the identifier.',
      parameters: [shared('IdempotencyKey'), shared('PreferWrite')],
      requestBody: requestBody(`${resource.name}Input`, examples.input, bodyTypes('POST')),
      responses: {
        201: {
          ...response('Created.', ['Location', ...WRITE_HEADERS], content),
          links: { read: link('read', 'Read'), delete: link('delete', 'Delete') },
        },
      },
      errors: [...BODY, ...(parent ? ABSENT : [])],
    }
  },

  put({ resource, examples }) {
    const isSingleton = resource.kind === 'singleton'
    const body = isSingleton ? examples.replacement : { id: examples.id, ...examples.replacement }
    const content = halContent(`${resource.name}Created`, examples.representation('put'))
    return {
      description: isSingleton
        ? 'Creates or replaces it. Fields that the body omits are cleared.'
        : 'Replaces the resource. Fields that the body omits are cleared. If the resource does not exist, it is ' +
          'created, provided that the body has the id of the path or If-None-Match is `*`.',
      parameters: [...CONDITIONS, shared('IfNoneMatchWrite'), shared('PreferWrite')],
      requestBody: requestBody(`${resource.name}Input`, body, bodyTypes('PUT')),
      responses: {
        200: writtenResponse(resource, examples),
        201: response('Created.', ['Location', ...WRITE_HEADERS], content),
        204: response('Replaced, or unchanged if already as sent.', WRITE_HEADERS),
      },
      errors: [...BODY, ...ABSENT, 'CONCURRENT_MODIFICATION', 'PRECONDITION_FAILED'],
    }
  },

  patch({ resource, examples }) {
    return {
      description: 'Applies a JSON Merge Patch: null removes a field; omitted fields keep their values.',
      parameters: [...CONDITIONS, shared('PreferWrite')],
      requestBody: requestBody(`${resource.name}Patch`, examples.patch, bodyTypes('PATCH')),
      responses: {
        200: writtenResponse(resource, examples),
        204: response('Changed, or unchanged if already as sent.', WRITE_HEADERS),
      },
      errors: [...BODY, ...ABSENT, 'CONCURRENT_MODIFICATION'],
    }
  },

  remove() {
    return {
      description: 'Deletes the resource and all resources it owns. Succeeds if the resource does not exist.',
      parameters: [...CONDITIONS, shared('PreferDelete')],
      responses: { 204: response('Deleted, now or earlier.', ['Preference-Applied', 'Consistency-Token']) },
      errors: [...ABSENT, 'CONCURRENT_MODIFICATION', 'DEPENDENCY_CONFLICT'],
    }
  },
}

/** The response to a write of an existing resource whose caller prefers a representation. */
function writtenResponse(resource: Resource, examples: ResourceExamples): Schema {
  const content = halContent(resource.name, examples.representation('read'), examples.templates)
  const headers = ['Content-Location', ...WRITE_HEADERS]
  return response('The resource, as preferred (`return=representation`).', headers, content)
}

/** The paths of a resource (SPEC §4), below the base path. */
export function resourcePathItems(
  resource: Resource,
  resources: readonly Resource[],
  examples: ResourceExamples,
  base: string,
): Record<string, Schema> {
  const items = resourcePaths(resource, resources).flatMap(({ path, parent, operations, column }) => {
    const plural = `${column === undefined ? '' : parent?.name}${pascalCase(resource.path)}`
    const parameters = [
      ...(parent ? [identifierParameter(identifierField(parent), parent, examples.parentId(parent))] : []),
      ...(path.endsWith(':id') ? [identifierParameter('id', resource, examples.id)] : []),
    ]
    const methods = operations.map((name) => [
      OPERATION_METHODS[name].toLowerCase(),
      operationObject(name, { resource, resources, examples, parent }, plural),
    ])
    const template = path.replace(':parentId', parent ? `{${identifierField(parent)}}` : '')
    const address = base + template.replace(':id', '{id}')
    const versions = operations.includes('read') ? versionPathItems(resource, address, parameters) : {}
    return [
      [address, { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(methods) }],
      ...Object.entries(versions),
    ]
  })
  return Object.fromEntries(items)
}

function operationObject(name: OperationName, described: Described, plural: string): Schema {
  const { description, responses, errors, ...request } = OPERATIONS[name](described)
  const { resource, parent } = described
  const [verb, action] = NAMES[name]
  const within = parent ? ` of ${nounWithArticle(parent)}` : ''
  const one = `${action} ${nounWithArticle(resource)}`
  const scope = `Requires the scope \`${resource.path}:${OPERATION_METHODS[name] === 'GET' ? 'read' : 'write'}\`.`
  return {
    operationId: verb + (name === 'list' ? plural : resource.name),
    summary:
      name === 'list'
        ? `${action} the ${inWords(resource.path).toLowerCase()}${within}`
        : one + (resource.owner ? within : ''),
    description: description === undefined ? scope : `${description} ${scope}`,
    tags: [resource.path],
    ...request,
    responses: { ...responses, ...errorReferences([...CALLER, ...errors]) },
  }
}

/** A link to an operation on one item, whose identifier is in the response. */
function itemLink({ name, owner }: Resource, verb: string, description: string, id: string): Schema {
  const parent = owner && identifierField(owner)
  const parameters = { ...(parent && { [parent]: `$request.path.${parent}` }), id }
  return { operationId: `${verb}${name}`, description, parameters }
}
