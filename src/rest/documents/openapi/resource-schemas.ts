import { isAlwaysSet } from '../../../domain/model/fields.ts'
import { nestedReferences, ownedBy, referencesTo, relationsOf } from '../../../domain/model/relations.ts'
import type { Resource } from '../../../domain/model/resource.ts'
import { fieldSchema, IDENTIFIER, inputFieldSchema, objectSchema, type Schema } from './field-schema.ts'

/** Where the schemas of an OpenAPI document stand. */
export const SCHEMAS = '#/components/schemas/'

/** The names under which the schemas of a resource stand in an OpenAPI document. */
export function schemaNames({ name }: Resource) {
  return {
    fields: `${name}Fields`,
    read: name,
    item: `${name}Item`,
    created: `${name}Created`,
    put: `${name}PutCreated`,
    input: `${name}Input`,
    patch: `${name}Patch`,
  }
}

/** The schemas of a resource: its fields, one representation for each occasion, and what is sent. */
export function resourceSchemas(resource: Resource, resources: readonly Resource[]): Record<string, Schema> {
  const names = schemaNames(resource)
  const links = linkSchemas(resource, resources)
  const { listed, replaceable } = resource
  const representation = (set: Schema): Schema => ({
    description: resource.description,
    allOf: [{ $ref: SCHEMAS + names.fields }, { type: 'object', properties: { _links: set } }],
    required: ['_links'],
    unevaluatedProperties: false,
  })
  return {
    [names.fields]: representationSchema(resource),
    [names.read]: representation(links.read),
    ...(listed && {
      [names.item]: representation(links.item),
      [names.created]: representation(links.created),
      [names.input]: inputSchema(resource),
    }),
    ...(replaceable && {
      [names.put]: representation(links.put),
      [names.input]: inputSchema(resource),
      [names.patch]: patchSchema(resource),
    }),
  }
}

/** The fields of a resource as they are answered, without the links. */
export function representationSchema(resource: Resource): Schema {
  const shown = Object.entries(resource.shownFields)
  return {
    type: 'object',
    description: resource.description,
    properties: Object.fromEntries(
      shown.map(([name, field]) => [
        name,
        {
          ...(isIdentifier(resource, name)
            ? { ...IDENTIFIER, description: field.description }
            : fieldSchema(field)),
          ...(field.readOnly && { readOnly: true }),
        },
      ]),
    ),
    required: shown.filter(([, field]) => isAlwaysSet(field)).map(([name]) => name),
  }
}

/** What is sent to create or to replace a resource (SPEC §4.3–4.5). */
export function inputSchema(resource: Resource): Schema {
  const writable = Object.entries(resource.writableFields)
  const required = writable.filter(([, field]) => field.type !== 'group' && field.required)
  return objectSchema(
    [
      ...writable.map(([name, field]) => [name, inputFieldSchema(field, { patch: false })] as const),
      ...echoed(resource),
    ],
    required.map(([name]) => name),
  )
}

/** What is sent to change a resource: a JSON Merge Patch, in which null removes (SPEC §4.6). */
export function patchSchema(resource: Resource): Schema {
  const writable = Object.entries(resource.writableFields)
  return objectSchema([
    ...writable.map(([name, field]) => [name, inputFieldSchema(field, { patch: true })] as const),
    ...echoed(resource),
  ])
}

/** A representation may be sent back whole; the service keeps these members by itself. */
function echoed(resource: Resource): [string, Schema][] {
  const kept = Object.entries(resource.shownFields).filter(([, field]) => field.readOnly)
  const note = 'Kept by the service: ignored when creating, and elsewhere refused when it differs.'
  return [
    ...kept.map(([name, { description }]): [string, Schema] => [
      name,
      { type: ['string', 'null'], description: `${description} ${note}` },
    ]),
    ['_links', { type: 'object', description: 'Ignored.' }],
    ['_embedded', { type: 'object', description: 'Ignored.' }],
  ]
}

function isIdentifier({ parentField }: Resource, name: string): boolean {
  return name === 'id' || name === parentField
}

/** The links of each occasion (SPEC §2.3): exactly these relations. */
function linkSchemas(resource: Resource, resources: readonly Resource[]) {
  const { listed, replaceable } = resource
  const owned = ownedBy(resource, resources)
  const isListed = (child: Resource) => child.listed
  const lists = [
    ...owned.filter(isListed),
    ...referencesTo(resource, resources)
      .filter(({ from, leaf }) => nestedReferences(from).includes(leaf))
      .map(({ from }) => from),
  ].map(({ path }) => path)
  const singletons = owned.filter((child) => !isListed(child)).map(({ path }) => path)
  const references = relationsOf(resource, resources)
  const always = references.filter(({ leaf }) => leaf.field.required).map(({ relation }) => relation)
  const sometimes = references.filter(({ leaf }) => !leaf.field.required).map(({ relation }) => relation)
  const parent = resource.owner ? ['parent'] : []
  const collection = listed ? ['collection'] : []
  const edit = replaceable ? ['edit'] : []
  return {
    item: links(['self'], []),
    read: links(
      ['self', ...collection, ...parent, ...edit, 'delete', ...always, ...lists],
      [...sometimes, ...singletons],
    ),
    created: links(['self', ...collection, ...parent, ...always], sometimes),
    put: links(['self', ...always], sometimes),
  }
}

function links(required: readonly string[], optional: readonly string[]): Schema {
  const link = { $ref: `${SCHEMAS}Link` }
  return objectSchema(
    [...required, ...optional].map((relation) => [relation, link] as const),
    required,
  )
}
