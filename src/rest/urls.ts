import type { Address } from '../domain/model/identifiers.ts'
import type { Resource } from '../domain/model/resource.ts'

/** A list as a client addressed it: what goes back into its links, as text. */
export interface ListAddress {
  readonly limit: number
  readonly sort: string | undefined
  readonly filters: readonly string[]
  readonly id: string | undefined
  /** Opaque: the place from which this one page is read. */
  readonly cursor: string | undefined
}

/** The addresses of resources, as absolute URLs under `{base}` (SPEC §2.2, §4). */
export class Addresses {
  constructor(readonly base: string) {}

  /** The collection itself; for an owned one, that of this parent. */
  collection(resource: Resource, parentId: string | undefined): string {
    const { owner, path } = resource
    return owner ? `${this.resource(owner, { id: parentId as string })}/${path}` : `${this.base}/${path}`
  }

  /** One resource. A singleton's address has no identifier of its own. */
  resource(resource: Resource, { parentId, id }: Address): string {
    const collection = this.collection(resource, parentId)
    return resource.kind === 'singleton' ? collection : `${collection}/${encodeURIComponent(id)}`
  }

  /** A page of the list at an address, its parameters in a fixed order, `:` left as it is (RFC 3986 §3.4). */
  page(collection: string, page: number, { limit, sort, filters, id, cursor }: ListAddress): string {
    const parameters = [
      `page=${page}`,
      `limit=${limit}`,
      ...(sort === undefined ? [] : [`sort=${encoded(sort)}`]),
      ...filters.map((filter) => `filter=${encoded(filter)}`),
      ...(id === undefined ? [] : [`id=${encoded(id)}`]),
      ...(cursor === undefined ? [] : [`cursor=${encoded(cursor)}`]),
    ]
    return `${collection}?${parameters.join('&')}`
  }
}

function encoded(value: string): string {
  return encodeURIComponent(value).replaceAll('%3A', ':').replaceAll('%2C', ',')
}
