import { WRITE_HEADERS } from '../../http/headers/response-headers.ts'
import { JSON_TYPES, MERGE_PATCH } from '../../http/json.ts'
import { noun } from '../../model/labels.ts'
import type { ResourceOperation } from './operation.ts'
import { REPRESENTATION } from './put.ts'

export const patch: ResourceOperation = {
  method: 'PATCH',
  at: 'resource',
  requires: 'replaceable',
  action: 'write',
  id: 'patch',
  summary: 'Update',
  description: 'Applies a JSON Merge Patch. Null removes a field; omitted fields keep their values.',
  headers: ['IfMatch', 'IfUnmodifiedSince', 'PreferWrite'],
  body: { content: 'patch', types: [...JSON_TYPES, MERGE_PATCH] },
  responses: {
    200: REPRESENTATION,
    204: { description: 'Changed, or already as sent.', headers: WRITE_HEADERS },
  },
  errors: ['CONCURRENT_MODIFICATION'],
  forms: [
    {
      on: 'resource',
      key: 'patch',
      title: (resource) => `Update the ${noun(resource)}`,
      fields: 'optional',
      contentType: MERGE_PATCH,
    },
  ],
}
