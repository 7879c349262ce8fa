import { kindOf } from '../../model/fields.ts'
import { DEFAULT_PAGE_SIZE, queryable } from '../../model/query/query.ts'
import type { Resource } from '../../model/resource.ts'
import { noun } from '../../rest/nouns.ts'
import { IDENTIFIER, type Schema } from './field-schema.ts'

export function sharedParameters(maximumPageSize: number): Record<string, Schema> {
  const positive = { type: 'integer', minimum: 1 }
  return {
    page: query('page', 'Page number, from 1.', { ...positive, default: 1 }),
    limit: query('limit', 'Items per page.', {
      ...positive,
      maximum: maximumPageSize,
      default: DEFAULT_PAGE_SIZE,
    }),
    find: query('id', 'Only the item with this identifier, if it exists.', { type: 'string' }),
    cursor: query(
      'cursor',
      'Opaque position from a next or prev link. Valid with the page and limit of that link.',
      {
        type: 'string',
      },
    ),
    IfMatch: header('If-Match', 'The entity tags of the versions that may be changed, or `*`.'),
    IfUnmodifiedSince: header(
      'If-Unmodified-Since',
      'Without If-Match: fails if the resource has changed since this second.',
    ),
    IfModifiedSince: header(
      'If-Modified-Since',
      'Without If-None-Match: 304 if the resource has not changed since this second.',
    ),
    IfNoneMatchRead: header('If-None-Match', 'Entity tags that the client has; 304 if one is current.'),
    IfNoneMatchWrite: header('If-None-Match', '`*`: only create, never replace.'),
    ConsistencyToken: header('Consistency-Token', 'The token of a write that the response must include.'),
    IdempotencyKey: header(
      'Idempotency-Key',
      'A unique key for this request. Repeating it creates nothing and returns the first response.',
    ),
    Prefer: header(
      'Prefer',
      '`handling=strict`: deleting a resource that does not exist is an error (RFC 7240).',
    ),
  }
}

export function shared(name: string): Schema {
  return { $ref: `#/components/parameters/${name}` }
}

/** The identifier of a resource in a path. Any other text is an unknown identifier. */
export function identifierParameter(name: string, resource: Resource, example: string): Schema {
  return pathParameter(name, `Identifier of the ${noun(resource)}.`, example, IDENTIFIER)
}

export function pathParameter(name: string, description: string, example: unknown, schema: Schema): Schema {
  return { name, in: 'path', required: true, description, schema: { type: 'string', ...schema }, example }
}

/** The parameters of a list (SPEC §4.1): those of all lists, and the sort and filter of this one. */
export function listParameters(resource: Resource): Schema[] {
  const [page, limit, find, cursor, token] = ['page', 'limit', 'find', 'cursor', 'ConsistencyToken'].map(
    shared,
  )
  const filters = [filterParameter(resource), fieldsParameter(resource)]
  return [page, limit, sortParameter(resource), ...filters, find, cursor, token] as Schema[]
}

/** Exploded, so that each member is a parameter of its own: `?name=x`. */
function fieldsParameter(resource: Resource): Schema {
  const leaves = queryable(resource.shownLeaves).filter(({ name }) => name !== 'id')
  const properties = leaves.map(({ name, field }) => [name, kindOf(field).schema(field)])
  const description = 'Shorthand: `field=value` is the same as `filter=field:value`.'
  const schema = { type: 'object', properties: Object.fromEntries(properties) }
  return { ...query('fields', description, schema), style: 'form', explode: true, example: {} }
}

function sortParameter(resource: Resource): Schema {
  const orders = queryable(resource.shownLeaves).flatMap(({ name }) => [`${name}:asc`, `${name}:desc`])
  const description =
    '`field:asc` or `field:desc`, several joined by commas or repeated. Unset values come last.'
  const schema = { type: 'array', minItems: 1, items: { type: 'string', enum: orders } }
  const example = [`${resource.createdField}:desc`]
  return { ...query('sort', description, schema), style: 'form', explode: false, example }
}

function filterParameter(resource: Resource): Schema {
  const leaves = queryable(resource.shownLeaves)
  const conditions = leaves.map((leaf) => {
    const operators = kindOf(leaf.field).operators.filter((operator) => operator !== 'equals')
    return `${escaped(leaf.name)}(\\[(${operators.join('|')})\\])?`
  })
  const description =
    '`field:value`, or `field[operator]:value` with an operator of the field; values of `in` are joined by `|`. ' +
    'If given several times, all must match.'
  const items = { type: 'string', pattern: `^(${conditions.join('|')}):` }
  return {
    ...query('filter', description, { type: 'array', items }),
    style: 'form',
    explode: true,
    example: [`${resource.createdField}[gte]:2020-01-01`],
  }
}

function escaped(name: string): string {
  return name.replaceAll('.', '\\.')
}

function query(name: string, description: string, schema: Schema): Schema {
  return { name, in: 'query', description, schema }
}

function header(name: string, description: string): Schema {
  return { name, in: 'header', description, schema: { type: 'string' } }
}
