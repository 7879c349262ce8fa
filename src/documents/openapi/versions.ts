import { nounWithArticle } from '../../model/labels.ts'
import type { Resource } from '../../model/resource.ts'
import { VERSIONS_PATH } from '../../rest/changes/versions.ts'
import { MEDIA_TYPES } from '../../rest/respond.ts'
import { objectSchema, type Schema } from './field-schema.ts'
import { pathParameter, query, shared } from './parameters.ts'
import { SCHEMAS } from './resource-schemas.ts'
import { errorReferences, response } from './responses.ts'

const text: Schema = { type: 'string' }
const number: Schema = { type: 'integer', minimum: 1 }
const link: Schema = objectSchema({ href: { ...text, format: 'uri' } }, ['href'])

/** The schemas of versions, whatever the resource. */
export const VERSION_SCHEMAS: Readonly<Record<string, Schema>> = {
  RecordedVersion: objectSchema(
    {
      version: { ...number, description: 'Of a deletion, the version that was deleted.' },
      event: {
        enum: ['created', 'changed', 'deleted'],
        description: 'Absent if the change is not in the record.',
      },
      time: {
        ...text,
        format: 'date-time',
        description: 'Of the event, or when the resource had last changed.',
      },
      by: { ...text, description: 'Subject of the token, or role in the database. Absent without an event.' },
      resource: { type: 'object', description: 'The resource in this version. Absent for a deletion.' },
      _links: objectSchema({ self: link, resource: link }, ['resource']),
    },
    ['version', 'time', '_links'],
  ),
  RecordedVersions: objectSchema(
    {
      _links: objectSchema({ self: link, next: link, resource: link }, ['self', 'resource']),
      limit: { type: 'integer' },
      has_more: { type: 'boolean', description: 'Whether older versions are kept.' },
      _embedded: objectSchema({ versions: { type: 'array', items: { $ref: `${SCHEMAS}RecordedVersion` } } }, [
        'versions',
      ]),
    },
    ['_links', 'limit', 'has_more', '_embedded'],
  ),
}

export const VERSION_PARAMETERS: Readonly<Record<string, Schema>> = {
  version: pathParameter('version', 'A version of the resource.', '1', { pattern: '^[1-9][0-9]*$' }),
  before: query('before', 'Only versions below this one.', number),
}

/** The successful responses, which all resources share. */
export function versionResponses([resource]: readonly Resource[], base: string): Record<string, Schema> {
  const href = `http://127.0.0.1:3000${base}/${resource?.path ?? 'collection'}/x`
  const version = {
    version: 1,
    event: 'created',
    time: '2031-04-05T06:07:08.900Z',
    by: 'ada',
    resource: { id: 'x' },
    _links: { self: { href: `${href}${VERSIONS_PATH}/1` }, resource: { href } },
  }
  const versions = {
    _links: { self: { href: `${href}${VERSIONS_PATH}?limit=20` }, resource: { href } },
    limit: 20,
    has_more: false,
    _embedded: { versions: [version] },
  }
  const content = (schema: string, example: object) =>
    Object.fromEntries(MEDIA_TYPES.map((type) => [type, { schema: { $ref: SCHEMAS + schema }, example }]))
  return {
    versions: response('Versions, the newest first.', [], content('RecordedVersions', versions)),
    version: response('The version.', [], content('RecordedVersion', version)),
  }
}

const ERRORS = errorReferences([
  'AUTHENTICATION_REQUIRED',
  'ACCESS_DENIED',
  'NOT_ACCEPTABLE',
  'RESOURCE_NOT_FOUND',
  'RESOURCE_GONE',
])

/**
 * The versions of a resource.
 *
 * @param address the path of the resource, with these parameters
 */
export function versionPathItems(
  resource: Resource,
  address: string,
  parameters: readonly Schema[],
): Record<string, Schema> {
  const one = nounWithArticle(resource)
  const operation = (verb: string, summary: string, name: string, more: readonly Schema[]) => ({
    operationId: `${verb}Of${resource.name}`,
    summary: `${summary} of ${one}`,
    description: `Also after its deletion. Requires the scope \`${resource.path}:read\`.`,
    tags: [resource.path],
    parameters: [...parameters, ...more],
    responses: { 200: { $ref: `#/components/responses/${name}` }, ...ERRORS },
  })
  const list = operation('listVersions', 'List the versions', 'versions', [shared('limit'), shared('before')])
  const read = operation('readVersion', 'Read a version', 'version', [shared('version')])
  return {
    [address + VERSIONS_PATH]: { get: list },
    [`${address}${VERSIONS_PATH}/{version}`]: { get: read },
  }
}
