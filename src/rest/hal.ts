import type { Field } from '../model/fields.ts'
import { keyOf } from '../model/identifiers.ts'
import { ownedBy, referencesTo, relationsOf } from '../model/relations.ts'
import { identifierField, type Resource, type Values } from '../model/resource.ts'
import type { ListParameters, Urls } from './urls.ts'

export interface Link {
  readonly href: string
  readonly templated?: true
}

export type Links = Readonly<Record<string, Link | null>>

/** Where a representation appears; each occasion has its own links (SPEC §2.3). */
export type Occasion = 'item' | 'read' | 'created' | 'put'

/** Makes HAL documents of data that is already in wire names (SPEC §2.2, §2.3; draft-kelly-json-hal). */
export interface Hal {
  resource(data: Values, occasion: Occasion, urls: Urls): object
  list(list: ListData, urls: Urls): object
}

/** A page of a list, with the parameters of its request. */
export interface ListData {
  /** The result of the GraphQL operation: `items`, `page`, `total_count`, `has_more`, and the cursors `next` and `previous`. */
  readonly result: Values
  readonly page: number
  readonly parameters: ListParameters
  readonly parent: { readonly resource: Resource; readonly id: string } | undefined
}

/** Makes the representations of a resource. What follows from its definition is computed once. */
export function createHal(resource: Resource, resources: readonly Resource[]): Hal {
  const represent = createRepresent(resource)
  const references = relationsOf(resource, resources)
  const owned = ownedBy(resource, resources)
  const referring = referencesTo(resource, resources).filter(({ from }) => from.kind === 'collection')
  const nested = referring.filter(({ leaf }) => leaf.field.nested)
  const filtered = referring.filter(({ leaf }) => !leaf.field.nested)
  const children = [...owned, ...nested.map(({ from }) => from)]
  const { replaceable, listed } = resource

  function addReferences(links: Record<string, Link>, data: Values, urls: Urls): void {
    for (const { relation, leaf, target } of references) {
      const id = data[leaf.column] as string | null
      if (id !== null) links[relation] = { href: urls.resource(target, { id }) }
    }
  }

  /** Unset singletons are linked too: setting one does not change the entity tag of the parent. */
  function addChildren(links: Record<string, Link>, self: string): void {
    for (const { path } of children) links[path] = { href: `${self}/${path}` }
  }

  /** The resources that refer to it, by the second access path (SPEC §2.5.3). */
  function addReferring(links: Record<string, Link>, id: string, urls: Urls): void {
    for (const { from, leaf } of filtered) {
      const collection = urls.collection(from, undefined)
      links[from.path] = { href: `${collection}?filter=${leaf.name}:${encodeURIComponent(id)}` }
    }
  }

  function links(data: Values, occasion: Occasion, urls: Urls): Links {
    const key = keyOf(resource, data)
    const self = { href: urls.resource(resource, key) }
    const links: Record<string, Link> = { self }
    if (occasion === 'item') return links
    const { owner } = resource
    if (occasion !== 'put' && listed) links['collection'] = { href: urls.collection(resource, key.parentId) }
    if (occasion !== 'put' && owner) {
      links['parent'] = { href: urls.resource(owner, { id: key.parentId as string }) }
    }
    if (occasion === 'read' && replaceable) links['edit'] = self
    if (occasion === 'read') links['delete'] = self
    addReferences(links, data, urls)
    if (occasion === 'read') {
      addChildren(links, self.href)
      addReferring(links, key.id, urls)
    }
    return links
  }

  const represented: Hal['resource'] = (data, occasion, urls) => represent(data, links(data, occasion, urls))

  return {
    resource: represented,
    list(list, urls) {
      const { result, parameters, parent } = list
      const count = result['total_count'] as number
      const totalPages = Math.ceil(count / parameters.limit)
      const items = result['items'] as Values[]
      return {
        _links: listLinks(resource, list, totalPages, urls),
        ...(parent && { [identifierField(parent.resource)]: parent.id }),
        page: result['page'],
        limit: parameters.limit,
        total_pages: totalPages,
        total_count: count,
        has_more: result['has_more'],
        _embedded: { [resource.path]: items.map((item) => represented(item, 'item', urls)) },
      }
    },
  }
}

function listLinks(resource: Resource, list: ListData, totalPages: number, urls: Urls): Links {
  const { result, parameters, parent } = list
  const page = result['page'] as number
  const parentHref = parent && urls.resource(parent.resource, parent)
  const collection = parentHref ? `${parentHref}/${resource.path}` : urls.collection(resource, undefined)
  const last = Math.max(totalPages, 1)
  const link = (number: number, cursor?: unknown): Link => ({
    href: urls.page(collection, number, {
      ...parameters,
      cursor: (cursor ?? undefined) as string | undefined,
    }),
  })
  const before = result['previous'] ? Math.max(page - 1, 1) : Math.min(page - 1, last)
  return {
    self: link(list.page, parameters.cursor),
    first: link(1),
    last: link(last),
    next: result['has_more'] ? link(page + 1, result['next']) : null,
    prev: page > 1 || result['previous'] ? link(before, result['previous']) : null,
    find: { href: `${collection}{?id}`, templated: true },
    ...(parentHref && { parent: { href: parentHref } }),
  }
}

/** Makes the representation of a resource, from its data in wire names and its links. */
type Represent = (data: Values, links: Links) => object

/**
 * Makes the function that picks the visible fields in the order of the definition (SPEC §2.1). Unset ones are undefined,
 * which JSON omits.
 */
export function createRepresent({ shownFields }: Resource): Represent {
  const membersOf = picker(shownFields)
  return (data, links) => {
    const members = membersOf(data)
    members['_links'] = links
    return members
  }
}

/** All results have the same members in the same order, so V8 gives them one shape. */
function picker(fields: Readonly<Record<string, Field>>): (data: Values) => Record<string, unknown> {
  const members = Object.entries(fields).map(([name, field]) => ({
    name,
    pickGroup: field.type === 'group' ? picker(field.fields) : undefined,
  }))
  return (data) => {
    const picked: Record<string, unknown> = {}
    for (const { name, pickGroup } of members) {
      const value = data[name] ?? undefined
      picked[name] = value && pickGroup ? pickGroup(value as Values) : value
    }
    return picked
  }
}
