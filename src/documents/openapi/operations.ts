import { pascalCase } from '../../graph/names.ts'
import type { ErrorCode } from '../../model/errors.ts'
import { inWords, nounWithArticle } from '../../model/labels.ts'
import { identifierField, type Resource } from '../../model/resource.ts'
import { OPERATION_METHODS, type OperationName, resourcePaths } from '../../rest/routes.ts'
import { VERSIONS_PATH } from '../../rest/urls.ts'
import type { ResourceExamples } from './examples.ts'
import type { Schema, Schemas } from './field-schema.ts'
import { identifierParameter, listParameters, selectionParameters, shared } from './parameters.ts'
import { pageName } from './resource-schemas.ts'
import {
  ABSENT,
  CALLER,
  errorReferences,
  halContent,
  ITEM_CONTENT,
  requestBody,
  response,
  STATE_HEADERS,
  WRITE_HEADERS,
} from './responses.ts'

type Operation = Schema & { readonly responses: Schema; readonly errors: readonly ErrorCode[] }

const BODY: readonly ErrorCode[] = [
  'MALFORMED_JSON',
  'VALIDATION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RESOURCE_ALREADY_EXISTS',
  'BUSINESS_RULE_VIOLATION',
]

const CONDITIONS = shared('IfMatch', 'IfUnmodifiedSince')

const NAMES: Readonly<Record<OperationName, readonly [verb: string, action: string]>> = {
  list: ['list', 'List'],
  read: ['read', 'Read'],
  create: ['create', 'Create'],
  put: ['put', 'Create or replace'],
  patch: ['patch', 'Update'],
  remove: ['delete', 'Delete'],
}

function operationsOf(
  resource: Resource,
  resources: readonly Resource[],
  examples: ResourceExamples,
  parent: Resource | undefined,
): Readonly<Record<OperationName, () => Operation>> {
  const { name, path, kind } = resource
  const isSingleton = kind === 'singleton'
  const content = halContent(name, examples.representation('read'), examples.templates)
  const created = (occasion: 'created' | 'put') => {
    const written = halContent(`${name}Created`, examples.representation(occasion))
    return response('Created.', ['Location', ...WRITE_HEADERS], written)
  }
  const preferred = response(
    'The resource, on request (`return=representation`).',
    ['Content-Location', ...WRITE_HEADERS],
    content,
  )
  return {
    list: () => ({
      parameters: listParameters(resource, resources),
      responses: {
        200: {
          ...response('A page, which may be empty.', ['ETag', 'Preference-Applied', 'X-Total-Count'], {
            ...halContent(pageName(resource, parent), examples.page(parent), examples.listTemplates(parent)),
            ...ITEM_CONTENT,
          }),
          links: { read: itemLink(resource, 'read', 'Read an item.', `/_embedded/${path}/0/id`) },
        },
        304: response('Not modified.', ['ETag', 'Preference-Applied']),
      },
      errors: parent ? ABSENT : [],
    }),

    read: () => ({
      parameters: [
        ...selectionParameters(resource, resources),
        ...shared('IfNoneMatchRead', 'IfModifiedSince', 'ConsistencyToken'),
      ],
      responses: {
        200: response('The resource.', STATE_HEADERS, content),
        304: response('Not modified.', STATE_HEADERS),
      },
      errors: ABSENT,
    }),

    create: () => ({
      description: 'The service generates the identifier.',
      parameters: shared('IdempotencyKey', 'PreferWrite'),
      requestBody: requestBody('POST', `${name}Input`, examples.input),
      responses: {
        201: {
          ...created('created'),
          links: {
            read: itemLink(resource, 'read', 'Read the new resource.', '/id'),
            delete: itemLink(resource, 'delete', 'Delete the new resource.', '/id'),
          },
        },
      },
      errors: [...BODY, ...(parent ? ABSENT : [])],
    }),

    put: () => ({
      description: isSingleton
        ? 'Creates or replaces the resource. Fields that the body omits are cleared.'
        : 'Replaces the resource. Fields that the body omits are cleared. If the resource does not exist, it is ' +
          'created, provided that the body has the id of the path or If-None-Match is `*`.',
      parameters: [...CONDITIONS, ...shared('IfNoneMatchWrite', 'PreferWrite')],
      requestBody: requestBody('PUT', `${name}Input`, {
        ...(!isSingleton && { id: examples.id }),
        ...examples.replacement,
      }),
      responses: {
        200: preferred,
        201: created('put'),
        204: response('Replaced, or already as sent.', WRITE_HEADERS),
      },
      errors: [...BODY, ...ABSENT, 'CONCURRENT_MODIFICATION', 'PRECONDITION_FAILED'],
    }),

    patch: () => ({
      description: 'Applies a JSON Merge Patch. Null removes a field; omitted fields keep their values.',
      parameters: [...CONDITIONS, ...shared('PreferWrite')],
      requestBody: requestBody('PATCH', `${name}Patch`, examples.patch),
      responses: {
        200: preferred,
        204: response('Changed, or already as sent.', WRITE_HEADERS),
      },
      errors: [...BODY, ...ABSENT, 'CONCURRENT_MODIFICATION'],
    }),

    remove: () => ({
      description: 'Deletes the resource and all resources it owns. Succeeds if the resource does not exist.',
      parameters: [...CONDITIONS, ...shared('PreferDelete')],
      responses: { 204: response('Deleted, now or earlier.', ['Preference-Applied', 'Consistency-Token']) },
      errors: [...ABSENT, 'CONCURRENT_MODIFICATION', 'DEPENDENCY_CONFLICT'],
    }),
  }
}

/** The paths of a resource and its versions (SPEC §4), below the base path. */
export function resourcePathItems(
  resource: Resource,
  resources: readonly Resource[],
  examples: ResourceExamples,
  base: string,
): Schemas {
  const items = resourcePaths(resource, resources).flatMap(({ path, parent, operations, column }) => {
    const parentId = parent && identifierField(parent)
    const address = base + path.replace(':parentId', `{${parentId}}`).replace(':id', '{id}')
    const parameters = [
      ...(parent ? [identifierParameter(parentId as string, parent, examples.parentId(parent))] : []),
      ...(path.endsWith(':id') ? [identifierParameter('id', resource, examples.id)] : []),
    ]
    const described = operationsOf(resource, resources, examples, parent)
    const within = parent ? ` of ${nounWithArticle(parent)}` : ''
    const list = {
      id: `${column === undefined ? '' : parent?.name}${pascalCase(resource.path)}`,
      noun: `the ${inWords(resource.path).toLowerCase()}${within}`,
    }
    const one = { id: resource.name, noun: nounWithArticle(resource) + (resource.owner ? within : '') }
    const methods = operations.map((name) => {
      const [verb, action] = NAMES[name]
      const { id, noun } = name === 'list' ? list : one
      const permission = OPERATION_METHODS[name] === 'GET' ? 'read' : 'write'
      const operation = { operationId: verb + id, summary: `${action} ${noun}`, ...described[name]() }
      return [OPERATION_METHODS[name].toLowerCase(), completed(resource, permission, operation)]
    })
    return [
      [address, { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(methods) }],
      ...(operations.includes('read') ? versionItems(resource, address, parameters) : []),
    ]
  })
  return Object.fromEntries(items)
}

function versionItems(resource: Resource, address: string, parameters: readonly Schema[]) {
  const item = (path: string, verb: string, summary: string, response: string, more: readonly Schema[]) => {
    const operation = {
      operationId: `${verb}Of${resource.name}`,
      summary: `${summary} of ${nounWithArticle(resource)}`,
      description: 'Also works after the resource is deleted.',
      parameters: [...parameters, ...more],
      responses: { 200: { $ref: `#/components/responses/${response}` } },
      errors: ABSENT,
    }
    return [address + VERSIONS_PATH + path, { get: completed(resource, 'read', operation) }]
  }
  return [
    item('', 'listVersions', 'List the versions', 'versions', shared('limit', 'before')),
    item('/{version}', 'readVersion', 'Read a version', 'version', shared('version')),
  ]
}

/** Adds the scope, and the errors of all operations on resources. */
function completed({ path }: Resource, permission: 'read' | 'write', operation: Operation): Schema {
  const { operationId, summary, description, responses, errors, ...request } = operation
  const scope = `Requires the scope \`${path}:${permission}\`.`
  return {
    operationId,
    summary,
    description: description === undefined ? scope : `${description} ${scope}`,
    tags: [path],
    ...request,
    responses: { ...responses, ...errorReferences([...CALLER, ...errors]) },
  }
}

/** @param place a JSON Pointer to the identifier in the body of the response */
function itemLink({ name, owner }: Resource, verb: string, description: string, place: string): Schema {
  const parent = owner && identifierField(owner)
  const parameters = { ...(parent && { [parent]: `$request.path.${parent}` }), id: `$response.body#${place}` }
  return { operationId: `${verb}${name}`, description, parameters }
}
