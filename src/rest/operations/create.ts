import { toGraphNames } from '../../graph/names.ts'
import { WRITE_HEADERS } from '../../http/headers.ts'
import { nounWithArticle } from '../../model/definition/labels.ts'
import { refuseInvalid } from '../../model/errors.ts'
import { inspectResource } from '../../model/validate.ts'
import { idempotencyKeyOf } from '../conditional.ts'
import { MEDIA_TYPES } from '../respond.ts'
import { inspected, respondToChange, type WriteOperation } from './write.ts'

export const create: WriteOperation = {
  method: 'POST',
  at: 'collection',
  requires: 'listed',
  action: 'write',
  id: 'create',
  summary: 'Create',
  description: 'The service generates the identifier.',
  headers: ['IdempotencyKey', 'PreferWrite'],
  body: { content: 'input', types: MEDIA_TYPES },
  responses: {
    201: {
      description: 'Created.',
      headers: ['Location', ...WRITE_HEADERS],
      body: 'created',
      links: { read: 'Read the new resource.', delete: 'Delete the new resource.' },
    },
  },
  forms: [
    {
      on: 'list',
      key: 'default',
      title: (resource) => `Create ${nounWithArticle(resource)}`,
      fields: 'writable',
    },
  ],

  mutation: {
    name: 'create',
    selects: 'resource',
    variables: ({ input }) => ({ input: `${input}!`, idempotencyKey: 'String', otherThan: 'ID' }),
  },
  read(request, parts) {
    const { values, details, readOnly } = inspected(request, inspectResource, parts)
    refuseInvalid(details)
    const { id: otherThan } = readOnly
    return {
      input: toGraphNames(parts.resource, values),
      idempotencyKey: idempotencyKeyOf(request),
      otherThan: typeof otherThan === 'string' ? otherThan : undefined,
    }
  },
  respond: respondToChange('created'),
}
