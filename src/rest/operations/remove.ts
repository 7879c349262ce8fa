import { noun } from '../../model/labels.ts'
import type { ResourceOperation } from './operation.ts'

export const remove: ResourceOperation = {
  method: 'DELETE',
  at: 'resource',
  action: 'write',
  id: 'delete',
  summary: 'Delete',
  description: 'Deletes the resource and all resources it owns. Succeeds if the resource does not exist.',
  headers: ['IfMatch', 'IfUnmodifiedSince', 'PreferDelete'],
  responses: {
    204: {
      description: 'Deleted, now or earlier.',
      headers: ['Preference-Applied', 'Consistency-Token'],
    },
  },
  errors: ['CONCURRENT_MODIFICATION', 'DEPENDENCY_CONFLICT', 'BUSINESS_RULE_VIOLATION'],
  forms: [
    { on: 'resource', key: 'delete', title: (resource) => `Delete the ${noun(resource)}`, fields: 'none' },
  ],
}
