import type { Prepare, PreparedOperation } from '../graph/execution/operation.ts'
import { rootFor } from '../http/request-target.ts'
import { type Endpoint, type Handler, type Route, reads } from '../http/routes.ts'
import type { Action } from '../model/caller.ts'
import { DomainError } from '../model/errors.ts'
import { nestedReferences } from '../model/relations.ts'
import type { Resource } from '../model/resource.ts'
import { BATCH_PATH, batchHandler, type WriteEndpoint } from './batch.ts'
import { CHANGES_PATH, changesHandler } from './changes/feed.ts'
import { VERSIONS_QUERY, versionHandlers } from './changes/versions.ts'
import { entityTag } from './conditional.ts'
import { createHandlers } from './handlers.ts'
import { resourceOperations, runForRequest } from './operations.ts'
import { QueryParameters } from './query-parameters.ts'
import { LIST_TYPES, linkDescription, MEDIA_TYPES, negotiate, prefersPage, respond } from './respond.ts'
import { API_CATALOG_PATH, basePath, REFERENCE_PATH, type RestSettings, urlsFor } from './urls.ts'
import type { WriteName } from './writes.ts'

export function createRoutes(
  resources: readonly Resource[],
  prepare: Prepare,
  settings: RestSettings,
): Route[] {
  const entry = reads({ handle: entryHandler(prepare, settings) })
  const versions = prepare({ type: 'query', name: 'versions', text: VERSIONS_QUERY })
  const served = resources.flatMap((resource) => serve(resource, resources, prepare, versions, settings))
  const base = basePath(settings)
  return [
    tokenRoute(base, entry),
    ...served,
    tokenRoute(base + BATCH_PATH, { POST: { handle: batchHandler(served, prepare, settings) } }),
    tokenRoute(base + CHANGES_PATH, reads({ handle: changesHandler(resources, prepare, settings) })),
  ]
}

/**
 * The entry document (SPEC §1.4). The Link header leads to the OpenAPI document and the reference (RFC 8631), and to the
 * catalogue of the interfaces (RFC 9727).
 */
function entryHandler(prepare: Prepare, settings: RestSettings): Handler {
  const text = '{ collections { path description } }'
  const operation = prepare({ type: 'query', name: 'collections', text })
  return async (ctx) => {
    negotiate(ctx)
    QueryParameters.refuse(ctx.URL.searchParams)
    const { collections } = (await runForRequest(ctx, operation, {})) as { collections: Listed[] }
    const urls = urlsFor(ctx, settings)
    const root = rootFor(ctx, settings)
    const reference = root + (settings.reference ?? REFERENCE_PATH)
    linkDescription(ctx, urls)
    ctx.append('Link', `<${reference}>; rel="service-doc"`)
    ctx.append('Link', `<${root}${API_CATALOG_PATH}>; rel="api-catalog"`)
    respond(ctx, 200, entryDocument(collections, urls.base))
  }
}

type Listed = Pick<Resource, 'path' | 'description'>

/** Collections have no parent, so their links follow from their paths. */
export function entryDocument(collections: readonly Listed[], base: string): object {
  const links = collections.map(({ path, description: title }) => [path, { href: `${base}/${path}`, title }])
  return { _links: { self: { href: base }, ...Object.fromEntries(links) } }
}

/** A route for API clients. Browsers get a page at the same URL. */
function tokenRoute(path: string, methods: Route['methods']): Route {
  return { path, access: 'token', applies: (ctx) => !prefersPage(ctx), methods }
}

function serve(
  resource: Resource,
  resources: readonly Resource[],
  prepare: Prepare,
  versions: PreparedOperation,
  settings: RestSettings,
): Route[] {
  const operations = resourceOperations(resource, prepare)
  const handlers = createHandlers(resource, resources, operations, prepare, settings)

  /**
   * Adds to all responses of a resource a negotiated media type, a link to the profile, the current entity tag after a
   * failed precondition, and a link to the other resource after a conflict.
   */
  function endpoint(action: Action, handle: Handler, types = MEDIA_TYPES): Required<Endpoint> {
    const respond: Handler = async (ctx) => {
      negotiate(ctx, types)
      const { base } = urlsFor(ctx, settings)
      ctx.append('Link', `<${base}/profile/${resource.path}>; rel="describedby"`)
      try {
        await handle(ctx)
      } catch (error) {
        const { current, related } = error instanceof DomainError ? error : {}
        if (current) ctx.set('ETag', entityTag(current.id, current.version))
        if (related) ctx.append('Link', `<${base}/${related.path}/${related.id}>; rel="related"`)
        throw error
      }
    }
    return { handle: respond, scope: [resource, action] }
  }

  const writing = (name: WriteName): WriteEndpoint => {
    return { ...endpoint('write', handlers.writing(name)), write: handlers.writes[name] }
  }

  const paths = resourcePaths(resource, resources)
  const routes = paths.map(({ path, parent, operations: names, column }) => {
    const list = handlers.list(column ? operations.nestedList(column) : operations.list, parent)
    const endpoints = {
      list: reads(endpoint('read', list, LIST_TYPES)),
      read: reads(endpoint('read', handlers.read)),
      create: { POST: writing('create') },
      put: { PUT: writing('put') },
      patch: { PATCH: writing('patch') },
      remove: { DELETE: writing('remove') },
    }
    const methods = Object.assign({}, ...names.map((name) => endpoints[name]))
    return tokenRoute(basePath(settings) + path, methods)
  })
  const { path: address } = paths.find(({ operations: names }) => names.includes('read')) as ResourcePath
  const history = Object.entries(versionHandlers(resource, versions, settings)).map(([path, handle]) =>
    tokenRoute(basePath(settings) + address + path, reads(endpoint('read', handle))),
  )
  return [...routes, ...history]
}

/** Handlers, operations and OpenAPI entries have these names. */
export type OperationName = 'list' | 'read' | 'create' | 'put' | 'patch' | 'remove'

export const OPERATION_METHODS = {
  list: 'GET',
  read: 'GET',
  create: 'POST',
  put: 'PUT',
  patch: 'PATCH',
  remove: 'DELETE',
} as const satisfies Record<OperationName, string>

interface ResourcePath {
  /** Below `{base}`, with the parameters `:parentId` and `:id`. */
  readonly path: string
  /** The resource that `:parentId` identifies. */
  readonly parent: Resource | undefined
  readonly operations: readonly OperationName[]
  /** For a list of resources that refer to the parent, the referring column. */
  readonly column?: string
}

/** SPEC §4. */
export function resourcePaths(resource: Resource, resources: readonly Resource[]): ResourcePath[] {
  const { listed, replaceable, owner: parent } = resource
  const collection = parent ? within(parent, resource) : `/${resource.path}`
  const lists = nestedReferences(resource).flatMap(({ column, field }): ResourcePath[] => {
    const target = resources.find(({ path }) => path === field.to)
    return target ? [{ path: within(target, resource), parent: target, operations: ['list'], column }] : []
  })
  const one: ResourcePath = {
    path: listed ? `${collection}/:id` : collection,
    parent,
    operations: replaceable ? ['read', 'put', 'patch', 'remove'] : ['read', 'remove'],
  }
  return listed
    ? [{ path: collection, parent, operations: ['list', 'create'] }, one, ...lists]
    : [one, ...lists]
}

function within(parent: Resource, { path }: Resource): string {
  return `/${parent.path}/:parentId/${path}`
}
