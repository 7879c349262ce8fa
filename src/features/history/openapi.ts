import type { OpenApiPart } from '../../documents/openapi/document.ts'
import {
  INTEGER,
  LINK,
  listOf,
  objectSchema,
  type Schema,
  type Schemas,
  TEXT,
  URI,
} from '../../documents/openapi/field-schema.ts'
import { pathParameter, query } from '../../documents/openapi/parameters.ts'
import { FEED_PATH } from './rest/feed.ts'
import { VERSIONS_PATH } from './rest/versions.ts'

const time: Schema = { type: 'string', format: 'date-time' }
const link = objectSchema({ href: URI })
const event: Schema = { enum: ['created', 'changed', 'deleted'] }

const schemas: Schemas = {
  RecordedChange: objectSchema(
    {
      collection: { ...TEXT, description: 'Path of the collection.' },
      id: { ...TEXT, description: 'Identifier of the resource.' },
      parent_id: { ...TEXT, description: 'Identifier of its parent, if it has one.' },
      version: {
        ...INTEGER,
        description: 'Version of the resource after the change, or before its deletion.',
      },
      event,
      time,
      by: { ...TEXT, description: 'Subject of the token, or role in the database.' },
      resource: { type: 'object', description: 'The resource after the change. Absent after a deletion.' },
      _links: objectSchema({ resource: link }),
    },
    ['collection', 'id', 'version', 'event', 'time', 'by', '_links'],
  ),
  RecordedChanges: objectSchema({
    _links: objectSchema({ self: link, next: link }),
    limit: INTEGER,
    has_more: { type: 'boolean', description: 'Whether `next` already has more changes.' },
    _embedded: objectSchema({ changes: listOf('RecordedChange') }),
  }),
  RecordedVersion: objectSchema(
    {
      version: { ...INTEGER, minimum: 1, description: 'For a deletion, the version that was deleted.' },
      event: { ...event, description: 'Absent if the change is not in the record.' },
      time: { ...time, description: 'When the event happened, or when the resource last changed.' },
      by: { ...TEXT, description: 'Subject of the token, or role in the database. Absent without an event.' },
      resource: { type: 'object', description: 'The resource in this version. Absent for a deletion.' },
      _links: objectSchema({ self: link, resource: LINK }, ['resource']),
    },
    ['version', 'time', '_links'],
  ),
  RecordedVersions: objectSchema({
    _links: objectSchema({ self: link, next: link, resource: LINK }, ['self', 'resource']),
    limit: INTEGER,
    has_more: { type: 'boolean', description: 'Whether older versions are kept.' },
    _embedded: objectSchema({ versions: listOf('RecordedVersion') }),
  }),
}

export const openapi: OpenApiPart = {
  schemas,

  parameters: {
    version: pathParameter('version', 'A version of the resource.', '1', { pattern: '^[1-9][0-9]*$' }),
    before: query('before', 'Only versions below this one.', { ...INTEGER, minimum: 1 }),
  },

  examples(collection, base) {
    const href = `${base}/${collection}/x`
    const link = (path: string) => ({ href: base + path })
    const change = { time: '2031-04-05T06:07:08.900Z', by: 'ada' }
    const version = {
      version: 1,
      event: 'created',
      ...change,
      resource: { id: 'x' },
      _links: { self: { href: `${href}${VERSIONS_PATH}/1` }, resource: { href } },
    }
    const deletion = { collection, id: 'x', version: 2, event: 'deleted', ...change }
    return {
      RecordedChanges: {
        _links: { self: link(`${FEED_PATH}?limit=20`), next: link(`${FEED_PATH}?since=Nw&limit=20`) },
        limit: 20,
        has_more: false,
        _embedded: { changes: [{ ...deletion, _links: { resource: { href } } }] },
      },
      RecordedVersion: version,
      RecordedVersions: {
        _links: { self: { href: `${href}${VERSIONS_PATH}?limit=20` }, resource: { href } },
        limit: 20,
        has_more: false,
        _embedded: { versions: [version] },
      },
    }
  },
}
