import { LRUCache } from 'lru-cache'
import type { Context } from '../http/context.ts'
import type { Endpoint, Method, Route } from '../http/routes.ts'
import { ANONYMOUS } from '../model/access/caller.ts'
import type { Resource } from '../model/definition/resource.ts'
import { openView, viewFor } from '../model/definition/views.ts'

/** Callers differ in the scopes of fields that they have. Making the routes of a domain takes about 10 ms. */
const MAXIMUM_KEPT = 32

/** Whether callers see different fields. */
export function hasFieldScopes(resources: readonly Resource[]): boolean {
  return resources.some(({ fieldScopes }) => fieldScopes.length > 0)
}

/** Makes the function that finds what is made of the views of the caller of a request, or of those that need no scope. */
export function byCaller<Made extends object>(
  resources: readonly Resource[],
  make: (views: readonly Resource[]) => Made,
): (ctx: Context) => Made {
  const kept = new LRUCache<string, Made>({ max: MAXIMUM_KEPT })
  return (ctx) => {
    const { caller } = ctx.state
    const views = resources.map((resource) => (caller ? viewFor(resource, caller) : openView(resource)))
    const key = [caller?.identity === ANONYMOUS, ...views.map(({ variant }) => variant)].join()
    const made = kept.get(key) ?? make(views)
    kept.set(key, made)
    return made
  }
}

/**
 * Routes that show each caller its views of the resources. The operation of a list that a view lacks is refused, because it
 * lists by a reference that the caller may not read.
 */
export function routesByCaller(
  resources: readonly Resource[],
  make: (resources: readonly Resource[]) => Route[],
): Route[] {
  const routes = make(resources)
  if (!hasFieldScopes(resources)) return routes
  const routesOf = byCaller(resources, (views) => new Map(make(views).map((route) => [route.path, route])))
  const served = (path: string, method: Method, endpoint: Endpoint): Endpoint => ({
    ...endpoint,
    handle(ctx) {
      ctx.vary('Authorization')
      return (routesOf(ctx).get(path)?.methods[method] ?? endpoint).handle(ctx)
    },
  })
  return routes.map(({ methods, ...route }) => {
    const all = Object.entries(methods) as [Method, Endpoint][]
    const routes = all.map(([method, endpoint]) => [method, served(route.path, method, endpoint)])
    return { ...route, methods: Object.fromEntries(routes) }
  })
}
