import { WRITE_HEADERS } from '../../http/headers/response-headers.ts'
import { JSON_TYPES } from '../../http/json.ts'
import { nounWithArticle } from '../../model/labels.ts'
import type { ResourceOperation } from './operation.ts'

export const create: ResourceOperation = {
  method: 'POST',
  at: 'collection',
  requires: 'listed',
  action: 'write',
  id: 'create',
  summary: 'Create',
  description: 'The service generates the identifier.',
  headers: ['IdempotencyKey', 'PreferWrite'],
  body: { content: 'input', types: JSON_TYPES },
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
}
