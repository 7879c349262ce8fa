import { type Field, isAlwaysSet } from '../../model/fields.ts'
import { relationsOf } from '../../model/relations.ts'
import { identifierField, type Resource } from '../../model/resource.ts'
import { createHal, type Occasion } from '../../rest/hal.ts'
import { embedsOf } from '../../rest/selection.ts'
import { type RestSettings, Urls } from '../../rest/urls.ts'
import {
  annotations,
  fieldSchema,
  IDENTIFIER,
  inputFieldSchema,
  mapped,
  objectSchema,
  type Schema,
} from './field-schema.ts'

type BodySettings = Pick<RestSettings, 'unknownFields'>

export const SCHEMAS = '#/components/schemas/'

/** The member that HAL-FORMS adds if the token permits any of the requests. */
const TEMPLATES = { _templates: { $ref: `${SCHEMAS}Templates` } }

const LINK = { $ref: `${SCHEMAS}Link` }

/** The names of the schemas of a body as JSON, as HAL, and as HAL-FORMS. */
export type BodySchemas = readonly [json: string, hal: string, forms: string]

/** The schemas of the representation of one resource; the one of HAL-FORMS has templates. */
export function bodySchemas(name: string): BodySchemas {
  return [name, name, `${name}Forms`]
}

/** The schemas of a resource: its fields, one representation for each occasion, and request bodies. */
export function resourceSchemas(
  resource: Resource,
  resources: readonly Resource[],
  settings: BodySettings,
): Record<string, Schema> {
  const { name, description, listed, replaceable } = resource
  const embedded = embeddedSchema(resource, resources)
  const representation = (occasion: Occasion, more: Record<string, Schema> = {}): Schema => ({
    description,
    allOf: [
      { $ref: `${SCHEMAS}${name}Fields` },
      {
        type: 'object',
        properties: {
          _links: linksSchema(resource, resources, occasion),
          ...(occasion === 'read' || occasion === 'item' ? embedded : {}),
          ...more,
        },
      },
    ],
    required: ['_links'],
    unevaluatedProperties: false,
  })
  const representations = (schema: string, occasion: Occasion) => ({
    [schema]: representation(occasion),
    [`${schema}Forms`]: representation(occasion, TEMPLATES),
  })
  return {
    [`${name}Fields`]: representationSchema(resource),
    ...representations(name, 'read'),
    ...(listed && {
      [`${name}Item`]: representation('item'),
      ...representations(`${name}Created`, 'created'),
    }),
    [`${name}Input`]: inputSchema(resource, settings),
    ...(replaceable && {
      ...representations(`${name}PutCreated`, 'put'),
      [`${name}Patch`]: patchSchema(resource, settings),
    }),
  }
}

/** The fields of a resource in responses, without the links. */
export function representationSchema({ shownFields, parentField, description }: Resource): Schema {
  const properties = mapped(shownFields, (field, name) => ({
    ...(name === 'id' || name === parentField
      ? { ...IDENTIFIER, ...annotations(field, name) }
      : fieldSchema(field, name)),
    ...(field.readOnly && { readOnly: true }),
  }))
  return { type: 'object', description, properties, required: namesWhere(shownFields, isAlwaysSet) }
}

/** The body that creates or replaces a resource (SPEC §4.3–4.5). */
export function inputSchema(resource: Resource, settings: BodySettings): Schema {
  const { writableFields } = resource
  const required = namesWhere(writableFields, (field) => field.type !== 'group' && field.required === true)
  return patchSchema(resource, settings, required)
}

/**
 * The body that changes a resource: a JSON Merge Patch, in which null removes (SPEC §4.6). Clients may send back a whole
 * representation, read-only members included.
 */
export function patchSchema(
  resource: Resource,
  { unknownFields }: BodySettings,
  required: readonly string[] = [],
): Schema {
  const isOpen = unknownFields === 'ignore'
  const note = 'Read-only: ignored on creation, otherwise refused if it differs.'
  const readOnly = Object.entries(resource.shownFields).filter(([, field]) => field.readOnly)
  const ignored = { type: 'object', description: 'Ignored.' }
  const properties = {
    ...mapped(resource.writableFields, (field, name) => inputFieldSchema(field, name, isOpen)),
    ...mapped(Object.fromEntries(readOnly), (field, name) => {
      const description = `${field.description} ${note}`
      return { type: ['string', 'null'], ...annotations(field, name), description }
    }),
    _links: ignored,
    _embedded: ignored,
  }
  return objectSchema(properties, required, isOpen)
}

function namesWhere(fields: Readonly<Record<string, Field>>, holds: (field: Field) => boolean): string[] {
  return Object.keys(fields).filter((name) => holds(fields[name] as Field))
}

function namesExcept(members: Readonly<Record<string, unknown>>, optional: readonly string[]): string[] {
  return Object.keys(members).filter((name) => !optional.includes(name))
}

/** The links of an occasion (SPEC §2.3), as a resource has them if every field is set, or only the required ones. */
function linksSchema(resource: Resource, resources: readonly Resource[], occasion: Occasion): Schema {
  const hal = createHal(resource, resources)
  const relationsWhere = (isSet: boolean) => {
    const references = relationsOf(resource, resources).map(({ leaf }) => [
      leaf.column,
      isSet || leaf.field.required ? 'id' : null,
    ])
    const data = { ...Object.fromEntries(references), id: 'id' }
    return Object.keys((hal.resource(data, occasion, new Urls('')) as { _links: object })._links)
  }
  const links = relationsWhere(true).map((relation) => [relation, LINK])
  return objectSchema(Object.fromEntries(links), relationsWhere(false))
}

/** What a request can embed. */
function embeddedSchema(resource: Resource, resources: readonly Resource[]): Record<string, Schema> {
  const members = embedsOf(resource, resources).map(({ relation, target, isList, parent }) => {
    const [json, hal] = pageNames(target, parent)
    const pages = [{ $ref: SCHEMAS + json }, { $ref: SCHEMAS + hal }]
    return [relation, isList ? { anyOf: pages } : { $ref: SCHEMAS + target.name }]
  })
  return members.length > 0 ? { _embedded: objectSchema(Object.fromEntries(members), []) } : {}
}

export function pageNames(resource: Resource, parent: Resource | undefined): BodySchemas {
  const name = `${parent?.name ?? ''}${resource.name}`
  return [`${name}Page`, `${name}HalPage`, `${name}FormsPage`]
}

/**
 * The schemas of a list (SPEC §2.2). An absent link is null as `application/json`, and otherwise omitted;
 * HAL-FORMS has templates.
 */
export function pageSchemas(resource: Resource, parent: Resource | undefined): Record<string, Schema> {
  const [json, hal, forms] = pageNames(resource, parent)
  const items = { type: 'array', items: { $ref: `${SCHEMAS}${resource.name}Item` } }
  const page = (neighbour: Schema, optional: readonly string[], more: Record<string, Schema> = {}) => {
    const links = {
      self: LINK,
      first: LINK,
      last: LINK,
      next: neighbour,
      prev: neighbour,
      find: { $ref: `${SCHEMAS}TemplatedLink` },
      ...(parent && { parent: LINK }),
    }
    const members = {
      _links: objectSchema(links, namesExcept(links, ['last', ...optional])),
      ...(parent && { [identifierField(parent)]: { ...IDENTIFIER, description: 'The parent.' } }),
      page: { type: 'integer', minimum: 1, description: 'Page number, from 1.' },
      limit: { type: 'integer', minimum: 1, description: 'Items per page.' },
      total_pages: { type: 'integer', minimum: 0, description: 'Number of pages; 0 if the list is empty.' },
      total_count: { type: 'integer', minimum: 0, description: 'Number of items on all pages.' },
      has_more: { type: 'boolean', description: 'Whether there is a next page.' },
      _embedded: objectSchema({ [resource.path]: items }, [resource.path]),
    }
    const counts = ['total_pages', 'total_count']
    const schema = objectSchema({ ...members, ...more }, namesExcept(members, counts))
    return { ...schema, description: `A page of ${resource.path}.` }
  }
  return {
    [json]: page({ oneOf: [LINK, { type: 'null' }] }, []),
    [hal]: page(LINK, ['next', 'prev']),
    [forms]: page(LINK, ['next', 'prev'], TEMPLATES),
  }
}
