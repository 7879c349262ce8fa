import type { Resource } from '../../model/definition/resource.ts'
import { MAXIMUM_OPERATIONS } from '../../rest/operations/batch.ts'
import { OPERATION_HEADERS } from '../../rest/resource-operations.ts'
import { ERRORS, explanationsOf } from '../error-codes.ts'
import {
  INTEGER,
  LINK,
  listOf,
  objectSchema,
  type Schema,
  type Schemas,
  schemaNamed,
  TEXT,
  URI,
} from './field-schema.ts'

const URI_REFERENCE: Schema = { type: 'string', format: 'uri-reference' }

/** SPEC §2.2, §2.4. */
export function sharedSchemas(resources: readonly Resource[]): Schemas {
  const errorCodes = Object.keys(ERRORS)
  const codes = Object.keys(explanationsOf(resources))
  const detailCodes = codes.filter((code) => !errorCodes.includes(code))
  return {
    Link: described('A link to a resource. The title names it for people.', { href: URI, title: TEXT }, [
      'href',
    ]),
    TemplatedLink: described('A link with variables (RFC 6570).', {
      href: { ...TEXT, description: 'A URI template.' },
      templated: { const: true },
    }),
    Page: page({}),
    OwnedPage: page({ parent: LINK }),
    Entry: described('The entry document.', {
      _links: {
        type: 'object',
        properties: { self: schemaNamed('Link') },
        required: ['self'],
        additionalProperties: described('A link with a title.', { href: URI, title: TEXT }, ['href']),
      },
    }),
    ...FORMS,
    ErrorDetail: described('A problem with one field, parameter or rule.', {
      field: { ...TEXT, description: 'The dotted path of the field; empty if there is none.' },
      code: { ...TEXT, enum: detailCodes },
      message: TEXT,
    }),
    ErrorEnvelope: described('The body of every failed request.', {
      error: described('The error.', {
        code: { ...TEXT, enum: errorCodes },
        message: TEXT,
        details: listOf('ErrorDetail'),
      }),
    }),
    Problem: described(
      'The body of a failed request whose Accept names application/problem+json (RFC 9457).',
      {
        type: { ...URI_REFERENCE, description: 'The page that explains the error code.' },
        title: { ...TEXT, description: 'The error code in words.' },
        status: INTEGER,
        detail: TEXT,
        instance: { ...URI_REFERENCE, description: 'The id of the request.' },
        errors: listOf('ErrorDetail'),
      },
    ),
    ErrorCatalogueEntry: described(
      'What a code means.',
      {
        code: { ...TEXT, enum: codes },
        kind: { ...TEXT, enum: ['error', 'detail'] },
        status: { ...INTEGER, description: 'The status of an error; a detail has none.' },
        cause: TEXT,
        remedy: TEXT,
        retry: { ...TEXT, description: 'Whether and when the same request can be sent again.' },
        request: { ...TEXT, description: 'A request with this error.' },
        response: { ...TEXT, description: 'The response to it.' },
        href: URI,
      },
      ['code', 'kind', 'cause', 'remedy', 'response', 'href'],
    ),
    ErrorCatalogue: described('All codes.', { errors: listOf('ErrorCatalogueEntry') }),
    Profile: {
      type: 'object',
      description: 'The schemas and the policies of a collection.',
      required: ['title', 'description', 'schema', 'input', 'policies'],
      properties: {
        title: TEXT,
        description: TEXT,
        schema: { type: 'object', description: 'The JSON Schema of a representation.' },
        input: { type: 'object', description: 'The JSON Schema of request bodies.' },
        policies: { type: 'object', description: 'How the service behaves where HTTP leaves a choice.' },
      },
    },
    ...BATCH,
  }
}

/** What all pages of lists have (SPEC §2.2). */
function page(more: Schemas): Schema {
  const links = { self: LINK, first: LINK, ...more, find: schemaNamed('TemplatedLink') }
  const neighbour = {
    description: 'If there is no such page: null in `application/json`, absent in the other types.',
    oneOf: [LINK, { type: 'null' }],
  }
  const members = {
    _links: objectSchema({ ...links, last: LINK, next: neighbour, prev: neighbour }, Object.keys(links)),
    page: { ...INTEGER, minimum: 1, description: 'Page number, from 1.' },
    limit: { ...INTEGER, minimum: 1, description: 'Items per page.' },
    has_more: { type: 'boolean', description: 'Whether there is a next page.' },
  }
  const counts = {
    total_pages: { ...INTEGER, minimum: 0, description: 'Number of pages; 0 if the list is empty.' },
    total_count: { ...INTEGER, minimum: 0, description: 'Number of items on all pages.' },
  }
  return { type: 'object', properties: { ...members, ...counts }, required: Object.keys(members) }
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
      title: TEXT,
      method: { ...TEXT, enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
      target: URI,
      contentType: TEXT,
      properties: listOf('TemplateProperty'),
    },
    ['title', 'method', 'target', 'properties'],
  ),
  TemplateProperty: described(
    'A member of the body.',
    {
      name: TEXT,
      prompt: TEXT,
      type: { ...TEXT, enum: ['text', 'textarea', 'number', 'date', 'email', 'url'] },
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
      maxLength: INTEGER,
      regex: TEXT,
      placeholder: TEXT,
      options: described(
        'The values to choose from: `inline`, or the items of the list that `link` leads to.',
        {
          inline: {
            type: 'array',
            items: { oneOf: [TEXT, described('A value with a label.', { prompt: TEXT, value: {} })] },
          },
          link: described('A list.', { href: URI, type: TEXT }),
          promptField: TEXT,
          valueField: TEXT,
          selectedValues: { type: 'array', items: {} },
          minItems: INTEGER,
          maxItems: INTEGER,
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
