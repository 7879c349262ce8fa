import { ITEM_TYPES } from '../items.ts'
import type { ResourceOperation } from './operation.ts'

export const list: ResourceOperation = {
  method: 'GET',
  at: 'collection',
  requires: 'listed',
  action: 'read',
  id: 'list',
  summary: 'List',
  query: 'list',
  headers: ['PreferRead', 'IfNoneMatchRead', 'ConsistencyToken'],
  types: ITEM_TYPES,
  responses: {
    200: {
      description: 'A page, which may be empty.',
      headers: ['ETag', 'Preference-Applied', 'X-Total-Count'],
      body: 'page',
      links: { read: 'Read an item.' },
    },
    304: { description: 'Not modified.', headers: ['ETag', 'Preference-Applied'] },
  },
}
