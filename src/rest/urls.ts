import type { Context } from '../http/context.ts'
import { type PublicAddress, rootFor } from '../http/request-target.ts'
import type { Resource } from '../model/definition/resource.ts'
import type { ResourceKey } from '../model/rows/identifiers.ts'

export interface RestSettings extends PublicAddress {
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Of the domain, as an SPDX expression. */
  readonly license?: string | undefined
  readonly contact?: Contact | undefined
  readonly namespace: string
  readonly apiVersion: string
  readonly maximumPageSize: number
  /** By default, unknown fields in a body are refused. */
  readonly unknownFields?: 'refuse' | 'ignore'
  /** The path of the reference of this version; `/docs` by default. */
  readonly reference?: string
  readonly deprecation?: Deprecation
}

/** Whom users of the interface can ask. */
export interface Contact {
  readonly name?: string
  readonly email?: string
  readonly url?: string
}

export interface Deprecation {
  readonly since: Date
  readonly sunset: Date | undefined
  readonly successor: string
}

export const REFERENCE_PATH = '/docs'
/** RFC 9727 §2. */
export const API_CATALOG_PATH = '/.well-known/api-catalog'

/** SPEC §4. In a service that has several namespaces, that of a request precedes all its paths. */
export function basePath({ namespace, apiVersion }: Pick<RestSettings, 'namespace' | 'apiVersion'>): string {
  return namespace === '' ? `/${apiVersion}` : `/${namespace}/${apiVersion}`
}

export function urlsFor(ctx: Context, settings: RestSettings): Urls {
  return new Urls(rootFor(ctx, settings) + basePath(settings))
}

/** The absolute URLs of resources under `{base}` (SPEC §2.2, §4). */
export class Urls {
  constructor(readonly base: string) {}

  collection(resource: Resource, parentId: string | undefined): string {
    const { owner, path } = resource
    return owner ? `${this.resource(owner, { id: parentId as string })}/${path}` : `${this.base}/${path}`
  }

  /** One resource. A singleton's URL has no identifier of its own. */
  resource(resource: Resource, { parentId, id }: ResourceKey): string {
    const collection = this.collection(resource, parentId)
    return resource.kind === 'singleton' ? collection : `${collection}/${encodeURIComponent(id)}`
  }
}

/** The key in the parameters of a path. The singleton of a parent has its identifier. */
export function keyIn({ parentId, id = parentId }: Partial<ResourceKey>): ResourceKey {
  return { parentId, id: id as string }
}

export function requestedUrl(ctx: Context, resource: Resource, settings: RestSettings): string {
  return urlsFor(ctx, settings).resource(resource, keyIn(ctx['params']))
}

/**
 * Adds the parameters that are set. `:` and `,` are not encoded (RFC 3986 §3.4), except for a comma in the text of a filter
 * that would seem to begin another one.
 */
export function withQuery(url: string, parameters: object): string {
  const pairs = Object.entries(parameters).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => {
      const encoded = encodeURIComponent(value).replaceAll('%3A', ':')
      const commas = name === 'filter' ? /%2C(?![\w.]+(?:%5B\w+%5D)?:)/g : /%2C/g
      return `${name}=${encoded.replace(commas, ',')}`
    }),
  )
  return `${url}?${pairs.join('&')}`
}
