import { fieldsThat, isAlwaysShown, isRequired } from '../../model/definition/fields.ts'
import { relationsOf } from '../../model/definition/relations.ts'
import { identifierField, type Resource } from '../../model/definition/resource.ts'
import { openView } from '../../model/definition/views.ts'
import { HAL_MEMBERS } from '../../model/validate.ts'
import { mapped } from '../../model/values.ts'
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
  LINK,
  namesWhere,
  objectSchema,
  type Schema,
  type Schemas,
  schemaNamed,
} from './field-schema.ts'

interface BodySettings extends Pick<RestSettings, 'unknownFields'> {
  /** Whether what is sent back has `readOnly`, for forms. Some validators of OpenAPI refuse bodies that have it. */
  readonly marksReadOnly?: boolean
}

/** HAL-FORMS adds this member if the token permits any of the requests. */
const TEMPLATES = { _templates: schemaNamed('Templates') }

/** Names that the document gives to other schemas, made of the name of a resource or not, and to other components. */
const TAKEN =
  /^(Bearer|Entry|Link|Owned|Problem|Profile)$|^(Batch|Embedded|Error|Recorded|Template)|(Created|Example|Fields|Header|Input|Item|Links|Page|Parameter|Patch|Resource|Response)$/

/** The name of the schema of a resource, and the beginning of those of its parts. */
export function schemaName({ name }: Pick<Resource, 'name'>): string {
  return TAKEN.test(name) ? `${name}Resource` : name
}

export function resourceSchemas(resources: readonly Resource[], settings: BodySettings): Schemas {
  const lists = resources.flatMap((resource) =>
    resourcePaths(resource, resources)
      .filter(({ operations }) => operations.includes(list))
      .map(({ parent }) => ({
        [pageName(resource, parent)]: pageSchema(resource, parent, `${schemaName(resource)}Item`, TEMPLATES),
      })),
  )
  const embeds = resources.flatMap((resource) => embedsOf(resource, resources))
  return Object.assign(
    {},
    ...resources.map((resource) => schemasOf(resource, resources, settings)),
    ...lists,
    ...embeds.map(embeddedSchemas),
  )
}

function schemasOf(resource: Resource, resources: readonly Resource[], settings: BodySettings) {
  const { listed, replaceable } = resource
  const name = schemaName(resource)
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
    [`${name}Fields`]: representationSchema(resource),
    [`${name}Links`]: linksOn(resource, resources, ['read']),
    [name]: representation(resource, `${name}Links`, { ...embedded, ...TEMPLATES }),
    ...(listed && {
      [`${name}ItemLinks`]: linksOn(resource, resources, ['item']),
      [`${name}Item`]: representation(resource, `${name}ItemLinks`, { ...embedded }),
    }),
    ...(created.length > 0 && {
      [`${name}CreatedLinks`]: linksOn(resource, resources, created),
      [`${name}Created`]: representation(resource, `${name}CreatedLinks`, TEMPLATES),
    }),
    ...(replaceable
      ? {
          [`${name}Patch`]: patchSchema(resource, settings),
          [`${name}Input`]: {
            ...extended(`${name}Patch`),
            ...requiredMembers(resource),
            required: namesWhere(resource.writableFields, isRequired),
          },
        }
      : { [`${name}Input`]: inputSchema(resource, settings) }),
  }
}

/**
 * Embedded resources embed nothing, so they have schemas of their own. Otherwise, each schema would contain all others,
 * and tools that resolve references would not terminate.
 */
function embeddedSchemas(embed: Embed): Schemas {
  const { target, isList, parent } = embed
  const name = embeddedName(embed)
  const of = schemaName(target)
  if (!isList) return { [name]: representation(target, `${of}Links`) }
  const item = `Embedded${of}Item`
  return {
    [item]: representation(target, `${of}ItemLinks`),
    [name]: pageSchema(target, parent, item),
  }
}

function embeddedName({ target, isList, parent }: Embed): string {
  return `Embedded${isList ? pageName(target, parent) : schemaName(target)}`
}

/** The fields, with links and other members. */
function representation(resource: Resource, links: string, more: Schemas = {}): Schema {
  return {
    ...extended(`${schemaName(resource)}Fields`),
    description: resource.description,
    properties: { _links: schemaNamed(links), ...more },
    required: ['_links'],
    unevaluatedProperties: false,
  }
}

/** Nothing is repeated, and tools that know no `$ref` beside other keywords understand it. */
function extended(name: string): Schema {
  return { type: 'object', allOf: [schemaNamed(name)] }
}

/** The links of any of the occasions (SPEC §2.3). Those that every occasion always has are required. */
function linksOn(resource: Resource, resources: readonly Resource[], occasions: readonly Occasion[]): Schema {
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
  return objectSchema(
    Object.fromEntries(relations.map((name) => [name, LINK])),
    relations.filter((name) => !optional.includes(name) && shownToAll.every((names) => names.includes(name))),
  )
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

/** What a body needs besides a patch: the members of groups that must not be missing. */
function requiredMembers({ writableFields }: Resource): Schema {
  const groups = Object.entries(writableFields).flatMap(([name, field]) =>
    field.type === 'group' && isRequired(field)
      ? [[name, { type: 'object', required: namesWhere(field.fields, isRequired) }]]
      : [],
  )
  return groups.length > 0 ? { properties: Object.fromEntries(groups) } : {}
}

/** A JSON Merge Patch (SPEC §4.6). Clients may send back a whole representation, read-only members included. */
export function patchSchema(
  resource: Resource,
  { unknownFields, marksReadOnly = false }: BodySettings,
  required?: readonly string[],
): Schema {
  const options = { isOpen: unknownFields === 'ignore', marksReadOnly, isWhole: required !== undefined }
  const ignored = { type: 'object', description: 'Ignored.', ...(marksReadOnly && { readOnly: true }) }
  const properties = {
    ...mapped(sendable(resource), (field, name) => inputFieldSchema(field, name, options)),
    ...Object.fromEntries([...HAL_MEMBERS].map((name) => [name, ignored])),
  }
  return objectSchema(properties, required ?? [], options.isOpen)
}

/** A view keeps the scope of a field that its caller cannot write, and must not send. */
function sendable({ shownFields }: Resource): Resource['shownFields'] {
  return fieldsThat(shownFields, ({ readOnly, writeScope }) => !(readOnly && writeScope))
}

export function pageName(resource: Resource, parent: Resource | undefined): string {
  return `${parent ? schemaName(parent) : ''}${schemaName(resource)}Page`
}

/** A page of a list (SPEC §2.2). */
function pageSchema(
  resource: Resource,
  parent: Resource | undefined,
  item: string,
  more: Schemas = {},
): Schema {
  const members = {
    ...(parent && { [identifierField(parent)]: { ...IDENTIFIER, description: 'The parent.' } }),
    _embedded: objectSchema({ [resource.path]: { type: 'array', items: schemaNamed(item) } }),
  }
  return {
    ...extended(parent ? 'OwnedPage' : 'Page'),
    description: `A page of ${resource.path}.`,
    properties: { ...members, ...more },
    required: Object.keys(members),
    unevaluatedProperties: false,
  }
}
