import { type Field, fixedInitial, isAlwaysSet, kindOf } from '../../model/definition/fields.ts'
import { targetOf } from '../../model/definition/relations.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { openView, valuesIn } from '../../model/definition/views.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import { mapped } from '../../model/values.ts'
import { createHal } from '../../rest/hal.ts'
import { resourcePaths } from '../../rest/resource-operations.ts'
import { Urls } from '../../rest/urls.ts'
import { pageName, schemaName } from './resource-schemas.ts'
import type { Body } from './responses.ts'
import { type Seed, seedEntry } from './seeds.ts'

const ID = '019a3c52-7d1e-7b42-9c53-2f6f4a1d8e01'
const OTHER_ID = '019a3c52-7d1e-7b42-9c53-2f6f4a1d8e02'
const CREATED = '2031-04-05T06:07:08.900Z'

export type ResourceExamples = ReturnType<typeof resourceExamples>

/**
 * Examples, made by the code that serves real requests. They read, replace and delete resources of the catalogue and
 * create others, so that each succeeds once on a service with that catalogue.
 *
 * @param seeds a catalogue that may have been loaded into the service
 */
export function resourceExamples(
  resource: Resource,
  resources: readonly Resource[],
  seeds: readonly Seed[],
  base: string,
) {
  const seedsOf = ({ path }: Resource) => seeds.filter((seed) => seed?.collection === path)
  /** Identifiers or names of the target. */
  const referencesIn = (from: Resource, target: Resource) => {
    const leaves = from.shownLeaves.filter((leaf) => targetOf(from, leaf, resources)?.path === target.path)
    const values = seedsOf(from).flatMap((seed) => leaves.map(({ name }) => seed[name]))
    return values.filter((value) => typeof value === 'string')
  }
  const urls = new Urls(base)
  const hal = createHal(resource, resources)
  // Documents need no token, so they show no stored value of a field that needs a scope.
  const { writableFields: open } = openView(resource)
  const input = valuesIn(open, resource.example ?? mapped(open, exampleValue))
  const references = resources.flatMap((from) => referencesIn(from, resource))
  const sample = sampleOf(resource, open, seedsOf(resource), references)
  const parentId = resource.owner && (sample?.parentId ?? OTHER_ID)
  const id = sample?.id ?? (resource.kind === 'singleton' ? OTHER_ID : ID)
  const replacement = sample?.body ?? input
  const owner = resource.parentField && { [resource.parentField]: parentId }
  const data = exampleData(resource, replacement, { id, ...owner })
  const patch = examplePatch(resource, replacement)
  const created = exampleData(resource, input, { id: resource.kind === 'singleton' ? id : ID, ...owner })
  const { listed } = resource
  const name = schemaName(resource)
  const requests: Readonly<Record<string, Body>> = {
    input: [`${name}Input`, input],
    replacement: [`${name}Input`, { ...(listed && { id }), ...replacement }],
    patch: [`${name}Patch`, patch],
  }
  const schemas: Readonly<Record<string, string>> = {
    read: name,
    created: `${name}Created`,
    put: `${name}Created`,
  }
  const parents = resourcePaths(resource, resources).map(({ parent }) => parent)
  return {
    /** Of responses, by their schemas. */
    responses: {
      [name]: hal.resource(data, 'read', urls),
      [`${name}Created`]: hal.resource(created, listed ? 'created' : 'put', urls),
      ...Object.fromEntries(parents.map((parent) => [pageName(resource, parent), pageOf(parent)])),
    },
    input,
    patch,
    id,
    /** For a list of referring resources, a parent that has some. */
    parentId(parent: Resource): string {
      if (parent === resource.owner) return parentId as string
      const ids = seedsOf(parent).map(({ id }) => id)
      return referencesIn(resource, parent).find((id) => ids.includes(id)) ?? OTHER_ID
    },
    /** By its name in the record of an operation. */
    requestBody: (body: string) => requests[body] as Body,
    schemaOf: (body: string, parent: Resource | undefined) => schemas[body] ?? pageName(resource, parent),
  }

  function pageOf(parent: Resource | undefined): object {
    const one = { items: [data], page: 1, total_count: 1, has_more: false, next: null, previous: null }
    const result = { ...one, revision: '' }
    const within = parent && { resource: parent, id: OTHER_ID }
    return hal.list({ result, page: 1, parameters: { limit: DEFAULT_PAGE_SIZE }, parent: within }, urls)
  }
}

/** A resource as a GraphQL operation returns it: unset columns are null. */
function exampleData(resource: Resource, input: Values, key: Values): Values {
  const { allFields, shownFields, createdField } = resource
  const data = mapped(allFields, (field, name) => {
    if (!(name in shownFields)) return input[name] ?? OTHER_ID
    return input[name] ?? (field.type === 'group' ? null : (fixedInitial(field) ?? null))
  })
  return { ...data, ...key, [createdField]: CREATED, last_updated: CREATED, version: 1 }
}

function exampleValue(field: Field, name: string): unknown {
  return field.type === 'group' ? mapped(field.fields, exampleValue) : kindOf(field).sample(field, name, 1)
}

/** Sets one field and removes another. */
function examplePatch(resource: Resource, input: Values): Values {
  if (!resource.replaceable) return {}
  const names = Object.keys(resource.fields).filter((name) => name in input)
  const removable = names.filter((name) => !isAlwaysSet(resource.fields[name] as Field))
  const changed = names.find((name) => removable.includes(name)) ?? names.at(-1)
  const removed = removable.at(-1)
  return {
    ...(changed !== undefined && { [changed]: input[changed] }),
    ...(removed !== undefined && removed !== changed && { [removed]: null }),
  }
}

/**
 * The first resource of a collection in the catalogue, preferably one that can be deleted.
 *
 * @param references identifiers and names that other resources refer to
 */
function sampleOf(
  resource: Resource,
  fields: Resource['fields'],
  seeds: readonly Seed[],
  references: readonly string[],
) {
  const inUse = new Set(references.map((reference) => reference.toLowerCase()))
  const isInUse = (seed: Seed) =>
    Object.values(seed).some((value) => typeof value === 'string' && inUse.has(value.toLowerCase()))
  const seed = seeds.find((one) => !isInUse(one)) ?? seeds[0]
  if (!seed) return undefined
  const { id, parentId, body } = seedEntry(seed, resource)
  // The catalogue has the fields of all versions of the API.
  return { id: id as string, parentId: parentId as string | undefined, body: valuesIn(fields, body) }
}
