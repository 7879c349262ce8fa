import { STATE_HEADERS } from '../../http/headers/response-headers.ts'
import type { ResourceOperation } from './operation.ts'

export const read: ResourceOperation = {
  method: 'GET',
  at: 'resource',
  action: 'read',
  id: 'read',
  summary: 'Read',
  query: 'selection',
  headers: ['IfNoneMatchRead', 'IfModifiedSince', 'ConsistencyToken'],
  responses: {
    200: { description: 'The resource.', headers: STATE_HEADERS, body: 'read' },
    304: { description: 'Not modified.', headers: STATE_HEADERS },
  },
}
