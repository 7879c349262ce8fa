import { bodyTypes } from '../../http/json/body.ts'
import { STATUS } from '../../model/errors.ts'
import type { Resource } from '../../model/resource.ts'
import { MAXIMUM_OPERATIONS, OPERATION_HEADERS } from '../../rest/batch.ts'
import { MEDIA_TYPES } from '../../rest/respond.ts'
import { objectSchema, type Schema } from './field-schema.ts'
import { shared } from './parameters.ts'
import { SCHEMAS } from './resource-schemas.ts'
import { errorReferences, requestBody, response } from './responses.ts'

const text: Schema = { type: 'string' }

/** The schemas of batches: requests and responses inside of JSON. */
export const BATCH_SCHEMAS: Readonly<Record<string, Schema>> = {
  Batch: objectSchema(
    {
      operations: {
        type: 'array',
        minItems: 1,
        maxItems: MAXIMUM_OPERATIONS,
        items: objectSchema(
          {
            method: { enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
            path: {
              ...text,
              pattern: '^/[^?#]*$',
              description: 'Below the entry document: `/collection/id`.',
            },
            headers: {
              type: 'object',
              description: `In any case: ${OPERATION_HEADERS.join(', ')}.`,
              additionalProperties: text,
            },
            body: { description: 'As the request alone would have.' },
          },
          ['method', 'path'],
        ),
      },
    },
    ['operations'],
  ),
  BatchResults: objectSchema(
    {
      results: {
        type: 'array',
        items: objectSchema(
          {
            status: { enum: [200, 201, 204] },
            headers: { type: 'object', additionalProperties: text },
            body: { type: 'object' },
          },
          ['status', 'headers'],
        ),
      },
    },
    ['results'],
  ),
}

export function batchOperation([resource]: readonly Resource[], base: string): Schema {
  const path = `/${resource?.path ?? 'collection'}/x`
  const example = { operations: [{ method: 'DELETE', path, headers: { 'If-Match': '"x:1"' } }] }
  const results = {
    schema: { $ref: `${SCHEMAS}BatchResults` },
    example: { results: [{ status: 204, headers: {} }] },
  }
  const { METHOD_NOT_ALLOWED: _, ...codes } = STATUS
  return {
    operationId: 'runBatch',
    summary: 'Write several resources in one transaction',
    description:
      `Runs the operations in order: all are written or none. \`path\` is below ${base}. If one fails, the response is ` +
      'the error of that operation, and the fields of its details begin with its place: `operations[3].name`. Each ' +
      'operation requires the write scope of its collection.',
    tags: ['service'],
    parameters: [shared('IdempotencyKey'), shared('PreferWrite')],
    requestBody: requestBody('Batch', example, bodyTypes('POST')),
    responses: {
      200: response(
        'The responses to the operations, in order.',
        ['Preference-Applied', 'Consistency-Token'],
        Object.fromEntries(MEDIA_TYPES.map((type) => [type, results])),
      ),
      ...errorReferences(Object.keys(codes) as (keyof typeof codes)[]),
    },
  }
}
