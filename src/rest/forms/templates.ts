import { allows } from '../../model/authorize.ts'
import type { Caller } from '../../model/caller.ts'
import { keyOf } from '../../model/identifiers.ts'
import { listColumn, ownedBy } from '../../model/relations.ts'
import type { Leaf, Resource, Values } from '../../model/resource.ts'
import { noun, nounWithArticle } from '../nouns.ts'
import type { Urls } from '../urls.ts'
import { type FormProperty, formProperty, type MakeProperty } from './properties.ts'

/** The media type of HAL documents with templates (https://rwcbook.github.io/hal-forms/). */
export const HAL_FORMS = 'application/prs.hal-forms+json'

/** A request that a client can make (HAL-FORMS, template element). */
interface Template {
  readonly title: string
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly target: string
  readonly contentType?: string
  readonly properties: readonly FormProperty[]
}

/** Templates by key; `default` is the one that clients use without a key. */
export type Templates = Readonly<Record<string, Template>>

/** Makes the templates of a resource that the scopes of the caller permit. */
export interface Forms {
  /** For a list: creation, with the reference to its parent. */
  list(caller: Caller, parent: { resource: Resource; id: string } | undefined, urls: Urls): Templates
  /** For one resource: replacement, update, deletion, and setting its singletons. */
  resource(caller: Caller, data: Values, urls: Urls): Templates
}

const JSON_TYPE = 'application/json'
const PATCH_TYPE = 'application/merge-patch+json'

export function createForms(resource: Resource, resources: readonly Resource[]): Forms {
  const properties = (of: Resource) => propertiesOf(of.writable, resources)
  const writable = properties(resource)
  const shown = propertiesOf(keptLeaves(resource), resources)
  const optional = writable.map(
    (make): MakeProperty =>
      (urls) => {
        const { required, ...property } = make(urls)
        return property
      },
  )
  const singletons = ownedBy(resource, resources)
    .filter(({ kind }) => kind === 'singleton')
    .map((singleton) => ({ singleton, makers: properties(singleton) }))

  return {
    list(caller, parent, urls) {
      if (!allows(caller, resource, 'write')) return {}
      const isOwner = parent?.resource === resource.owner
      const target = urls.collection(resource, isOwner ? parent?.id : undefined)
      const value = parent && !isOwner ? referenceValue(resource, parent) : {}
      const title = `Create ${nounWithArticle(resource)}`
      return {
        default: {
          title,
          method: 'POST',
          target,
          contentType: JSON_TYPE,
          properties: writable.map((make) => withValue(make(urls), value)),
        },
      }
    },

    resource(caller, data, urls) {
      const target = urls.resource(resource, keyOf(resource, data))
      const filled = (makers: readonly MakeProperty[]) => makers.map((make) => withValue(make(urls), data))
      const name = noun(resource)
      const remove: Template = { title: `Delete the ${name}`, method: 'DELETE', target, properties: [] }
      const put = { title: `Replace the ${name}`, contentType: JSON_TYPE, properties: filled(shown) }
      const patch = { title: `Update the ${name}`, contentType: PATCH_TYPE, properties: filled(optional) }
      const set = singletons
        .filter(({ singleton }) => allows(caller, singleton, 'write'))
        .map(({ singleton, makers }) => [
          singleton.path,
          {
            title: `Set the ${noun(singleton)}`,
            method: 'PUT',
            target: urls.resource(singleton, { parentId: data['id'] as string, id: data['id'] as string }),
            contentType: JSON_TYPE,
            properties: makers.map((make) => make(urls)),
          },
        ])
      return {
        ...(allows(caller, resource, 'write') && {
          ...(resource.replaceable && {
            default: { method: 'PUT', target, ...put },
            patch: { method: 'PATCH', target, ...patch },
          }),
          delete: remove,
        }),
        ...Object.fromEntries(set),
      }
    },
  }
}

function propertiesOf(leaves: readonly Leaf[], resources: readonly Resource[]): MakeProperty[] {
  return leaves.map((leaf) => formProperty(leaf, resources))
}

/** All fields except the identifiers, which are in the URL. */
function keptLeaves({ shownLeaves, parentField }: Resource): Leaf[] {
  return shownLeaves.filter(({ name }) => name !== 'id' && name !== parentField)
}

/** The parent as the value of the field that refers to it. */
function referenceValue(resource: Resource, parent: { resource: Resource; id: string }): Values {
  const column = listColumn(parent.resource, resource)
  const leaf = resource.writable.find(
    ({ column: own, field }) => own === column || ('alsoMatches' in field && field.alsoMatches === column),
  )
  return (leaf ? { [leaf.name]: parent.id } : {}) as Values
}

function withValue(property: FormProperty, data: Values): FormProperty {
  const value = property.name.split('.').reduce<unknown>((inner, name) => (inner as Values)?.[name], data)
  if (value === null || value === undefined) return property
  const { options } = property
  return { ...property, ...(options && { options: { ...options, selectedValues: [value] } }), value }
}

/** Distinguishes representations with different templates in entity tags; undefined without templates. */
export function variantOf(templates: Templates): string | undefined {
  const keys = Object.keys(templates)
  return keys.length === 0 ? undefined : keys.join('+')
}
