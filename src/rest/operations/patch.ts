import { toGraphNames } from '../../graph/names.ts'
import { WRITE_HEADERS } from '../../http/headers.ts'
import { MERGE_PATCH } from '../../http/json.ts'
import { noun } from '../../model/definition/labels.ts'
import { inspectPatch } from '../../model/validate.ts'
import { CONDITION } from '../graphql-operations.ts'
import { MEDIA_TYPES } from '../respond.ts'
import { REPRESENTATION } from './put.ts'
import { conditionOf, inspectedAt, respondToChange, type WriteOperation } from './write.ts'

export const patch: WriteOperation = {
  method: 'PATCH',
  at: 'resource',
  requires: 'replaceable',
  action: 'write',
  id: 'patch',
  summary: 'Update',
  description: 'Applies a JSON Merge Patch. Null removes a field; omitted fields keep their values.',
  headers: ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatchWrite', 'PreferWrite'],
  body: { content: 'patch', types: [...MEDIA_TYPES, MERGE_PATCH] },
  responses: {
    200: REPRESENTATION,
    204: { description: 'Changed, or already as sent.', headers: WRITE_HEADERS },
  },
  errors: ['CONCURRENT_MODIFICATION', 'PRECONDITION_FAILED'],
  forms: [
    {
      on: 'resource',
      key: 'patch',
      title: (resource) => `Update the ${noun(resource)}`,
      fields: 'optional',
      contentType: MERGE_PATCH,
    },
  ],

  mutation: {
    name: 'patch',
    selects: 'resource',
    variables: ({ patchInput, readOnlyInput }) => ({
      patch: `${patchInput}!`,
      readOnly: readOnlyInput,
      ...CONDITION,
    }),
  },
  read(request, parts) {
    const { values, readOnly } = inspectedAt(request, inspectPatch, parts)
    return { patch: toGraphNames(parts.resource, values), readOnly, ...conditionOf(request) }
  },
  respond: respondToChange('put'),
}
