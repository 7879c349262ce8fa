import { ownedBy, referencesTo, relationsOf } from '../domain/model/relations.ts'
import { identifierField, type Resource } from '../domain/model/resource.ts'
import type { Address } from '../domain/store.ts'
import type { Data } from '../graph/execution/operation.ts'
import { createRepresent } from './representation.ts'
import type { Addresses, ListAddress } from './urls.ts'

export interface Link {
  readonly href: string
  readonly templated?: true
}

export type Links = Readonly<Record<string, Link | null>>

/** The representation a response carries: each has its own relations (SPEC §2.3). */
export type Occasion = 'item' | 'read' | 'created' | 'put'

/** Makes HAL documents of data that is already in wire names (SPEC §2.2, §2.3; draft-kelly-json-hal). */
export interface Hal {
  /** One resource with its links. */
  resource(data: Data, address: Address, occasion: Occasion, addresses: Addresses): object
  /** A page of a list. */
  list(list: ListData, addresses: Addresses): object
}

/** A page as the GraphQL operation answered it, and how it was asked for. */
export interface ListData {
  readonly items: readonly Data[]
  readonly totalCount: number
  readonly hasMore: boolean
  /** What the pages beside it are read from; null where there is none. */
  readonly cursors: { readonly next: string | null; readonly previous: string | null }
  readonly page: number
  readonly address: ListAddress
  readonly parent: { readonly resource: Resource; readonly id: string } | undefined
}

/** What a resource needs to be shown: worked out once from its definition. */
export function createHal(resource: Resource, resources: readonly Resource[]): Hal {
  const represent = createRepresent(resource)
  const references = relationsOf(resource, resources)
  const owned = ownedBy(resource, resources)
  const nested = referencesTo(resource, resources).filter(({ leaf }) => leaf.field.nested)
  const lists = [...owned.filter((child) => child.listed), ...nested.map(({ from }) => from)]
  const singletons = owned.filter((child) => !child.listed)
  const { replaceable, listed } = resource

  function referenceLinks(data: Data, addresses: Addresses): [string, Link][] {
    return references.flatMap(({ relation, leaf, target }) => {
      const id = data[leaf.column] as string | null
      return id === null ? [] : [[relation, { href: addresses.resource(target, { id }) }]]
    })
  }

  function childLinks(data: Data, self: string): [string, Link][] {
    const present = singletons.filter(({ path }) => data[`has_${path}`])
    return [...lists, ...present].map(({ path }) => [path, { href: `${self}/${path}` }])
  }

  function links(data: Data, address: Address, occasion: Occasion, addresses: Addresses): Links {
    const self = { href: addresses.resource(resource, address) }
    if (occasion === 'item') return { self }
    const collection = { href: addresses.collection(resource, address.parentId) }
    const { owner } = resource
    const parent = owner && { href: addresses.resource(owner, { id: address.parentId as string }) }
    return {
      self,
      ...(occasion !== 'put' && listed && { collection }),
      ...(occasion !== 'put' && parent && { parent }),
      ...(occasion === 'read' && { ...(replaceable && { edit: self }), delete: self }),
      ...Object.fromEntries(referenceLinks(data, addresses)),
      ...(occasion === 'read' && Object.fromEntries(childLinks(data, self.href))),
    }
  }

  function shown(data: Data, address: Address, occasion: Occasion, addresses: Addresses): object {
    const document = represent(data)
    document['_links'] = links(data, address, occasion, addresses)
    return document
  }

  return {
    resource: shown,
    list(list, addresses) {
      const { items, totalCount, hasMore, page, parent } = list
      const totalPages = Math.ceil(totalCount / list.address.limit)
      const embedded = items.map((item) => shown(item, addressOf(resource, item), 'item', addresses))
      return {
        _links: listLinks(resource, list, totalPages, addresses),
        ...(parent && { [identifierField(parent.resource)]: parent.id }),
        page,
        limit: list.address.limit,
        total_pages: totalPages,
        total_count: totalCount,
        has_more: hasMore,
        _embedded: { [resource.path]: embedded },
      }
    },
  }
}

/** Where an item of a list has its own address. */
export function addressOf({ parentField }: Resource, data: Data): Address {
  return { parentId: parentField && (data[parentField] as string), id: data['id'] as string }
}

function listLinks(resource: Resource, list: ListData, totalPages: number, addresses: Addresses): Links {
  const { page, address, parent, hasMore, cursors } = list
  const parentHref = parent && addresses.resource(parent.resource, parent)
  const collection = parentHref ? `${parentHref}/${resource.path}` : addresses.collection(resource, undefined)
  const last = Math.max(totalPages, 1)
  const link = (number: number, cursor?: string | null): Link => ({
    href: addresses.page(collection, number, { ...address, cursor: cursor ?? undefined }),
  })
  const before = cursors.previous ? page - 1 : Math.min(page - 1, last)
  return {
    self: link(page, address.cursor),
    first: link(1),
    last: link(last),
    next: hasMore ? link(page + 1, cursors.next) : null,
    prev: page > 1 ? link(before, cursors.previous) : null,
    find: { href: `${collection}{?id}`, templated: true },
    ...(parentHref && { parent: { href: parentHref } }),
  }
}
