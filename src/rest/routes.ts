import { link } from '../http/headers.ts'
import { type Endpoint, type Handler, type Route, reads } from '../http/routes.ts'
import type { Resource } from '../model/definition/resource.ts'
import { DomainError } from '../model/errors.ts'
import type { Operations } from './all-operations.ts'
import { entityTag } from './conditional.ts'
import type { ResourceOperation, RestParts } from './operation.ts'
import { type ResourceParts, resourceParts } from './operations/resource-parts.ts'
import { type WriteEndpoint, writeHandler, writeReader } from './operations/write.ts'
import { type CollectionOperation, resourcePaths, type ServedPath } from './resource-operations.ts'
import { MEDIA_TYPES, negotiate, prefersPage } from './respond.ts'
import { routesByCaller } from './routes-by-caller.ts'
import { basePath, urlsFor } from './urls.ts'

/** The routes of the records of operations. They show each caller only the fields that it may read. */
export function createRoutes(parts: RestParts, operations: Operations): Route[] {
  const routesOf = (resources: readonly Resource[]) => routesFor({ ...parts, resources }, operations)
  return routesByCaller(parts.resources, routesOf)
}

function routesFor(parts: RestParts, operations: Operations): Route[] {
  const base = basePath(parts.settings)
  const served = parts.resources.flatMap((resource) => resourceRoutes(resource, parts, operations.resource))
  const ofService = operations.service.map((operation) => {
    const endpoint = { handle: operation.handler(parts, served) }
    return tokenRoute(
      base + operation.path,
      operation.method === 'GET' ? reads(endpoint) : { [operation.method]: endpoint },
    )
  })
  return [...ofService, ...served]
}

/** A route for API clients. Browsers get a page at the same URL. */
function tokenRoute(path: string, methods: Route['methods']): Route {
  return { path, access: 'token', applies: (ctx) => !prefersPage(ctx), methods }
}

function resourceRoutes(
  resource: Resource,
  parts: RestParts,
  operations: readonly CollectionOperation[],
): Route[] {
  const common = resourceParts(resource, parts, operations)
  return resourcePaths(resource, parts.resources, operations).map((place) => {
    const methods = place.operations.map((operation) => methodsOf(operation, common, place))
    return tokenRoute(basePath(parts.settings) + place.path, Object.assign({}, ...methods))
  })
}

function methodsOf(
  operation: ServedPath['operations'][number],
  parts: ResourceParts,
  place: ServedPath,
): Route['methods'] {
  if ('handler' in operation) return reads(endpoint(operation, operation.handler(parts, place), parts))
  const write = writeReader(operation, parts)
  const writing: WriteEndpoint = {
    ...endpoint(operation, writeHandler(operation, write, parts), parts),
    write,
  }
  return { [operation.method]: writing }
}

/**
 * Adds to all responses of a resource a negotiated media type, a link to the profile, the current entity tag after a
 * failed precondition, and a link to the other resource after a conflict.
 */
function endpoint(operation: ResourceOperation, handle: Handler, { resource, settings }: ResourceParts) {
  const types = [...MEDIA_TYPES, ...(operation.types ?? [])]
  const respond: Handler = async (ctx) => {
    negotiate(ctx, types)
    const { base } = urlsFor(ctx, settings)
    ctx.append('Link', link(`${base}/profile/${resource.path}`, 'describedby'))
    try {
      await handle(ctx)
    } catch (error) {
      const { current, related } = error instanceof DomainError ? error : {}
      if (current) ctx.set('ETag', entityTag(current.id, current.version, resource.variant))
      if (related) ctx.append('Link', link(`${base}/${related.path}/${related.id}`, 'related'))
      throw error
    }
  }
  return {
    handle: respond,
    scope: [resource, operation.action],
    accepts: operation.body?.types,
  } satisfies Endpoint
}
