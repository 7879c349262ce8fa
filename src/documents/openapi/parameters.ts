import { HEADER_NAMES, REQUEST_HEADERS, type RequestHeader } from '../../http/headers.ts'
import { kindOf } from '../../model/definition/fields.ts'
import { noun } from '../../model/definition/labels.ts'
import type { Leaf, Resource } from '../../model/definition/resource.ts'
import { namedOperators } from '../../model/query/operators.ts'
import { DEFAULT_PAGE_SIZE, queryable, sortable } from '../../model/query/query.ts'
import { MAXIMUM_SEARCH } from '../../model/query/search.ts'
import { mapped } from '../../model/values.ts'
import type { ResourceOperation, ServiceOperation } from '../../rest/operation.ts'
import { embedsOf, selectableNames } from '../../rest/selection.ts'
import { component, IDENTIFIER, type Schema, type Schemas } from './field-schema.ts'

export function sharedParameters(maximumPageSize: number): Schemas {
  const positive = { type: 'integer', minimum: 1 }
  const limit = {
    ...positive,
    maximum: maximumPageSize,
    default: Math.min(DEFAULT_PAGE_SIZE, maximumPageSize),
  }
  const position = 'Opaque position from a next or prev link. Valid with the page and limit of that link.'
  return {
    page: { ...query('page', 'Page number, from 1.', { ...positive, default: 1 }), example: 1 },
    limit: { ...query('limit', 'Items per page.', limit), example: limit.default },
    search: query('q', SEARCH, { type: 'string', maxLength: MAXIMUM_SEARCH.characters }),
    find: query('id', 'Only the item with this identifier, if it exists.', { type: 'string' }),
    cursor: query('cursor', position, { type: 'string' }),
    ...mapped(REQUEST_HEADERS, header),
  }
}

const SEARCH = `Only items that contain each of these words in some text, regardless of case. At most ${MAXIMUM_SEARCH.words} words.`

function header(description: string, name: string): Schema {
  return { name: HEADER_NAMES[name as RequestHeader], in: 'header', description, schema: { type: 'string' } }
}

export function shared(...names: readonly string[]): Schema[] {
  return names.map((name) => component('parameters', name))
}

export function identifierParameter(name: string, resource: Resource, example: string): Schema {
  return pathParameter(name, `Identifier of the ${noun(resource)}.`, example, IDENTIFIER)
}

export function pathParameter(name: string, description: string, example: unknown, schema: Schema): Schema {
  return { name, in: 'path', required: true, description, schema: { type: 'string', ...schema }, example }
}

export function queryParameters(
  { query: names = {} }: ResourceOperation | ServiceOperation,
  resources: readonly Resource[],
  resource?: Resource,
): Schema[] {
  if (resource && names === 'list') {
    const own = Object.keys(listParameters(resource))
    return shared('page', 'limit', ...own, 'search', 'find', ...selectionNames(resource, resources), 'cursor')
  }
  if (resource && names === 'selection') return shared(...selectionNames(resource, resources))
  return Object.entries(names).flatMap(([name, description]) =>
    description === null ? shared(name) : [query(name, description, { type: 'string' })],
  )
}

/** The parameters that all paths of the resource share. */
export function resourceParameters(resource: Resource, resources: readonly Resource[]): Schemas {
  return { ...(resource.listed && listParameters(resource)), ...selectionParameters(resource, resources) }
}

const selectionNames = (resource: Resource, resources: readonly Resource[]) =>
  Object.keys(selectionParameters(resource, resources))

function selectionParameters(resource: Resource, resources: readonly Resource[]): Schemas {
  const relations = embedsOf(resource, resources).map(({ relation }) => relation)
  const named = (name: string, description: string, names: readonly string[]) => ({
    ...query(name, description, { type: 'array', minItems: 1, items: { type: 'string', enum: names } }),
    style: 'form',
    explode: false,
  })
  return {
    [`${resource.name}Fields`]: named('fields', FIELDS, selectableNames(resource)),
    ...(relations.length > 0 && { [`${resource.name}Embed`]: named('embed', EMBED, relations) }),
  }
}

const FIELDS =
  'Only these fields, with `id` and `_links`. The schemas describe responses without this parameter; with it, other fields are absent.'

const EMBED =
  'Relations of links. `_embedded` then has what GET of each link returns, the first page of a list. Requires the scopes to read them.'

/** SPEC §4.1. */
function listParameters({ name: resource, shownLeaves, createdField }: Resource): Schemas {
  const leaves = queryable(shownLeaves)
  const orders = sortable(leaves).flatMap(({ name }) => [`${name}:asc`, `${name}:desc`])
  const operatorsOf = ({ field }: Leaf) => [...namedOperators(kindOf(field).operators).keys()].join('|')
  const conditions = [...new Set(leaves.map(operatorsOf))].map((operators) => {
    const fields = leaves.filter((leaf) => operatorsOf(leaf) === operators)
    const names = fields.map(({ name }) => name.replaceAll('.', '\\.')).join('|')
    return `(${names})(\\[(${operators})\\])?`
  })
  const sort = query(
    'sort',
    '`field:asc` or `field:desc`. Separate several with commas, or repeat the parameter. Unset values come last.',
    { type: 'array', minItems: 1, items: { type: 'string', enum: orders } },
  )
  const filter = query(
    'filter',
    '`field:value` (also as a parameter of its own: `?field=value`), or `field[operator]:value` with an operator of the ' +
      'field. `|` separates the values of `in`. ' +
      '`ne` also finds items where the field is unset; `set` takes `true` or `false`. Several filters must all match.',
    { type: 'array', items: { type: 'string', pattern: `^(${conditions.join('|')}):` } },
  )
  const style = 'form'
  return {
    [`${resource}Sort`]: { ...sort, style, explode: false, example: [`${createdField}:desc`] },
    [`${resource}Filter`]: { ...filter, style, explode: true, example: [`${createdField}[gte]:2020-01-01`] },
  }
}

export function query(name: string, description: string, schema: Schema): Schema {
  return { name, in: 'query', description, schema }
}
