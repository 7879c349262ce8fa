import { type Field, isAlwaysShown, isRequired } from '../../model/fields.ts'
import { relationsOf } from '../../model/relations.ts'
import { fieldsThat, identifierField, type Resource } from '../../model/resource.ts'
import { mapped } from '../../model/values.ts'
import { openView } from '../../model/views.ts'
import { createHal, type Embed, type Occasion } from '../../rest/hal.ts'
import { list } from '../../rest/operations/list.ts'
import { resourcePaths } from '../../rest/resource-operations.ts'
import { embedsOf } from '../../rest/selection.ts'
import { type RestSettings, Urls } from '../../rest/urls.ts'
import {
  annotations,
  fieldSchema,
  IDENTIFIER,
  inputFieldSchema,
  objectSchema,
  type Schema,
  type Schemas,
  schemaNamed,
} from './field-schema.ts'

type BodySettings = Pick<RestSettings, 'unknownFields'>

/** HAL-FORMS adds this member if the token permits any of the requests. */
const TEMPLATES = { _templates: schemaNamed('Templates') }

const LINK = schemaNamed('Link')

export function resourceSchemas(resources: readonly Resource[], settings: BodySettings): Schemas {
  const lists = resources.flatMap((resource) =>
    resourcePaths(resource, resources)
      .filter(({ operations }) => operations.includes(list))
      .map(({ parent }) => ({
        [pageName(resource, parent)]: pageSchema(resource, parent, `${resource.name}Item`, TEMPLATES),
      })),
  )
  const embeds = resources.flatMap((resource) => embedsOf(resource, resources))
  return Object.assign(
    {},
    ...resources.map((resource) => schemasOf(resource, resources, settings)),
    ...lists,
    ...embeds.map((embed) => embeddedSchemas(embed, resources)),
  )
}

function schemasOf(resource: Resource, resources: readonly Resource[], settings: BodySettings) {
  const { name, listed, replaceable } = resource
  const embeds = embedsOf(resource, resources).map((embed) => [
    embed.relation,
    schemaNamed(embeddedName(embed)),
  ])
  const embedded = embeds.length > 0 && { _embedded: objectSchema(Object.fromEntries(embeds), []) }
  const created: readonly Occasion[] = [
    ...(listed ? ['created' as const] : []),
    ...(replaceable ? ['put' as const] : []),
  ]
  return {
    [name]: representationOn(resource, resources, ['read'], { ...embedded, ...TEMPLATES }),
    ...(listed && { [`${name}Item`]: representationOn(resource, resources, ['item'], { ...embedded }) }),
    ...(created.length > 0 && {
      [`${name}Created`]: representationOn(resource, resources, created, TEMPLATES),
    }),
    [`${name}Input`]: inputSchema(resource, settings),
    ...(replaceable && { [`${name}Patch`]: patchSchema(resource, settings) }),
  }
}

/**
 * Embedded resources embed nothing, so they have schemas of their own. Otherwise, each schema would contain all others,
 * and tools that resolve references would not terminate.
 */
function embeddedSchemas(embed: Embed, resources: readonly Resource[]): Schemas {
  const { target, isList, parent } = embed
  const name = embeddedName(embed)
  if (!isList) return { [name]: representationOn(target, resources, ['read']) }
  const item = `Embedded${target.name}Item`
  return {
    [item]: representationOn(target, resources, ['item']),
    [name]: pageSchema(target, parent, item),
  }
}

function embeddedName({ target, isList, parent }: Embed): string {
  return `Embedded${isList ? pageName(target, parent) : target.name}`
}

/** Has the links of any of the occasions (SPEC §2.3). Those that every occasion always has are required. */
function representationOn(
  resource: Resource,
  resources: readonly Resource[],
  occasions: readonly Occasion[],
  more: Schemas = {},
): Schema {
  const references = relationsOf(resource, resources)
  const data = { ...Object.fromEntries(references.map(({ leaf }) => [leaf.column, 'id'])), id: 'id' }
  const linked = (hal: ReturnType<typeof createHal>) =>
    occasions.map((occasion) => {
      const document = hal.resource(data, occasion, new Urls('')) as { _links: object }
      return Object.keys(document._links)
    })
  const relations = [...new Set(linked(createHal(resource, resources)).flat())]
  const optional = references.filter(({ leaf }) => !leaf.field.required).map(({ relation }) => relation)
  const shownToAll = linked(createHal(openView(resource), resources.map(openView)))
  const links = objectSchema(
    Object.fromEntries(relations.map((name) => [name, LINK])),
    relations.filter((name) => !optional.includes(name) && shownToAll.every((names) => names.includes(name))),
  )
  const { properties, ...fields } = representationSchema(resource)
  return {
    ...fields,
    properties: { ...properties, _links: links, ...more },
    required: [...fields.required, '_links'],
    additionalProperties: false,
  }
}

/** The fields of responses, without links. */
export function representationSchema({ shownFields, parentField, description }: Resource) {
  const properties = mapped(shownFields, (field, name) => ({
    ...(name === 'id' || name === parentField
      ? { ...IDENTIFIER, ...annotations(field, name) }
      : fieldSchema(field, name)),
    ...(field.readOnly && { readOnly: true }),
  }))
  return { type: 'object', description, properties, required: namesWhere(shownFields, isAlwaysShown) }
}

/** The body that creates or replaces a resource (SPEC §4.3–4.5). */
export function inputSchema(resource: Resource, settings: BodySettings): Schema {
  return patchSchema(resource, settings, namesWhere(resource.writableFields, isRequired))
}

/** A JSON Merge Patch (SPEC §4.6). Clients may send back a whole representation, read-only members included. */
export function patchSchema(
  resource: Resource,
  { unknownFields }: BodySettings,
  required: readonly string[] = [],
): Schema {
  const isOpen = unknownFields === 'ignore'
  const ignored = { type: 'object', description: 'Ignored.' }
  const properties = {
    ...mapped(sendable(resource), (field, name) => inputFieldSchema(field, name, isOpen)),
    _links: ignored,
    _embedded: ignored,
  }
  return objectSchema(properties, required, isOpen)
}

/** A view keeps the scope of a field that its caller cannot write, and must not send. */
function sendable({ shownFields }: Resource): Resource['shownFields'] {
  return fieldsThat(shownFields, ({ readOnly, writeScope }) => !(readOnly && writeScope))
}

function namesWhere(fields: Readonly<Record<string, Field>>, holds: (field: Field) => boolean): string[] {
  return Object.keys(fields).filter((name) => holds(fields[name] as Field))
}

export function pageName({ name }: Resource, parent: Resource | undefined): string {
  return `${parent?.name ?? ''}${name}Page`
}

/** A page of a list (SPEC §2.2). */
function pageSchema(
  resource: Resource,
  parent: Resource | undefined,
  item: string,
  more: Schemas = {},
): Schema {
  const find = schemaNamed('TemplatedLink')
  const links = { self: LINK, first: LINK, ...(parent && { parent: LINK }), find }
  const neighbour = {
    description: 'If there is no such page: null in `application/json`, absent in the other types.',
    oneOf: [LINK, { type: 'null' }],
  }
  const counted = {
    total_pages: { type: 'integer', minimum: 0, description: 'Number of pages; 0 if the list is empty.' },
    total_count: { type: 'integer', minimum: 0, description: 'Number of items on all pages.' },
  }
  const members = {
    _links: objectSchema({ ...links, last: LINK, next: neighbour, prev: neighbour }, Object.keys(links)),
    ...(parent && { [identifierField(parent)]: { ...IDENTIFIER, description: 'The parent.' } }),
    page: { type: 'integer', minimum: 1, description: 'Page number, from 1.' },
    limit: { type: 'integer', minimum: 1, description: 'Items per page.' },
    has_more: { type: 'boolean', description: 'Whether there is a next page.' },
    _embedded: objectSchema({ [resource.path]: { type: 'array', items: schemaNamed(item) } }),
  }
  return {
    ...objectSchema({ ...members, ...counted, ...more }, Object.keys(members)),
    description: `A page of ${resource.path}.`,
  }
}
