import { withoutNullLinks } from '../../respond.ts'
import type { Schema } from './field-schema.ts'
import { ALWAYS, headers } from './headers.ts'
import { SCHEMAS } from './resource-schemas.ts'

/** A body in both media types that the service answers in, with one example for both. */
export function answerContent(json: string, hal: string, example: unknown): Schema {
  return {
    'application/json': { schema: { $ref: SCHEMAS + json }, example },
    'application/hal+json': { schema: { $ref: SCHEMAS + hal }, example: withoutNullLinks(example as object) },
  }
}

/** A body that a request must have, in these media types. */
export function requestBody(schema: string, example: unknown, types: readonly string[]): Schema {
  const media = { schema: { $ref: SCHEMAS + schema }, example }
  return { required: true, content: Object.fromEntries(types.map((type) => [type, media])) }
}

/** The headers of a response that shows, or tells of, the state of one resource. */
export const STATE_HEADERS = ['ETag', 'Last-Modified']

/** An answer of a resource, with the headers that every one of them has. */
export function answer(description: string, more: readonly string[], content?: Schema): Schema {
  return {
    description,
    headers: headers([...more, 'Link', 'Vary', ...ALWAYS]),
    ...(content && { content }),
  }
}
