import { EVENT_STREAM } from '../../http/content/event-stream.ts'
import type { Resource } from '../../model/resource.ts'
import { MEDIA_TYPES } from '../../rest/respond.ts'
import { objectSchema, type Schema } from './field-schema.ts'
import { query, shared } from './parameters.ts'
import { SCHEMAS } from './resource-schemas.ts'
import { errorReferences, response } from './responses.ts'

const text: Schema = { type: 'string' }
const link: Schema = objectSchema({ href: { ...text, format: 'uri' } }, ['href'])

/** The schemas of the feed of changes. */
export const CHANGE_SCHEMAS: Readonly<Record<string, Schema>> = {
  RecordedChange: objectSchema(
    {
      collection: { ...text, description: 'Path of the collection.' },
      id: { ...text, description: 'Identifier of the resource.' },
      parent_id: { ...text, description: 'Identifier of its parent, if it has one.' },
      version: {
        type: 'integer',
        description: 'Version of the resource after the change, or before its deletion.',
      },
      event: { enum: ['created', 'changed', 'deleted'] },
      time: { ...text, format: 'date-time' },
      by: { ...text, description: 'Subject of the token, or role in the database.' },
      resource: { type: 'object', description: 'The resource after the change. Absent after a deletion.' },
      _links: objectSchema({ resource: link }, ['resource']),
    },
    ['collection', 'id', 'version', 'event', 'time', 'by', '_links'],
  ),
  RecordedChanges: objectSchema(
    {
      _links: objectSchema({ self: link, next: link }, ['self', 'next']),
      limit: { type: 'integer' },
      has_more: { type: 'boolean', description: 'Whether `next` has more changes already.' },
      _embedded: objectSchema({ changes: { type: 'array', items: { $ref: `${SCHEMAS}RecordedChange` } } }, [
        'changes',
      ]),
    },
    ['_links', 'limit', 'has_more', '_embedded'],
  ),
}

export function changesOperation([resource]: readonly Resource[], base: string): Schema {
  const collection = resource?.path ?? 'collection'
  const url = (path: string) => ({ href: `http://127.0.0.1:3000${base}${path}` })
  const example = {
    _links: { self: url('/changes?limit=20'), next: url('/changes?since=Nw&limit=20') },
    limit: 20,
    has_more: false,
    _embedded: {
      changes: [
        {
          collection,
          id: 'x',
          version: 2,
          event: 'deleted',
          time: '2031-04-05T06:07:08.900Z',
          by: 'ada',
          _links: { resource: url(`/${collection}/x`) },
        },
      ],
    },
  }
  const content = { schema: { $ref: `${SCHEMAS}RecordedChanges` }, example }
  return {
    operationId: 'listChanges',
    summary: 'The changes of resources, in the order that all readers see',
    description:
      'Following `next` leads to each change of the collections that the token may read, exactly once. It is always ' +
      'present: at the end, request it again later. A position whose following changes are no longer kept is 410. As text/event-stream, ' +
      'each change is an event with its position.',
    tags: ['service'],
    parameters: [
      query(
        'since',
        'A position of the feed, or `now` for its end. By default, the oldest change that is kept.',
        text,
      ),
      query('collection', 'Only changes of these collections, separated by commas.', text),
      shared('limit'),
      shared('PreferWait'),
      shared('LastEventID'),
    ],
    responses: {
      200: response('Changes.', ['Preference-Applied'], {
        ...Object.fromEntries(MEDIA_TYPES.map((type) => [type, content])),
        [EVENT_STREAM]: { schema: text },
      }),
      ...errorReferences([
        'INVALID_QUERY_PARAMETER',
        'AUTHENTICATION_REQUIRED',
        'ACCESS_DENIED',
        'RESOURCE_NOT_FOUND',
        'METHOD_NOT_ALLOWED',
        'NOT_ACCEPTABLE',
        'RESOURCE_GONE',
        'TOO_MANY_REQUESTS',
        'SERVICE_UNAVAILABLE',
      ]),
    },
  }
}
