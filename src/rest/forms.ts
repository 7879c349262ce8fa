import type { Parent } from '../graph/execution/context.ts'
import { allows, type Caller } from '../model/caller.ts'
import { kindOf } from '../model/fields.ts'
import { keyOf } from '../model/identifiers.ts'
import { noun, nounWithArticle } from '../model/labels.ts'
import { listColumn, nameField, ownedBy } from '../model/relations.ts'
import type { Leaf, Resource, Values } from '../model/resource.ts'
import { valueAt } from '../model/rows.ts'
import type { Urls } from './urls.ts'

/** https://rwcbook.github.io/hal-forms/ */
export const HAL_FORMS = 'application/prs.hal-forms+json'

/** Templates by key; `default` is the one that clients use without a key. */
export type Templates = Readonly<Record<string, object>>

/** The templates are limited to the scopes of the caller. */
export function createForms(resource: Resource, resources: readonly Resource[]) {
  const { parentField, replaceable, writable } = resource
  // The identifiers are in the URL.
  const kept = resource.shownLeaves.filter(({ name }) => name !== 'id' && name !== parentField)
  const singletons = ownedBy(resource, resources).filter(({ kind }) => kind === 'singleton')
  const propertiesOf = (leaves: readonly Leaf[], data: Values, urls: Urls) =>
    leaves.map((leaf) => formProperty(leaf, data, urls, resources))

  /** The reference to the parent is filled in. */
  function list(caller: Caller, parent: Parent | undefined, urls: Urls): Templates {
    if (!allows(caller, resource, 'write')) return {}
    const isOwner = parent?.resource === resource.owner
    const target = urls.collection(resource, isOwner ? parent?.id : undefined)
    const data = parent && !isOwner ? referenceValue(resource, parent) : {}
    const properties = propertiesOf(writable, data, urls)
    return { default: template(`Create ${nounWithArticle(resource)}`, 'POST', target, properties) }
  }

  function one(caller: Caller, data: Values, urls: Urls): Templates {
    const target = urls.resource(resource, keyOf(resource, data))
    const id = data['id'] as string
    const name = noun(resource)
    const optional = propertiesOf(writable, data, urls).map(({ required, ...property }) => property)
    const own = {
      ...(replaceable && {
        default: template(`Replace the ${name}`, 'PUT', target, propertiesOf(kept, data, urls)),
        patch: template(`Update the ${name}`, 'PATCH', target, optional, 'application/merge-patch+json'),
      }),
      delete: { title: `Delete the ${name}`, method: 'DELETE', target, properties: [] },
    }
    const settable = singletons.filter((singleton) => allows(caller, singleton, 'write'))
    const set = settable.map((singleton) => {
      const at = urls.resource(singleton, { parentId: id, id })
      const properties = propertiesOf(singleton.writable, {}, urls)
      return [singleton.path, template(`Set the ${noun(singleton)}`, 'PUT', at, properties)]
    })
    return { ...(allows(caller, resource, 'write') && own), ...Object.fromEntries(set) }
  }

  return { list, resource: one }
}

/** A request that a client can make (HAL-FORMS, template element). */
function template(
  title: string,
  method: 'POST' | 'PUT' | 'PATCH',
  target: string,
  properties: readonly object[],
  contentType = 'application/json',
) {
  return { title, method, target, contentType, properties }
}

/** A property of a template (HAL-FORMS, property element). Its name is the path of a member: `range.min`. */
function formProperty(leaf: Leaf, data: Values, urls: Urls, resources: readonly Resource[]) {
  const { name, label, field } = leaf
  const kind = kindOf(field)
  const { choices, ...control } = kind.control(field)
  const value = valueAt(data, leaf)
  const isLinked = field.type === 'reference' && !field.readOnly
  const inline = kind.choicesAfter?.(field, value) ?? choices
  const offered = isLinked ? linkedOptions(field.to, urls, resources) : inline && { inline }
  const number = { minItems: field.required ? 1 : 0, maxItems: 1 }
  // For clients that ignore `value` beside options.
  const selected = value !== undefined && { selectedValues: [value] }
  return {
    name,
    prompt: label,
    ...(field.required && !field.readOnly && { required: true }),
    ...(field.readOnly && { readOnly: true }),
    ...control,
    ...(offered && { options: { ...offered, ...number, ...selected } }),
    ...(value !== undefined && { value }),
  }
}

/** A link to the list of the values to choose from (HAL-FORMS, options element). */
function linkedOptions(path: string, urls: Urls, resources: readonly Resource[]) {
  const target = resources.find((resource) => resource.path === path) as Resource
  const link = { href: urls.collection(target, undefined), type: 'application/hal+json' }
  return { link, promptField: nameField(target), valueField: 'id' }
}

function referenceValue(resource: Resource, parent: Parent): Values {
  const column = listColumn(parent.resource, resource)
  const leaf = resource.writable.find(
    ({ column: own, field }) => own === column || ('alsoMatches' in field && field.alsoMatches === column),
  )
  return leaf ? { [leaf.name]: parent.id } : {}
}

/** Distinguishes representations with different templates in entity tags; undefined without templates. */
export function variantOf(templates: Templates): string | undefined {
  return Object.keys(templates).join('+') || undefined
}
