import { kindOf, type LeafField } from '../../model/fields.ts'
import { namedOperators } from '../../model/query/operators.ts'
import { DEFAULT_PAGE_SIZE, queryable, sortable } from '../../model/query/query.ts'
import { MAXIMUM_SEARCH } from '../../model/query/search.ts'
import type { Resource } from '../../model/resource.ts'
import { noun } from '../../rest/nouns.ts'
import { IDENTIFIER, mapped, type Schema } from './field-schema.ts'

export function sharedParameters(maximumPageSize: number): Record<string, Schema> {
  const positive = { type: 'integer', minimum: 1 }
  const limit = { ...positive, maximum: maximumPageSize, default: DEFAULT_PAGE_SIZE }
  const position = 'Opaque position from a next or prev link. Valid with the page and limit of that link.'
  return {
    page: query('page', 'Page number, from 1.', { ...positive, default: 1 }),
    limit: query('limit', 'Items per page.', limit),
    search: query('q', SEARCH, { type: 'string', maxLength: MAXIMUM_SEARCH.characters }),
    find: query('id', 'Only the item with this identifier, if it exists.', { type: 'string' }),
    cursor: query('cursor', position, { type: 'string' }),
    ...mapped(HEADERS, header),
  }
}

const SEARCH = `Words, of which each must be in one of the texts of an item, regardless of case. At most ${MAXIMUM_SEARCH.words}.`

/** The headers of requests, by names without hyphens. */
const HEADERS = {
  IfMatch: 'The entity tags of the versions that may be changed, or `*`.',
  IfUnmodifiedSince: 'Without If-Match: fails if the resource has changed since this second.',
  IfModifiedSince: 'Without If-None-Match: 304 if the resource has not changed since this second.',
  IfNoneMatchRead: 'Entity tags that the client has; 304 if one is current.',
  IfNoneMatchWrite: '`*`: only create, never replace.',
  ConsistencyToken: 'The token of a write that the response must include.',
  IdempotencyKey:
    'A unique key for this request. Repeating it creates nothing and returns the first response.',
  Prefer: '`handling=strict`: deleting a resource that does not exist is an error (RFC 7240).',
}

function header(description: string, key: string): Schema {
  const name = key.replace(/Read$|Write$/, '').replace(/(?<=[a-z])[A-Z]/g, '-$&')
  return { name, in: 'header', description, schema: { type: 'string' } }
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
export function listParameters({ shownLeaves, createdField }: Resource): Schema[] {
  const leaves = queryable(shownLeaves)
  const orders = sortable(leaves).flatMap(({ name }) => [`${name}:asc`, `${name}:desc`])
  const conditions = leaves.map(({ name, field }) => {
    const operators = [...namedOperators(kindOf(field).operators).keys()]
    return `${name.replaceAll('.', '\\.')}(\\[(${operators.join('|')})\\])?`
  })
  const properties = leaves
    .filter(({ name }) => name !== 'id')
    .map(({ name, field }) => {
      const compared = (kindOf(field).itemOf?.(field) ?? field) as LeafField
      return [name, kindOf(compared).schema(compared)]
    })
  const sort = query(
    'sort',
    '`field:asc` or `field:desc`, several joined by commas or repeated. Unset values come last.',
    { type: 'array', minItems: 1, items: { type: 'string', enum: orders } },
  )
  const filter = query(
    'filter',
    '`field:value`, or `field[operator]:value` with an operator of the field; values of `in` are joined by `|`. ' +
      '`ne` also finds items where the field is unset; `set` takes `true` or `false`. If given several times, all must match.',
    { type: 'array', items: { type: 'string', pattern: `^(${conditions.join('|')}):` } },
  )
  const fields = query('fields', 'Shorthand: `field=value` is the same as `filter=field:value`.', {
    type: 'object',
    properties: Object.fromEntries(properties),
  })
  return [
    shared('page'),
    shared('limit'),
    { ...sort, style: 'form', explode: false, example: [`${createdField}:desc`] },
    { ...filter, style: 'form', explode: true, example: [`${createdField}[gte]:2020-01-01`] },
    // Exploded, so that each member is a parameter of its own: `?name=x`.
    { ...fields, style: 'form', explode: true, example: {} },
    shared('search'),
    shared('find'),
    shared('cursor'),
    shared('ConsistencyToken'),
  ]
}

function query(name: string, description: string, schema: Schema): Schema {
  return { name, in: 'query', description, schema }
}
