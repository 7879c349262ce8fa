import { MAXIMUM_OPERATIONS } from '../../rest/operations/batch.ts'
import { OPERATION_HEADERS } from '../../rest/resource-operations.ts'
import { objectSchema, type Schemas, TEXT } from './field-schema.ts'

export const batchSchemas: Schemas = {
  Batch: objectSchema({
    operations: {
      type: 'array',
      minItems: 1,
      maxItems: MAXIMUM_OPERATIONS,
      items: objectSchema(
        {
          method: { enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
          path: {
            ...TEXT,
            pattern: '^/[^?#]*$',
            description: 'Relative to the entry document: `/collection/id`.',
          },
          headers: {
            type: 'object',
            description: `Any of ${OPERATION_HEADERS.join(', ')}. Case is ignored.`,
            additionalProperties: TEXT,
          },
          body: { description: 'The body that the request would have on its own.' },
        },
        ['method', 'path'],
      ),
    },
  }),
  BatchResults: objectSchema({
    results: {
      type: 'array',
      items: objectSchema(
        {
          status: { enum: [200, 201, 204] },
          headers: { type: 'object', additionalProperties: TEXT },
          body: { type: 'object' },
        },
        ['status', 'headers'],
      ),
    },
  }),
}

export function batchExamples(collection: string): Readonly<Record<string, object>> {
  return {
    Batch: {
      operations: [{ method: 'DELETE', path: `/${collection}/x`, headers: { 'If-Match': '"x:1"' } }],
    },
    BatchResults: { results: [{ status: 204, headers: {} }] },
  }
}
