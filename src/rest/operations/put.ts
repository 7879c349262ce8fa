import { toGraphNames } from '../../graph/names.ts'
import { requestHeader, WRITE_HEADERS } from '../../http/headers.ts'
import { noun } from '../../model/definition/labels.ts'
import { inspectResource } from '../../model/validate.ts'
import { CONDITION } from '../graphql-operations.ts'
import type { OperationResponse } from '../operation.ts'
import { MEDIA_TYPES } from '../respond.ts'
import { conditionOf, inspectedAt, respondToChange, type WriteOperation } from './write.ts'

/** The response to a change that prefers one with a body. */
export const REPRESENTATION: OperationResponse = {
  description: 'The resource, on request (`return=representation`).',
  headers: ['Content-Location', ...WRITE_HEADERS],
  body: 'read',
}

export const put: WriteOperation = {
  method: 'PUT',
  at: 'resource',
  requires: 'replaceable',
  action: 'write',
  id: 'put',
  summary: 'Create or replace',
  description: ({ listed }) =>
    listed
      ? 'Replaces the resource. Fields that the body omits are cleared. If the resource does not exist, it is created, ' +
        'provided that the body has the id of the path or If-None-Match is `*`.'
      : 'Creates or replaces the resource. Fields that the body omits are cleared.',
  headers: ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatchWrite', 'PreferWrite'],
  body: { content: 'replacement', types: MEDIA_TYPES },
  responses: {
    200: REPRESENTATION,
    201: { description: 'Created.', headers: ['Location', ...WRITE_HEADERS], body: 'put' },
    204: { description: 'Replaced, or already as sent.', headers: WRITE_HEADERS },
  },
  errors: ['CONCURRENT_MODIFICATION', 'PRECONDITION_FAILED'],
  forms: [
    { on: 'resource', key: 'default', title: (resource) => `Replace the ${noun(resource)}`, fields: 'all' },
    { on: 'owner', title: (resource) => `Set the ${noun(resource)}`, fields: 'writable' },
  ],

  mutation: {
    name: 'put',
    selects: 'resource',
    variables: ({ input, readOnlyInput }) => ({
      input: `${input}!`,
      readOnly: readOnlyInput,
      ...CONDITION,
      mayCreate: 'Boolean!',
    }),
  },
  read(request, parts) {
    const { values, readOnly, hasId } = inspectedAt(request, inspectResource, parts)
    const condition = conditionOf(request)
    const isForCreation = parts.resource.kind === 'singleton' || hasId || condition.unlessExists === true
    return {
      input: toGraphNames(parts.resource, values),
      readOnly,
      ...condition,
      mayCreate: isForCreation && requestHeader(request, 'IfMatch') === undefined,
    }
  },
  respond: respondToChange('put'),
}
