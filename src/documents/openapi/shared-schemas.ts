import type { Resource } from '../../model/resource.ts'
import { MAXIMUM_OPERATIONS } from '../../rest/batch.ts'
import { OPERATION_HEADERS } from '../../rest/resource-operations.ts'
import { ERRORS, explanationsOf } from '../error-catalogue.ts'
import { objectSchema, type Schema, type Schemas, schemaNamed } from './field-schema.ts'

const text: Schema = { type: 'string' }
const integer: Schema = { type: 'integer' }
const uri: Schema = { type: 'string', format: 'uri' }
const time: Schema = { type: 'string', format: 'date-time' }
const link = objectSchema({ href: uri })
const event: Schema = { enum: ['created', 'changed', 'deleted'] }

const listOf = (name: string): Schema => ({ type: 'array', items: schemaNamed(name) })

/** SPEC §2.2, §2.4. */
export function sharedSchemas(resources: readonly Resource[]): Schemas {
  const errorCodes = Object.keys(ERRORS)
  const codes = Object.keys(explanationsOf(resources))
  const detailCodes = codes.filter((code) => !errorCodes.includes(code))
  return {
    Link: described('A link to a resource.', { href: uri }),
    TemplatedLink: described('A link with variables (RFC 6570).', {
      href: { ...text, description: 'A URI template.' },
      templated: { const: true },
    }),
    Entry: described('The entry document.', {
      _links: {
        type: 'object',
        properties: { self: schemaNamed('Link') },
        required: ['self'],
        additionalProperties: described('A link with a title.', { href: uri, title: text }, ['href']),
      },
    }),
    ...FORMS,
    ErrorDetail: described('A problem with one field, parameter or rule.', {
      field: { ...text, description: 'The dotted path of the field; empty if there is none.' },
      code: { ...text, enum: detailCodes },
      message: text,
    }),
    ErrorEnvelope: described('The body of every failed request.', {
      error: described('The error.', {
        code: { ...text, enum: errorCodes },
        message: text,
        details: listOf('ErrorDetail'),
      }),
    }),
    Problem: described(
      'The body of a failed request whose Accept names application/problem+json (RFC 9457).',
      {
        type: {
          type: 'string',
          format: 'uri-reference',
          description: 'The page that explains the error code.',
        },
        title: { ...text, description: 'The error code in words.' },
        status: integer,
        detail: text,
        instance: { type: 'string', format: 'uri-reference', description: 'The id of the request.' },
        errors: listOf('ErrorDetail'),
      },
    ),
    ErrorCatalogueEntry: described(
      'What a code means.',
      {
        code: { ...text, enum: codes },
        kind: { ...text, enum: ['error', 'detail'] },
        status: { ...integer, description: 'The status of an error; a detail has none.' },
        cause: text,
        remedy: text,
        retry: { ...text, description: 'Whether and when the same request can be sent again.' },
        request: { ...text, description: 'A request with this error.' },
        response: { ...text, description: 'The response to it.' },
        href: uri,
      },
      ['code', 'kind', 'cause', 'remedy', 'response', 'href'],
    ),
    ErrorCatalogue: described('All codes.', { errors: listOf('ErrorCatalogueEntry') }),
    ...BATCH,
    ...HISTORY,
    Profile: {
      type: 'object',
      description: 'The schemas and the policies of a collection.',
      required: ['title', 'description', 'schema', 'input', 'policies'],
      properties: {
        title: text,
        description: text,
        schema: { type: 'object', description: 'The JSON Schema of a representation.' },
        input: { type: 'object', description: 'The JSON Schema of request bodies.' },
        policies: { type: 'object', description: 'How the service behaves where HTTP leaves a choice.' },
      },
    },
  }
}

function described(description: string, members: Schemas, required?: readonly string[]): Schema {
  return { ...objectSchema(members, required), description }
}

const FORMS: Schemas = {
  Templates: {
    type: 'object',
    description: 'HAL-FORMS templates: the requests that the scopes of the token permit.',
    additionalProperties: schemaNamed('Template'),
  },
  Template: described(
    'A request and its body. A dot in the name of a property leads into an object.',
    {
      title: text,
      method: { ...text, enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
      target: uri,
      contentType: text,
      properties: listOf('TemplateProperty'),
    },
    ['title', 'method', 'target', 'properties'],
  ),
  TemplateProperty: described(
    'A member of the body.',
    {
      name: text,
      prompt: text,
      type: { ...text, enum: ['text', 'textarea', 'number', 'date', 'email', 'url'] },
      format: {
        enum: ['date-time', 'object', 'json'],
        description: 'What the text represents. Objects and other values are JSON.',
      },
      required: { const: true },
      readOnly: { const: true },
      value: { description: 'The current or initial value.' },
      min: { type: 'number' },
      max: { type: 'number' },
      step: { type: 'number' },
      maxLength: integer,
      regex: text,
      placeholder: text,
      options: described(
        'The values to choose from: `inline`, or the items of the list that `link` leads to.',
        {
          inline: {
            type: 'array',
            items: { oneOf: [text, described('A value with a label.', { prompt: text, value: {} })] },
          },
          link: described('A list.', { href: uri, type: text }),
          promptField: text,
          valueField: text,
          selectedValues: { type: 'array', items: {} },
          minItems: integer,
          maxItems: integer,
        },
        ['minItems', 'maxItems'],
      ),
    },
    ['name', 'prompt'],
  ),
}

const BATCH: Schemas = {
  Batch: objectSchema({
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
            description: 'Relative to the entry document: `/collection/id`.',
          },
          headers: {
            type: 'object',
            description: `Any of ${OPERATION_HEADERS.join(', ')}. Case is ignored.`,
            additionalProperties: text,
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
          headers: { type: 'object', additionalProperties: text },
          body: { type: 'object' },
        },
        ['status', 'headers'],
      ),
    },
  }),
}

const HISTORY: Schemas = {
  RecordedChange: objectSchema(
    {
      collection: { ...text, description: 'Path of the collection.' },
      id: { ...text, description: 'Identifier of the resource.' },
      parent_id: { ...text, description: 'Identifier of its parent, if it has one.' },
      version: {
        ...integer,
        description: 'Version of the resource after the change, or before its deletion.',
      },
      event,
      time,
      by: { ...text, description: 'Subject of the token, or role in the database.' },
      resource: { type: 'object', description: 'The resource after the change. Absent after a deletion.' },
      _links: objectSchema({ resource: link }),
    },
    ['collection', 'id', 'version', 'event', 'time', 'by', '_links'],
  ),
  RecordedChanges: objectSchema({
    _links: objectSchema({ self: link, next: link }),
    limit: integer,
    has_more: { type: 'boolean', description: 'Whether `next` already has more changes.' },
    _embedded: objectSchema({ changes: listOf('RecordedChange') }),
  }),
  RecordedVersion: objectSchema(
    {
      version: { ...integer, minimum: 1, description: 'For a deletion, the version that was deleted.' },
      event: { ...event, description: 'Absent if the change is not in the record.' },
      time: { ...time, description: 'When the event happened, or when the resource last changed.' },
      by: { ...text, description: 'Subject of the token, or role in the database. Absent without an event.' },
      resource: { type: 'object', description: 'The resource in this version. Absent for a deletion.' },
      _links: objectSchema({ self: link, resource: link }, ['resource']),
    },
    ['version', 'time', '_links'],
  ),
  RecordedVersions: objectSchema({
    _links: objectSchema({ self: link, next: link, resource: link }, ['self', 'resource']),
    limit: integer,
    has_more: { type: 'boolean', description: 'Whether older versions are kept.' },
    _embedded: objectSchema({ versions: listOf('RecordedVersion') }),
  }),
}
