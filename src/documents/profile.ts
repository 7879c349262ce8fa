import { MAXIMUM_JSON_BYTES } from '../http/json.ts'
import { linkedFrom, ownedBy, referencesTo, targetOf } from '../model/definition/relations.ts'
import type { Leaf, Resource } from '../model/definition/resource.ts'
import { nameField } from '../model/definition/titles.ts'
import { DEFAULT_PAGE_SIZE, queryable, sortable } from '../model/query/query.ts'
import { searchable } from '../model/query/search.ts'
import { patch } from '../rest/operations/patch.ts'
import { MEDIA_TYPES } from '../rest/respond.ts'
import type { RestSettings } from '../rest/urls.ts'
import type { Schema } from './openapi/field-schema.ts'
import { inputSchema, patchSchema, representationSchema } from './openapi/resource-schemas.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** The policies are those where the specification leaves a choice (SPEC §3, §4.4–4.7, §8). */
export function profileOf(
  resource: Resource,
  resources: readonly Resource[],
  settings: RestSettings,
): Schema {
  const { listed, replaceable } = resource
  const { maximumPageSize, unknownFields } = settings
  const references = resource.shownLeaves.flatMap((leaf) => {
    const target = targetOf(resource, leaf, resources)
    return target ? [[leaf.name, target]] : []
  })
  const { references: referred, children, filtered } = linkedFrom(resource, resources)
  const related = [
    ...referred.map(({ relation, target }) => [relation, nameField(target)]),
    ...[...children, ...filtered].map(({ relation, child }) => [relation, nameField(child)]),
  ]
  const forForms = { ...settings, marksReadOnly: true }
  const unknown = unknownFields === 'ignore' ? 'ignored' : 400
  return {
    title: resource.name,
    description: resource.description,
    name_field: nameField(resource),
    ...(resource.columns && { columns: resource.columns }),
    references: Object.fromEntries(references),
    related: Object.fromEntries(related),
    schema: { $schema: DIALECT, title: resource.name, ...representationSchema(resource) },
    input: { $schema: DIALECT, title: `${resource.name} input`, ...inputSchema(resource, forForms) },
    ...(replaceable && {
      patch: { $schema: DIALECT, title: `${resource.name} patch`, ...patchSchema(resource, forForms) },
    }),
    policies: {
      scopes: { read: `${resource.path}:read`, write: `${resource.path}:write`, write_includes_read: false },
      ...(listed && { paging: pagingPolicy(resource, maximumPageSize) }),
      create: createPolicy(resource),
      replace: replaceable
        ? { method: 'PUT', omitted_fields: 'cleared', read_only_fields: 'ignored when equal, otherwise 400' }
        : 'not possible',
      patch: replaceable ? { method: 'PATCH', media_types: patch.body?.types } : 'not possible',
      delete: { ...DELETE_POLICY, also_deletes: deletedWith(resource, resources) },
      preconditions: PRECONDITIONS,
      body: { media_types: MEDIA_TYPES, maximum_bytes: MAXIMUM_JSON_BYTES, unknown_fields: unknown },
      null_links: { 'application/json': 'null', 'application/hal+json': 'omitted' },
    },
  }
}

/** The relations of resources that are deleted with one, as its links name them. */
function deletedWith(resource: Resource, resources: readonly Resource[]): string[] {
  const cascading = referencesTo(resource, resources).filter(
    ({ from, leaf }) => from.kind === 'collection' && leaf.field.onDelete === 'cascade',
  )
  return [...ownedBy(resource, resources).map(({ path }) => path), ...cascading.map(({ inverse }) => inverse)]
}

function pagingPolicy(resource: Resource, maximumPageSize: number): Schema {
  const namesOf = (leaves: readonly Leaf[]) => leaves.map(({ name }) => name)
  return {
    first_page: 1,
    default_limit: Math.min(DEFAULT_PAGE_SIZE, maximumPageSize),
    maximum_limit: maximumPageSize,
    default_order: [`${resource.createdField}:asc`, 'id:asc'],
    unset_values: 'last',
    past_the_last_page: 'an empty page with status 200',
    sort: namesOf(sortable(resource.shownLeaves)),
    filter: namesOf(queryable(resource.shownLeaves)),
    search: namesOf(searchable(resource)),
  }
}

function createPolicy(resource: Resource): Schema {
  const { listed, replaceable } = resource
  const identifiers = resource.randomIdentifiers ? 'random UUID' : 'UUID ordered by time'
  return {
    post: listed
      ? { identifier: identifiers, id_in_body: 'ignored; 409 when a resource has it' }
      : 'not possible',
    put: replaceable
      ? {
          requires_id_in_body: listed,
          without_it: listed ? 404 : 201,
          if_none_match_any: 'creates only, also without the id; 412 when it exists',
        }
      : 'not possible',
  }
}

const DELETE_POLICY = {
  absent: 204,
  absent_with_strict_handling: [404, 410],
  read_after_delete: 410,
  may_be_created_again: true,
  referred_to: 409,
}

const PRECONDITIONS = {
  entity_tags: 'strong',
  if_match: { methods: ['PUT', 'PATCH', 'DELETE'], required: false, mismatch: 409 },
  if_none_match: { methods: ['GET', 'HEAD'], match: 304 },
  if_none_match_of_writes: { methods: ['PUT', 'PATCH', 'DELETE'], match: 412 },
  if_unmodified_since: { methods: ['PUT', 'PATCH', 'DELETE'], mismatch: 409 },
  if_modified_since: { methods: ['GET', 'HEAD'], match: 304 },
  without_if_match: 'the last write wins',
}
