import { identifierField, type Resource } from '../../../domain/model/resource.ts'
import { IDENTIFIER, objectSchema, type Schema } from './field-schema.ts'
import { SCHEMAS, schemaNames } from './resource-schemas.ts'

/** The names of the schemas of a list, as `application/json` and as `application/hal+json`. */
export function pageNames(resource: Resource, parent: Resource | undefined) {
  const name = `${parent?.name ?? ''}${resource.name}`
  return { json: `${name}Page`, hal: `${name}HalPage` }
}

/**
 * The schemas of a list (SPEC §2.2). The two media types differ in one thing: a link that is not there is
 * null in the one and left out in the other.
 */
export function pageSchemas(resource: Resource, parent: Resource | undefined): Record<string, Schema> {
  const names = pageNames(resource, parent)
  return {
    [names.json]: pageSchema(resource, parent, false),
    [names.hal]: pageSchema(resource, parent, true),
  }
}

function pageSchema(resource: Resource, parent: Resource | undefined, hal: boolean): Schema {
  const count: Schema = { type: 'integer', minimum: 0 }
  const parentField = parent && identifierField(parent)
  const members: [string, Schema][] = [
    ['_links', linkSchema(parent, hal)],
    ...(parentField
      ? [[parentField, { ...IDENTIFIER, description: 'The parent.' }] as [string, Schema]]
      : []),
    ['page', { type: 'integer', minimum: 1, description: 'The number of this page, from 1.' }],
    ['limit', { type: 'integer', minimum: 1, description: 'Items per page.' }],
    ['total_pages', { ...count, description: 'Pages there are; 0 when the list is empty.' }],
    ['total_count', { ...count, description: 'Items on all pages together.' }],
    ['has_more', { type: 'boolean', description: 'Whether there is a next page.' }],
    ['_embedded', embedded(resource)],
  ]
  const schema = objectSchema(
    members,
    members.map(([name]) => name),
  )
  return { ...schema, description: `A page of ${resource.path}.` }
}

function embedded(resource: Resource): Schema {
  const items = { $ref: SCHEMAS + schemaNames(resource).item }
  return objectSchema([[resource.path, { type: 'array', items }]], [resource.path])
}

function linkSchema(parent: Resource | undefined, hal: boolean): Schema {
  const link: Schema = { $ref: `${SCHEMAS}Link` }
  const perhaps = hal ? link : { oneOf: [link, { type: 'null' }] }
  const always = ['self', 'first', 'last', ...(hal ? [] : ['next', 'prev']), 'find']
  return objectSchema(
    [
      ['self', link],
      ['first', link],
      ['last', link],
      ['next', perhaps],
      ['prev', perhaps],
      ['find', { $ref: `${SCHEMAS}TemplatedLink` }],
      ...(parent ? [['parent', link] as const] : []),
    ],
    [...always, ...(parent ? ['parent'] : [])],
  )
}
