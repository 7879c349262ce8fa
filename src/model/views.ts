import { isIn } from './domain.ts'
import { type Field, fixedInitial, isRequired, type LeafField } from './fields.ts'
import { defineResource, type Resource, type Values } from './resource.ts'
import { isObject } from './values.ts'

const known = new WeakMap<Resource, Map<string, Resource>>()

/**
 * A resource with only the fields of a version of the API. If all fields, and those of the owner, are in every version,
 * this is the resource itself.
 */
export function viewOf(resource: Resource, version: string | undefined): Resource {
  if (version === undefined) return resource
  const views = known.get(resource) ?? new Map<string, Resource>()
  known.set(resource, views)
  const view = views.get(version) ?? makeView(resource, version)
  views.set(version, view)
  return view
}

function makeView(resource: Resource, version: string): Resource {
  const { owner, example, checks, ...definition } = resource
  const viewedOwner = owner && viewOf(owner, version)
  if (!resource.isVersioned && viewedOwner === owner) return resource
  const fields = fieldsIn(version, resource.fields) as Resource['fields']
  const shown = example && valuesIn(fields, example)
  const view = defineResource({
    ...definition,
    fields,
    ...(viewedOwner && { owner: viewedOwner }),
    ...(shown && { example: shown }),
    // Checks look at whole resources, so a view with fewer fields has none.
    ...(checks && !resource.isVersioned && { checks }),
  })
  return resource.isVersioned ? { ...view, isVersioned: true, apiVersion: version } : view
}

/** The fields of a version, without `since` and `until`. Groups without members in it are omitted. */
function fieldsIn(version: string, fields: Readonly<Record<string, Field>>): Readonly<Record<string, Field>> {
  const shown = Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
    if (!isIn(version, field)) return []
    const { since, until, ...plain } = field
    if (plain.type !== 'group') return [[name, plain]]
    const members = fieldsIn(version, plain.fields) as Readonly<Record<string, LeafField>>
    return Object.keys(members).length > 0 ? [[name, { ...plain, fields: members }]] : []
  })
  return Object.fromEntries(shown)
}

/** The values of these fields, with the initial values of required fields that are missing. */
export function valuesIn(fields: Readonly<Record<string, Field>>, values: Values): Values {
  const shown = Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
    const field = fields[name]
    if (!field) return []
    return [[name, field.type === 'group' && isObject(value) ? valuesIn(field.fields, value) : value]]
  })
  const missing = Object.entries(fields).filter(([name, field]) => isRequired(field) && !(name in values))
  const initial = missing.flatMap(([name, field]) => {
    const value = fixedInitial(field)
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries([...shown, ...initial])
}
