import { ANONYMOUS, allows, type Caller, lackOf } from '../access/caller.ts'
import { isObject, mapped } from '../values.ts'
import { defineResource } from './define-resource.ts'
import { isIn } from './domain.ts'
import { definedName, type Field, fixedInitial, inheritable, isRequired, type LeafField } from './fields.ts'
import type { Leaf, Resource, Values } from './resource.ts'

const viewsOf = new WeakMap<Resource, Map<string, Resource>>()

/** Makes a view of a resource once. */
export function remembered(resource: Resource, key: string, make: () => Resource): Resource {
  const views = viewsOf.get(resource) ?? new Map<string, Resource>()
  viewsOf.set(resource, views)
  const view = views.get(key) ?? make()
  views.set(key, view)
  return view
}

/**
 * A resource with only the fields of a version of the API. If all fields, and those of the owner, are in every version,
 * this is the resource itself.
 */
export function viewOf(resource: Resource, apiVersion: string | undefined): Resource {
  if (apiVersion === undefined) return resource
  return remembered(resource, apiVersion, () => {
    const owner = resource.owner && viewOf(resource.owner, apiVersion)
    if (!resource.hasApiVersions && owner === resource.owner) return resource
    const view = viewWith(resource, owner, (field) => {
      const { since, until, ...plain } = field
      return isIn(apiVersion, field) ? plain : undefined
    })
    return resource.hasApiVersions ? { ...view, apiVersion } : view
  })
}

/**
 * A resource with only the fields that a caller may read. Those that the caller may not write are read-only, and keep
 * their `writeScope`. If neither its fields nor those of the owner need scopes, this is the resource itself.
 */
export function viewFor(resource: Resource, caller: Caller): Resource {
  const owner = resource.owner && viewFor(resource.owner, caller)
  const { fieldScopes } = resource
  if (fieldScopes.length === 0 && owner === resource.owner) return resource
  const missing = fieldScopes.filter((scope) => !allows(caller, resource, scope))
  const variant = fieldScopes.filter((scope) => !missing.includes(scope)).join('+') || undefined
  const key = [variant, owner?.variant, caller.identity === ANONYMOUS].join('/')
  return remembered(resource, key, () => {
    const isMissing = (scope: string | undefined) => scope !== undefined && missing.includes(scope)
    const view = viewWith(resource, owner, ({ readScope, writeScope, ...plain }) => {
      if (isMissing(readScope)) return undefined
      if (!isMissing(writeScope)) return plain
      return plain.type === 'group' ? plain : { ...plain, readOnly: true, ...(writeScope && { writeScope }) }
    })
    const withheld = resource.leaves.flatMap((leaf) => {
      const scope = [leaf.field.readScope, leaf.field.writeScope].find(isMissing)
      return scope === undefined ? [] : [{ leaf, refusal: () => lackOf(`${resource.path}:${scope}`, caller) }]
    })
    return { ...view, fieldScopes: [], withheld, ...(variant !== undefined && { variant }) }
  })
}

const NO_SCOPES: Caller = { identity: '', scopes: new Set(), subject: undefined, claims: {} }

/** The view for a caller without scopes of fields. */
export function openView(resource: Resource): Resource {
  return viewFor(resource, NO_SCOPES)
}

/**
 * Refuses to use a field, or a group, that a view lacks because of its scope: in a filter, a sort, a selection.
 *
 * @throws {DomainError} ACCESS_DENIED (403), AUTHENTICATION_REQUIRED (401)
 */
export function refuseWithheld(view: Resource, name: string): void {
  const isNamed = ({ name: leafName, path, column }: Leaf) => [leafName, path[0], column].includes(name)
  const one = view.withheld?.find(({ leaf }) => isNamed(leaf))
  if (one && !view.leaves.some(isNamed)) throw one.refusal()
}

/**
 * Refuses a body with a field that the caller of a view cannot write because of its scope, whatever the value.
 *
 * @throws {DomainError} ACCESS_DENIED (403), AUTHENTICATION_REQUIRED (401)
 */
export function refuseSent(view: Resource, body: unknown): void {
  if (!isObject(body)) return
  const one = view.withheld?.find(({ leaf: { path } }) => {
    const [outer, inner] = path as [string, string?]
    const value = Object.hasOwn(body, outer) ? body[outer] : undefined
    if (inner === undefined || !(outer in view.shownFields)) return value !== undefined
    return isObject(value) && Object.hasOwn(value, inner)
  })
  if (one) throw one.refusal()
}

function viewWith(
  resource: Resource,
  owner: Resource | undefined,
  change: (field: Field) => Field | undefined,
): Resource {
  const { example, checks, hasApiVersions, ...definition } = resource
  const fields = changedFields(resource.fields, change)
  const shown = example && valuesIn(fields, example)
  const isWhole = !hasApiVersions && resource.fieldScopes.length === 0
  const view = defineResource({
    ...definition,
    fields,
    ...(owner && { owner }),
    ...(shown && { example: shown }),
    // Checks look at whole resources, so a view with fewer fields has none.
    ...(checks && isWhole && { checks }),
  })
  const columns = view.columns?.filter((name) => view.leaves.some((leaf) => leaf.name === name))
  return { ...view, hasApiVersions, ...(columns && { columns }) }
}

/** Groups without members are omitted. */
function changedFields(
  fields: Resource['allFields'],
  change: (field: Field) => Field | undefined,
): Resource['allFields'] {
  const entries = Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
    const changed = change(field)
    if (changed?.type !== 'group') return changed ? [[name, changed]] : []
    const inherited = mapped(changed.fields, (member) => ({ ...inheritable(field), ...member }) as LeafField)
    const members = changedFields(inherited, change) as Readonly<Record<string, LeafField>>
    return Object.keys(members).length > 0 ? [[name, { ...changed, fields: members }]] : []
  })
  return Object.fromEntries(entries)
}

/** The values of these fields, with the initial values of required fields that are missing. */
export function valuesIn(fields: Readonly<Record<string, Field>>, values: Values): Values {
  const named = new Map(Object.entries(fields).map(([name, field]) => [definedName(name, field), name]))
  const shown = Object.entries(values).flatMap(([defined, value]): [string, unknown][] => {
    const name = named.get(defined) ?? defined
    const field = fields[name]
    if (!field) return []
    return [[name, field.type === 'group' && isObject(value) ? valuesIn(field.fields, value) : value]]
  })
  const missing = Object.entries(fields).filter(
    ([name, field]) => isRequired(field) && !(definedName(name, field) in values) && !(name in values),
  )
  const initial = missing.flatMap(([name, field]) => {
    const value = field.type === 'group' ? valuesIn(field.fields, {}) : fixedInitial(field)
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries([...shown, ...initial])
}
