import type { Prepare } from '../graph/execution/operation.ts'
import { refuseQuery } from '../http/request-target.ts'
import { type Endpoint, type Handler, type Route, reads } from '../http/routes.ts'
import { DomainError } from '../model/errors.ts'
import type { Resource } from '../model/resource.ts'
import { entityTag } from './conditional.ts'
import { createHandlers } from './handlers.ts'
import { runForRequest } from './operation-header.ts'
import { nestedListOperation, resourceOperations } from './operations.ts'
import { OPERATION_METHODS, type OperationName, resourcePaths } from './resource-paths.ts'
import { negotiate, prefersPage, respond } from './respond.ts'
import { basePath, REFERENCE_PATH, type RestSettings, rootFor, urlsFor } from './urls.ts'

export function createRoutes(
  resources: readonly Resource[],
  prepare: Prepare,
  settings: RestSettings,
): Route[] {
  const entry = reads({ handle: entryHandler(prepare, settings) })
  return [
    tokenRoute(basePath(settings), entry),
    ...resources.flatMap((resource) => resourceRoutes(resource, resources, prepare, settings)),
  ]
}

/**
 * The entry document, with a link to every collection (SPEC §1.4). The Link header has the OpenAPI document and the
 * reference (RFC 8631).
 */
function entryHandler(prepare: Prepare, settings: RestSettings): Handler {
  const operation = prepare({
    type: 'query',
    name: 'collections',
    text: '{ collections { path description } }',
  })
  return async (ctx) => {
    negotiate(ctx)
    refuseQuery(ctx.URL.searchParams)
    const { collections } = (await runForRequest(ctx, operation, {})) as { collections: Listed[] }
    const { base } = urlsFor(ctx, settings)
    const root = rootFor(ctx, settings)
    const reference = root + (settings.reference ?? REFERENCE_PATH)
    ctx.append('Link', `<${base}/openapi.json>; rel="service-desc", <${reference}>; rel="service-doc"`)
    respond(ctx, 200, entryDocument(collections, base))
  }
}

type Listed = Pick<Resource, 'path' | 'description'>

/** Collections have no parent, so their links follow from their paths. */
export function entryDocument(collections: readonly Listed[], base: string): object {
  const links = collections.map(({ path, description }) => [
    path,
    { href: `${base}/${path}`, title: description },
  ])
  return { _links: { self: { href: base }, ...Object.fromEntries(links) } }
}

/** A route for clients of the interface; browsers get a page at the same URL. */
function tokenRoute(path: string, methods: Route['methods']): Route {
  return { path, access: 'token', applies: (ctx) => !prefersPage(ctx), methods }
}

function resourceRoutes(
  resource: Resource,
  resources: readonly Resource[],
  prepare: Prepare,
  settings: RestSettings,
): Route[] {
  const operations = resourceOperations(resource, prepare)
  const handlers = createHandlers(resource, resources, operations, settings)

  function endpoint(name: OperationName, handle: Handler): Partial<Route['methods']> {
    const method = OPERATION_METHODS[name]
    const scope: Endpoint['scope'] = [resource, method === 'GET' ? 'read' : 'write']
    const made = { handle: responding(name, handle), scope }
    return method === 'GET' ? reads(made) : { [method]: made }
  }

  /**
   * Adds what all responses of a resource have: a negotiated media type, a link to the profile, the current entity tag
   * after a failed precondition, and a link to the other resource after a conflict.
   */
  function responding(name: OperationName, handle: Handler): Handler {
    return async (ctx) => {
      negotiate(ctx)
      const { base } = urlsFor(ctx, settings)
      ctx.append('Link', `<${base}/profile/${resource.path}>; rel="describedby"`)
      try {
        // Only lists have query parameters (SPEC §4.1).
        if (name !== 'list' && ctx.querystring !== '') refuseQuery(ctx.URL.searchParams)
        await handle(ctx)
      } catch (error) {
        const { current, related } = error instanceof DomainError ? error : {}
        if (current) ctx.set('ETag', entityTag(current.id, current.version))
        if (related) ctx.append('Link', `<${base}/${related.path}/${related.id}>; rel="related"`)
        throw error
      }
    }
  }

  return resourcePaths(resource, resources).map(({ path, parent, operations: names, column }) => {
    const handlerOf = (name: OperationName) => {
      if (name !== 'list') return handlers[name]
      return handlers.list(column ? nestedListOperation(resource, column, prepare) : operations.list, parent)
    }
    const methods = Object.assign({}, ...names.map((name) => endpoint(name, handlerOf(name))))
    return tokenRoute(basePath(settings) + path, methods)
  })
}
