import type { Parent } from '../domain/session/reader.ts'
import { allows, type Caller } from '../model/access/caller.ts'
import { fixedInitial, kindOf } from '../model/definition/fields.ts'
import { ownedBy } from '../model/definition/relations.ts'
import type { Leaf, Resource, Values } from '../model/definition/resource.ts'
import { nameField } from '../model/definition/titles.ts'
import { valueAt } from '../model/rows/columns.ts'
import { keyOf } from '../model/rows/identifiers.ts'
import { type Form, hasOperation, type ResourceOperation } from './operation.ts'
import type { Urls } from './urls.ts'

/** https://rwcbook.github.io/hal-forms/ */
export const HAL_FORMS = 'application/prs.hal-forms+json'

/** Templates by key; `default` is the one that clients use without a key. */
export type Templates = Readonly<Record<string, object>>

/** The templates are limited to the scopes of the caller. */
export function createForms(
  resource: Resource,
  resources: readonly Resource[],
  operations: readonly ResourceOperation[],
) {
  /** The requests that a client can make (HAL-FORMS, template element). */
  function offered(on: Form['on'], of = resource) {
    const available = operations.filter((operation) => hasOperation(of, operation))
    const offers = available.flatMap(({ method, body, forms = [] }) =>
      forms
        .filter((form) => form.on === on)
        .map((form) => ({ method, body, leaves: leavesOf(of, form), ...form })),
    )
    return (caller: Caller, data: Values, target: string, urls: Urls): Templates => {
      if (!allows(caller, of, 'write')) return {}
      const entries = offers.map(({ key = of.path, title, method, body, leaves, contentType, fields }) => {
        const all = leaves.map((leaf) => formProperty(leaf, data, urls, resources))
        const properties = fields === 'optional' ? all.map(({ required, ...property }) => property) : all
        const type = body && { contentType: contentType ?? body.types[0] }
        return [key, { title: title(of), method, target, ...type, properties }]
      })
      return Object.fromEntries(entries)
    }
  }

  const [onList, onResource] = [offered('list'), offered('resource')]
  const singletons = ownedBy(resource, resources).filter(({ kind }) => kind === 'singleton')
  const onOwner = singletons.map((singleton) => ({ singleton, offer: offered('owner', singleton) }))

  return {
    /** Distinguishes the representations with templates of callers with other scopes of fields. */
    variant: singletons.flatMap(({ variant }) => variant ?? []).join('+') || undefined,

    /** The reference to the parent is filled in. */
    list(caller: Caller, { id, column }: Partial<Parent> = {}, urls: Urls): Templates {
      const target = urls.collection(resource, column === undefined ? id : undefined)
      return onList(caller, column === undefined ? {} : referenceValue(resource, column, id), target, urls)
    },

    resource(caller: Caller, data: Values, urls: Urls): Templates {
      const id = data['id'] as string
      const form = onResource(caller, data, urls.resource(resource, keyOf(resource, data)), urls)
      const owned = onOwner.map(({ singleton, offer }) =>
        offer(caller, {}, urls.resource(singleton, { parentId: id, id }), urls),
      )
      return Object.assign(form, ...owned)
    },
  }
}

/** The identifiers are in the URL. */
function leavesOf({ shownLeaves, writable, parentField }: Resource, { fields }: Form): readonly Leaf[] {
  if (fields !== 'all') return fields === 'none' ? [] : writable
  // A view keeps the scope of a field that its caller cannot write, and must not send.
  return shownLeaves.filter(
    ({ name, field }) => name !== 'id' && name !== parentField && !(field.readOnly && field.writeScope),
  )
}

/** A property of a template (HAL-FORMS, property element). Its name is the path of a member: `range.min`. */
function formProperty(leaf: Leaf, data: Values, urls: Urls, resources: readonly Resource[]) {
  const { name, label, field } = leaf
  const kind = kindOf(field)
  const { choices, ...control } = kind.control(field)
  const stored = valueAt(data, leaf)
  const value = stored ?? fixedInitial(field)
  const isLinked = field.type === 'reference' && !field.readOnly
  const allowed = kind.choicesAfter?.(field, stored)
  const inline = choices?.filter(
    (choice) => !allowed || allowed.includes(typeof choice === 'string' ? choice : choice.value),
  )
  const offered = isLinked ? linkedOptions(field.to, urls, resources) : inline && { inline }
  const number = { minItems: field.required ? 1 : 0, maxItems: 1 }
  // For clients that ignore `value` beside options. Some send it as a list, so an initial value, which need not be sent, is
  // not selected.
  const selected = stored !== undefined && { selectedValues: [stored] }
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

function referenceValue(resource: Resource, column: string, id: string | undefined): Values {
  const leaf = resource.writable.find(
    ({ column: leafColumn, field }) =>
      leafColumn === column || ('alsoMatches' in field && field.alsoMatches === column),
  )
  return leaf ? { [leaf.name]: id } : {}
}

/** Distinguishes representations with different templates in entity tags; undefined without templates. */
export function variantOf(templates: Templates): string | undefined {
  return Object.keys(templates).join('+') || undefined
}
