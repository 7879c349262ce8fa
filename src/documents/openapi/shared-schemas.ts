import type { Resource } from '../../model/resource.ts'
import { detailExplanations, ERRORS } from '../error-catalogue.ts'
import { BATCH_SCHEMAS } from './batch.ts'
import { CHANGE_SCHEMAS } from './changes.ts'
import { objectSchema, type Schema } from './field-schema.ts'
import { SCHEMAS } from './resource-schemas.ts'
import { VERSION_SCHEMAS } from './versions.ts'

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

const PROPERTY: Record<string, Schema> = {
  name: text,
  prompt: text,
  type: { type: 'string', enum: ['text', 'textarea', 'number', 'date', 'email', 'url'] },
  format: {
    enum: ['date-time', 'object', 'json'],
    description: 'What the text represents; objects and other values are JSON.',
  },
  required: { const: true },
  readOnly: { const: true },
  value: { description: 'The current or initial value.' },
  min: { type: 'number' },
  max: { type: 'number' },
  step: { type: 'number' },
  maxLength: { type: 'integer' },
  regex: text,
  placeholder: text,
  options: closed(
    'The values to choose from: `inline`, or the items of the list that `link` leads to.',
    {
      inline: {
        type: 'array',
        items: { oneOf: [text, closed('A value with a label.', { prompt: text, value: {} })] },
      },
      link: closed('A list.', { href: uri, type: text }),
      promptField: text,
      valueField: text,
      selectedValues: { type: 'array', items: {} },
      minItems: { type: 'integer' },
      maxItems: { type: 'integer' },
    },
    ['inline', 'link', 'promptField', 'valueField', 'selectedValues'],
  ),
}

const PROPERTY_OPTIONAL = Object.keys(PROPERTY).filter((name) => name !== 'name' && name !== 'prompt')

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
    Templates: {
      type: 'object',
      description: 'HAL-FORMS templates: the requests that the scopes of the token permit.',
      additionalProperties: { $ref: `${SCHEMAS}Template` },
    },
    Template: closed(
      'A request and its body. A dot in the name of a property leads into an object.',
      {
        title: text,
        method: { type: 'string', enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
        target: uri,
        contentType: text,
        properties: { type: 'array', items: { $ref: `${SCHEMAS}TemplateProperty` } },
      },
      ['contentType'],
    ),
    TemplateProperty: closed('A member of the body.', PROPERTY, PROPERTY_OPTIONAL),
    ErrorDetail: closed('A problem with one field, parameter or rule.', {
      field: { ...text, description: 'The dotted path of the field; empty if there is none.' },
      code: detailCode,
      message: text,
    }),
    ErrorEnvelope: closed('The body of every failed request.', {
      error: closed('The error.', {
        code: errorCode,
        message: text,
        details: { type: 'array', items: { $ref: `${SCHEMAS}ErrorDetail` } },
      }),
    }),
    Problem: closed('The body of a failed request whose Accept names application/problem+json (RFC 9457).', {
      type: { type: 'string', format: 'uri-reference', description: 'The page of the error code.' },
      title: { ...text, description: 'The error code in words.' },
      status: { type: 'integer' },
      detail: text,
      instance: { type: 'string', format: 'uri-reference', description: 'The id of the request.' },
      errors: { type: 'array', items: { $ref: `${SCHEMAS}ErrorDetail` } },
    }),
    ErrorCatalogueEntry: closed(
      'What a code means.',
      {
        code: { type: 'string', enum: [...Object.keys(ERRORS), ...detailCodes] },
        kind: { type: 'string', enum: ['error', 'detail'] },
        status: { type: 'integer', description: 'The status of an error; a detail has none.' },
        cause: text,
        remedy: text,
        retry: { ...text, description: 'Whether and when the same request can be sent again.' },
        request: { ...text, description: 'A request with this error.' },
        response: { ...text, description: 'The response to it.' },
        href: uri,
      },
      ['status', 'retry', 'request'],
    ),
    ErrorCatalogue: closed('All codes.', {
      errors: { type: 'array', items: { $ref: `${SCHEMAS}ErrorCatalogueEntry` } },
    }),
    ...BATCH_SCHEMAS,
    ...CHANGE_SCHEMAS,
    ...VERSION_SCHEMAS,
    Profile: {
      type: 'object',
      description: 'The schemas and the policies of a collection.',
      required: ['title', 'description', 'schema', 'input', 'policies'],
      properties: {
        title: text,
        description: text,
        schema: { type: 'object', description: 'The JSON Schema of a representation.' },
        input: { type: 'object', description: 'The JSON Schema of request bodies.' },
        policies: {
          type: 'object',
          description: 'How the service behaves where HTTP leaves a choice.',
        },
      },
    },
  }
}
