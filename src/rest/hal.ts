import type { Parent } from '../domain/session/reader.ts'
import type { Field } from '../model/definition/fields.ts'
import { type HalRelation, linkedFrom } from '../model/definition/relations.ts'
import { identifierField, type Leaf, type Resource, type Values } from '../model/definition/resource.ts'
import { keyOf } from '../model/rows/identifiers.ts'
import { type Urls, withQuery } from './urls.ts'

type Link = { readonly href: string; readonly title?: string; readonly templated?: true }
type Links = Readonly<Record<string, Link | null>>

/** Links with the relations of the closed table. */
type OwnLinks = Partial<Record<HalRelation, Link | null>>

/** The member of the data with the title that a definition declares, for links. No field has this name. */
export const TITLE = '_title'

/** Determines the links of a representation (SPEC §2.3). */
export type Occasion = 'item' | 'read' | 'created' | 'put'

/** A related resource or list that a request can embed (draft-kelly-json-hal §4.1.2). */
export interface Embed {
  readonly relation: string
  /** The field in GraphQL, and the member of the data. */
  readonly name: string
  readonly target: Resource
  readonly isList: boolean
  /** For a list below the resource, that resource. */
  readonly parent: Resource | undefined
  /** The items of a list. */
  readonly pageSize: number
  /** The response to GET of the link, without templates: a resource, or the first page of a list. */
  represent(value: Values, of: Values, urls: Urls): object
}

/** What `fields` and `embed` of a request select. */
export interface Selection {
  /** Includes the identifier. Groups have only the named members. Undefined: all fields. */
  readonly fields: Resource['shownFields'] | undefined
  readonly membersOf: ReturnType<typeof picker> | undefined
  readonly leaves: readonly Leaf[]
  readonly embeds: readonly Embed[] | undefined
}

export interface ListData {
  /** The result of the GraphQL operation. `next` and `previous` are cursors. */
  readonly result: {
    readonly items: readonly Values[]
    readonly page: number
    /** Undefined if not requested. */
    readonly total_count?: number | undefined
    readonly has_more: boolean
    readonly revision: string
    readonly next: string | null
    readonly previous: string | null
  }
  readonly page: number
  /** Those of the request except `page`, in the order in which links have them. */
  readonly parameters: Values & { readonly limit: number; readonly cursor?: string | undefined }
  readonly parent: Pick<Parent, 'resource' | 'id'> | undefined
  readonly selection?: Selection | undefined
}

export type ListDocument = ReturnType<ReturnType<typeof createHal>['list']>

/** Turns data in wire names into HAL documents (SPEC §2.2, §2.3; draft-kelly-json-hal). */
export function createHal(resource: Resource, resources: readonly Resource[]) {
  const { owner, replaceable, listed, path, shownFields } = resource
  const membersOf = picker(shownFields)
  const { references, children, filtered } = linkedFrom(resource, resources)

  function links(data: Values, occasion: Occasion, urls: Urls): Links {
    const key = keyOf(resource, data)
    const self = { href: urls.resource(resource, key) }
    const title = data[TITLE] as string | undefined
    const own: OwnLinks = { self: title === undefined ? self : { ...self, title } }
    const links = own as Record<string, Link>
    if (occasion === 'item') return links
    if (occasion !== 'put' && listed) own.collection = { href: urls.collection(resource, key.parentId) }
    if (occasion !== 'put' && owner) {
      own.parent = { href: urls.resource(owner, { id: key.parentId as string }) }
    }
    if (occasion === 'read' && replaceable) own.edit = self
    if (occasion === 'read') own.delete = self
    for (const { relation, leaf, target } of references) {
      const id = data[leaf.column] as string | null
      if (id !== null) links[relation] = { href: urls.resource(target, { id }) }
    }
    if (occasion !== 'read') return links
    // Unset singletons are linked too: setting one does not change the entity tag of the parent.
    for (const { child, relation } of children) links[relation] = { href: `${self.href}/${child.path}` }
    // The resources that refer to it, by the second access path (SPEC §2.5.3).
    for (const { child, relation, leaf } of filtered) {
      const collection = urls.collection(child, undefined)
      links[relation] = { href: `${collection}?filter=${leaf.name}:${encodeURIComponent(key.id)}` }
    }
    return links
  }

  /** The visible fields in the order of the definition (SPEC §2.1). Unset ones are undefined, which JSON omits. */
  function one(data: Values, occasion: Occasion, urls: Urls, selection?: Selection): object {
    const members = (selection?.membersOf ?? membersOf)(data)
    members['_links'] = links(data, occasion, urls)
    // Unset and just deleted resources are left out.
    const set = selection?.embeds?.filter(({ name }) => data[name])
    const embedded = set?.map(({ name, relation, represent }) => {
      return [relation, represent(data[name] as Values, data, urls)]
    })
    if (embedded) members['_embedded'] = Object.fromEntries(embedded)
    return members
  }

  function list({ result, page, parameters, parent, selection }: ListData, urls: Urls) {
    const { page: reached, total_count, has_more, next, previous } = result
    const totalPages = total_count === undefined ? undefined : Math.ceil(total_count / parameters.limit)
    const last = Math.max(totalPages ?? reached, 1)
    const parentHref = parent && urls.resource(parent.resource, parent)
    const collection = parentHref ? `${parentHref}/${path}` : urls.collection(resource, undefined)
    const { cursor: requested, ...others } = parameters
    // All links share this, so it is made once: it took 4 % of a list.
    const query = withQuery('', others).slice(1)
    const link = (page: number, cursor?: string | null): Link => ({
      href: `${collection}?page=${page}&${query}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
    })
    const before = previous ? Math.max(reached - 1, 1) : Math.min(reached - 1, last)
    const links: OwnLinks = {
      self: link(page, requested),
      first: link(1),
      ...(totalPages !== undefined && { last: link(last) }),
      next: has_more ? link(reached + 1, next) : null,
      prev: reached > 1 || previous ? link(before, previous) : null,
      find: { href: `${collection}{?id}`, templated: true },
      ...(parentHref && { parent: { href: parentHref } }),
    }
    return {
      _links: links,
      ...(parent && { [identifierField(parent.resource)]: parent.id }),
      page: reached,
      limit: parameters.limit,
      total_pages: totalPages,
      total_count,
      has_more,
      _embedded: { [path]: result.items.map((item) => one(item, 'item', urls, selection)) },
    }
  }

  return { resource: one, list }
}

/**
 * All results have the same members in the same order, so V8 gives them one shape. Groups may have only some members, of
 * which none may be set.
 *
 * @param nameIn the name that a field has in the results
 */
export function picker(
  fields: Resource['shownFields'],
  nameIn = (name: string, _: Field) => name,
): (data: Values) => Record<string, unknown> {
  const members = Object.entries(fields).map(([name, field]) => ({
    name,
    given: nameIn(name, field),
    pickGroup: field.type === 'group' ? picker(field.fields) : undefined,
  }))
  return (data) => {
    const picked: Record<string, unknown> = {}
    for (const { name, given, pickGroup } of members) {
      const value = data[given] ?? undefined
      const group = value && pickGroup?.(value as Values)
      const isUnset = group && Object.values(group).every((one) => one === undefined)
      picked[name] = isUnset ? undefined : (group ?? value)
    }
    return picked
  }
}
