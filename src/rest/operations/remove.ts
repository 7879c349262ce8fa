import { noun } from '../../model/definition/labels.ts'
import { CONDITION } from '../graphql-operations.ts'
import { conditionOf, type WriteOperation, type WriteRequest } from './write.ts'

export const remove: WriteOperation = {
  method: 'DELETE',
  at: 'resource',
  action: 'write',
  id: 'delete',
  summary: 'Delete',
  description: 'Deletes the resource and all resources it owns. Succeeds if the resource does not exist.',
  headers: ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatchWrite', 'PreferDelete'],
  responses: {
    204: {
      description: 'Deleted, now or earlier.',
      headers: ['Preference-Applied', 'Consistency-Token'],
    },
  },
  errors: [
    'CONCURRENT_MODIFICATION',
    'PRECONDITION_FAILED',
    'DEPENDENCY_CONFLICT',
    'BUSINESS_RULE_VIOLATION',
  ],
  forms: [
    { on: 'resource', key: 'delete', title: (resource) => `Delete the ${noun(resource)}`, fields: 'none' },
  ],

  mutation: { name: 'delete', selects: 'outcome', variables: () => ({ ...CONDITION, strict: 'Boolean!' }) },
  read(request) {
    return { ...conditionOf(request), strict: isStrict(request) }
  },
  respond: (_, request) => ({
    status: 204,
    headers: isStrict(request) ? { 'Preference-Applied': STRICT } : {},
  }),
  applied: (request) => (isStrict(request) ? STRICT : undefined),
}

const STRICT = 'handling=strict'

function isStrict({ preferences }: WriteRequest): boolean {
  return preferences.handling === 'strict'
}
