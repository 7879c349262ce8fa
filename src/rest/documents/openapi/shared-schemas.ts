import type { Resource } from '../../../domain/model/resource.ts'
import { detailExplanations, ERRORS } from '../error-catalogue.ts'
import { objectSchema, type Schema } from './field-schema.ts'
import { SCHEMAS } from './resource-schemas.ts'

const text: Schema = { type: 'string' }
const uri: Schema = { type: 'string', format: 'uri' }

function closed(
  description: string,
  members: Record<string, Schema>,
  optional: readonly string[] = [],
): Schema {
  const required = Object.keys(members).filter((name) => !optional.includes(name))
  return { ...objectSchema(members, required), description }
}

/** The schemas that do not belong to one resource (SPEC §2.2, §2.4). */
export function sharedSchemas(resources: readonly Resource[]): Record<string, Schema> {
  const detailCodes = Object.keys(detailExplanations(resources))
  const errorCode = { type: 'string', enum: Object.keys(ERRORS) }
  const detailCode = { type: 'string', enum: detailCodes }
  return {
    Link: closed('A link to a resource.', { href: uri }),
    TemplatedLink: closed('A link with variables (RFC 6570).', {
      href: { ...text, description: 'A URI template.' },
      templated: { const: true },
    }),
    Entry: closed('The entry document.', {
      _links: {
        type: 'object',
        properties: { self: { $ref: `${SCHEMAS}Link` } },
        required: ['self'],
        additionalProperties: closed('A link with a title.', { href: uri, title: text }, ['title']),
      },
    }),
    ErrorDetail: closed('A problem with one field, parameter or rule.', {
      field: { ...text, description: 'The dotted path of the field; empty if there is none.' },
      code: detailCode,
      message: text,
    }),
    Error: closed('The body of every failed request.', {
      error: closed('The error.', {
        code: errorCode,
        message: text,
        details: { type: 'array', items: { $ref: `${SCHEMAS}ErrorDetail` } },
      }),
    }),
    ErrorCatalogueEntry: closed(
      'What a code means.',
      {
        code: { type: 'string', enum: [...Object.keys(ERRORS), ...detailCodes] },
        kind: { type: 'string', enum: ['error', 'detail'] },
        status: { type: 'integer', description: 'The status of an error; a detail has none.' },
        cause: text,
        remedy: text,
        href: uri,
      },
      ['status'],
    ),
    ErrorCatalogue: closed('All codes.', {
      errors: { type: 'array', items: { $ref: `${SCHEMAS}ErrorCatalogueEntry` } },
    }),
    Profile: {
      type: 'object',
      description: 'The schemas and the policies of a collection.',
      required: ['title', 'description', 'schema', 'input', 'policies'],
      properties: {
        title: text,
        description: text,
        schema: { type: 'object', description: 'The JSON Schema of a representation.' },
        input: { type: 'object', description: 'The JSON Schema of what is sent.' },
        policies: {
          type: 'object',
          description: 'How the service treats the collection where clients cannot know.',
        },
      },
    },
  }
}
