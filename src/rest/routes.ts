import type { Executor, PreparedOperation } from '../graph/execution/operation.ts'
import { link } from '../http/headers/links.ts'
import { rootFor } from '../http/request-target.ts'
import { type Endpoint, type Handler, type Route, reads } from '../http/routes.ts'
import type { Action } from '../model/caller.ts'
import { DomainError } from '../model/errors.ts'
import type { Resource } from '../model/resource.ts'
import { BATCH_PATH, batchHandler, type WriteEndpoint } from './batch.ts'
import { CHANGES_PATH, changesHandler } from './changes/feed.ts'
import { VERSIONS_QUERY, versionHandlers } from './changes/versions.ts'
import { entityTag } from './conditional.ts'
import { createHandlers } from './handlers.ts'
import { resourcePaths } from './operations/served.ts'
import { resourceOperations, runForRequest } from './operations.ts'
import { QueryParameters } from './query-parameters.ts'
import { LIST_TYPES, linkDescription, MEDIA_TYPES, negotiate, prefersPage, respond } from './respond.ts'
import { API_CATALOG_PATH, basePath, REFERENCE_PATH, type RestSettings, urlsFor } from './urls.ts'
import type { WriteName } from './writes.ts'

export function createRoutes(
  resources: readonly Resource[],
  executor: Executor,
  settings: RestSettings,
): Route[] {
  const entry = reads({ handle: entryHandler(executor, settings) })
  const versions = executor.prepare({ type: 'query', name: 'versions', text: VERSIONS_QUERY })
  const served = resources.flatMap((resource) => serve(resource, resources, executor, versions, settings))
  const base = basePath(settings)
  return [
    tokenRoute(base, entry),
    ...served,
    tokenRoute(base + BATCH_PATH, { POST: { handle: batchHandler(served, executor, settings) } }),
    tokenRoute(base + CHANGES_PATH, reads({ handle: changesHandler(resources, executor, settings) })),
  ]
}

/**
 * The entry document (SPEC §1.4). The Link header leads to the OpenAPI document and the reference (RFC 8631), and to the
 * catalogue of the interfaces (RFC 9727).
 */
function entryHandler({ prepare }: Executor, settings: RestSettings): Handler {
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
    ctx.append('Link', link(reference, 'service-doc'))
    ctx.append('Link', link(root + API_CATALOG_PATH, 'api-catalog'))
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
  executor: Executor,
  versions: PreparedOperation,
  settings: RestSettings,
): Route[] {
  const operations = resourceOperations(resource, executor.prepare)
  const handlers = createHandlers(resource, resources, operations, executor, settings)

  /**
   * Adds to all responses of a resource a negotiated media type, a link to the profile, the current entity tag after a
   * failed precondition, and a link to the other resource after a conflict.
   */
  function endpoint(action: Action, handle: Handler, types = MEDIA_TYPES): Required<Endpoint> {
    const respond: Handler = async (ctx) => {
      negotiate(ctx, types)
      const { base } = urlsFor(ctx, settings)
      ctx.append('Link', link(`${base}/profile/${resource.path}`, 'describedby'))
      try {
        await handle(ctx)
      } catch (error) {
        const { current, related } = error instanceof DomainError ? error : {}
        if (current) ctx.set('ETag', entityTag(current.id, current.version))
        if (related) ctx.append('Link', link(`${base}/${related.path}/${related.id}`, 'related'))
        throw error
      }
    }
    return { handle: respond, scope: [resource, action] }
  }

  const writing = (name: WriteName): WriteEndpoint => {
    return { ...endpoint('write', handlers.writing(name)), write: handlers.writes[name] }
  }

  const history = versionHandlers(resource, versions, settings)
  return resourcePaths(resource, resources).map(({ path, parent, operations: served, column }) => {
    const list = handlers.list(column ? operations.nestedList(column) : operations.list, parent)
    const endpoints: Readonly<Record<string, Route['methods']>> = {
      list: reads(endpoint('read', list, LIST_TYPES)),
      read: reads(endpoint('read', handlers.read)),
      create: { POST: writing('create') },
      put: { PUT: writing('put') },
      patch: { PATCH: writing('patch') },
      delete: { DELETE: writing('remove') },
      listVersionsOf: reads(endpoint('read', history.list)),
      readVersionOf: reads(endpoint('read', history.one)),
    }
    const methods = Object.assign({}, ...served.map(({ id }) => endpoints[id]))
    return tokenRoute(basePath(settings) + path, methods)
  })
}
