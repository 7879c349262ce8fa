import type { Field } from '../model/fields.ts'
import { keyOf } from '../model/identifiers.ts'
import { ownedBy, referencesTo, relationsOf } from '../model/relations.ts'
import { identifierField, type Resource, type Values } from '../model/resource.ts'
import type { ListParameters, Urls } from './urls.ts'

interface Link {
  readonly href: string
  readonly templated?: true
}

type Links = Readonly<Record<string, Link | null>>

/** Where a representation appears; each occasion has its own links (SPEC §2.3). */
export type Occasion = 'item' | 'read' | 'created' | 'put'

/** A page of a list, with the parameters of its request. */
export interface ListData {
  /** The result of the GraphQL operation, with the cursors of the neighbouring pages. */
  readonly result: {
    readonly items: readonly Values[]
    readonly page: number
    readonly total_count: number
    readonly has_more: boolean
    readonly next: string | null
    readonly previous: string | null
  }
  readonly page: number
  readonly parameters: ListParameters
  readonly parent: { readonly resource: Resource; readonly id: string } | undefined
}

/**
 * Makes the functions that turn data in wire names into HAL documents (SPEC §2.2, §2.3; draft-kelly-json-hal). What
 * follows from the definition is computed once.
 */
export function createHal(resource: Resource, resources: readonly Resource[]) {
  const { owner, replaceable, listed, path, shownFields } = resource
  const membersOf = picker(shownFields)
  const references = relationsOf(resource, resources)
  const referring = referencesTo(resource, resources).filter(({ from }) => from.kind === 'collection')
  const nested = referring.filter(({ leaf }) => leaf.field.nested).map(({ from }) => from)
  const filtered = referring.filter(({ leaf }) => !leaf.field.nested)
  const children = [...ownedBy(resource, resources), ...nested]

  function links(data: Values, occasion: Occasion, urls: Urls): Links {
    const key = keyOf(resource, data)
    const self = { href: urls.resource(resource, key) }
    const links: Record<string, Link> = { self }
    if (occasion === 'item') return links
    if (occasion !== 'put' && listed) links['collection'] = { href: urls.collection(resource, key.parentId) }
    if (occasion !== 'put' && owner) {
      links['parent'] = { href: urls.resource(owner, { id: key.parentId as string }) }
    }
    if (occasion === 'read' && replaceable) links['edit'] = self
    if (occasion === 'read') links['delete'] = self
    for (const { relation, leaf, target } of references) {
      const id = data[leaf.column] as string | null
      if (id !== null) links[relation] = { href: urls.resource(target, { id }) }
    }
    if (occasion !== 'read') return links
    // Unset singletons are linked too: setting one does not change the entity tag of the parent.
    for (const child of children) links[child.path] = { href: `${self.href}/${child.path}` }
    // The resources that refer to it, by the second access path (SPEC §2.5.3).
    for (const { from, leaf } of filtered) {
      const collection = urls.collection(from, undefined)
      links[from.path] = { href: `${collection}?filter=${leaf.name}:${encodeURIComponent(key.id)}` }
    }
    return links
  }

  /** The visible fields in the order of the definition (SPEC §2.1). Unset ones are undefined, which JSON omits. */
  function represent(data: Values, occasion: Occasion, urls: Urls): object {
    const members = membersOf(data)
    members['_links'] = links(data, occasion, urls)
    return members
  }

  function list({ result, page, parameters, parent }: ListData, urls: Urls): object {
    const { page: reached, total_count, has_more, next, previous } = result
    const totalPages = Math.ceil(total_count / parameters.limit)
    const last = Math.max(totalPages, 1)
    const parentHref = parent && urls.resource(parent.resource, parent)
    const collection = parentHref ? `${parentHref}/${path}` : urls.collection(resource, undefined)
    const link = (number: number, cursor?: string | null): Link => ({
      href: urls.page(collection, number, { ...parameters, cursor: cursor ?? undefined }),
    })
    const before = previous ? Math.max(reached - 1, 1) : Math.min(reached - 1, last)
    const links: Links = {
      self: link(page, parameters.cursor),
      first: link(1),
      last: link(last),
      next: has_more ? link(reached + 1, next) : null,
      prev: reached > 1 || previous ? link(before, previous) : null,
      find: { href: `${collection}{?id}`, templated: true },
      ...(parentHref && { parent: { href: parentHref } }),
    }
    const items = result.items.map((item) => represent(item, 'item', urls))
    return {
      _links: links,
      ...(parent && { [identifierField(parent.resource)]: parent.id }),
      page: reached,
      limit: parameters.limit,
      total_pages: totalPages,
      total_count,
      has_more,
      _embedded: { [path]: items },
    }
  }

  return { resource: represent, list }
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
