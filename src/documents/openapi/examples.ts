import { OPERATOR } from '../../model/caller.ts'
import { type Field, isAlwaysSet, kindOf } from '../../model/fields.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { createForms, type Templates } from '../../rest/forms.ts'
import { createHal, type Occasion } from '../../rest/hal.ts'
import { Urls } from '../../rest/urls.ts'
import { parentOf, type Seed, sampleOf } from './samples.ts'

/** The examples of a resource, made by the code that serves real requests. */
export interface ResourceExamples {
  readonly input: Values
  /** The body that replaces the resource with the identifier. */
  readonly replacement: Values
  readonly patch: Values
  readonly id: string
  /** A parent for a path; for a list of referring resources, one that has some. */
  parentId(parent: Resource): string
  representation(occasion: Occasion): object
  /** A page with one item; within a parent if the list has one. */
  page(parent: Resource | undefined): object
  /** For a caller with all scopes. */
  readonly templates: Templates
  listTemplates(parent: Resource | undefined): Templates
}

const ID = '019a3c52-7d1e-7b42-9c53-2f6f4a1d8e01'
const OTHER_ID = '019a3c52-7d1e-7b42-9c53-2f6f4a1d8e02'
const CREATED = '2031-04-05T06:07:08.900Z'

/** The definitions, and a catalogue that may have been loaded into the service. */
export interface ExampleSource {
  readonly resources: readonly Resource[]
  readonly seeds: readonly Seed[]
  /** The beginning of links. */
  readonly base: string
}

/**
 * Makes the examples of a resource. Requests read, replace and delete what is in the catalogue, and create what is not,
 * so that every example succeeds once on a service with that catalogue.
 */
export function resourceExamples(
  resource: Resource,
  { resources, seeds, base }: ExampleSource,
): ResourceExamples {
  const urls = new Urls(base)
  const hal = createHal(resource, resources)
  const forms = createForms(resource, resources)
  const input = resource.example ?? exampleInput(resource)
  const sample = sampleOf(resource, resources, seeds)
  const parentId = resource.owner && (sample?.parentId ?? OTHER_ID)
  const id = sample?.id ?? (resource.kind === 'singleton' ? OTHER_ID : ID)
  const replacement = sample?.body ?? input
  const data = exampleData(resource, replacement, { id, parentId })
  const newId = resource.kind === 'singleton' ? id : ID
  const created = exampleData(resource, input, { id: newId, parentId })
  return {
    input,
    replacement,
    patch: examplePatch(resource, replacement),
    id,
    parentId: (parent) =>
      parent === resource.owner ? (parentId as string) : (parentOf(parent, resource, seeds) ?? OTHER_ID),
    templates: forms.resource(OPERATOR, data, urls),
    listTemplates: (parent) => forms.list(OPERATOR, parent && { resource: parent, id: OTHER_ID }, urls),
    representation: (occasion) => hal.resource(occasion === 'read' ? data : created, occasion, urls),
    page: (parent) =>
      hal.list(
        {
          result: { items: [data], page: 1, total_count: 1, has_more: false, next: null, previous: null },
          page: 1,
          parameters: { limit: DEFAULT_PAGE_SIZE, filters: [] },
          parent: parent && { resource: parent, id: OTHER_ID },
        },
        urls,
      ),
  }
}

/** The result of an operation for a resource: unset columns are null. */
function exampleData(resource: Resource, input: Values, key: { id: string; parentId?: string | undefined }) {
  const data: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(resource.allFields)) {
    data[name] = input[name] ?? (name in resource.shownFields ? keptValue(field) : OTHER_ID)
  }
  const { parentField, createdField } = resource
  return {
    ...data,
    id: key.id,
    ...(parentField && { [parentField]: key.parentId }),
    [createdField]: CREATED,
    last_updated: CREATED,
    version: 1,
  } as Values
}

function keptValue(field: Field): unknown {
  return field.type === 'group' ? null : (field.initially ?? null)
}

/** A body for a definition without an example: a value for every writable field. */
function exampleInput(resource: Resource): Values {
  const writable = Object.entries(resource.writableFields)
  return Object.fromEntries(writable.map(([name, field]) => [name, exampleValue(name, field)]))
}

function exampleValue(name: string, field: Field): unknown {
  if (field.type !== 'group') return kindOf(field).sample(field, name, 1)
  return Object.fromEntries(
    Object.entries(field.fields).map(([member, leaf]) => [member, kindOf(leaf).sample(leaf, member, 1)]),
  )
}

/** Changes one set field and removes another that is optional. */
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
