import Router from '@koa/router'
import type { Context, Middleware } from 'koa'
import { type Action, authorize } from '../domain/model/authorize.ts'
import { DomainError } from '../domain/model/errors.ts'
import type { Resource } from '../domain/model/resource.ts'
import { callerOf } from './auth/authenticate.ts'
import { methodNotAllowed } from './errors.ts'
import { ACCEPT_PATCH } from './json/body.ts'
import type { FormatError } from './render-errors.ts'

/** A path, who may use it, and what each method does there. */
export interface Route {
  /** The template of the path, `/api/v1/species/:id`; logs and metrics name requests by it. */
  readonly path: string
  readonly access: Access
  readonly methods: Readonly<Partial<Record<Method, Endpoint>>>
  /** Whether the route is for a request, where that depends on more than the path; otherwise the next one is. */
  readonly applies?: (ctx: Context) => boolean
  /** The format of its errors; the error envelope, if not given. */
  readonly formatError?: FormatError
}

/** `probe`: everyone, whatever host the request names. `open`: everyone. `token`: callers with a token. */
export type Access = 'probe' | 'open' | 'token'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a method does. */
export interface Endpoint {
  readonly handle: Handler
  /** What the token of the caller must allow, beside being valid. */
  readonly scope?: readonly [resource: Resource, action: Action]
}

/** Responds to a request. */
export type Handler = (ctx: Context) => void | Promise<void>

/** A HEAD is answered as a GET; Node leaves the body out (RFC 9110 §9.3.2). */
export function reads(endpoint: Endpoint): { GET: Endpoint; HEAD: Endpoint } {
  return { GET: endpoint, HEAD: endpoint }
}

/** Every route of the service. Paths are matched to the letter; of routes with one path, the first applies. */
export class RouteTable {
  readonly #routers: Readonly<Record<Access, Router>>
  readonly #fixed = new Map<string, Route>()
  readonly #probes: ReadonlySet<string>

  constructor(routes: readonly Route[]) {
    const router = () => new Router({ sensitive: true, strict: true })
    this.#probes = new Set(routes.filter(({ access }) => access === 'probe').map(({ path }) => path))
    this.#routers = { token: router(), open: router(), probe: router() }
    for (const route of routes) {
      this.#routers[route.access].all(route.path, async (ctx, next) => {
        if (route.applies && !route.applies(ctx)) await next()
        else await dispatch(ctx, route)
      })
      if (!route.applies) this.#fixed.set(route.path, route)
    }
  }

  /**
   * Serves the routes of one kind of access, and passes all other requests on.
   *
   * @throws {DomainError} from the middleware: METHOD_NOT_ALLOWED (405), ACCESS_DENIED (403)
   */
  serve(access: Access): Middleware {
    return this.#routers[access].routes() as Middleware
  }

  /** Whether a path is for monitoring only. */
  isProbe(path: string): boolean {
    return this.#probes.has(path)
  }

  /** The route at a path; undefined where that depends on more than the path. */
  at(path: string): Route | undefined {
    for (const router of Object.values(this.#routers)) {
      const [layer] = router.match(path, 'GET').path
      const route = layer && this.#fixed.get(layer.path as string)
      if (route) return route
    }
    return undefined
  }
}

async function dispatch(ctx: Context, { path, methods }: Route): Promise<void> {
  ctx.state['route'] = path
  const endpoint = methods[ctx.method as Method]
  if (!endpoint) return respondToOptions(ctx, methods)
  if (endpoint.scope) authorize(callerOf(ctx), ...endpoint.scope)
  await endpoint.handle(ctx)
}

/** RFC 9110 §9.3.7. */
function respondToOptions(ctx: Context, methods: Route['methods']): void {
  const allowed = [...Object.keys(methods), 'OPTIONS'].join(', ')
  const headers = { Allow: allowed, ...(methods.PATCH && ACCEPT_PATCH) }
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, headers)
  ctx.set(headers)
  ctx.status = 204
}

/** The end of all routes. */
export const notFound: Middleware = (ctx) => {
  const path = JSON.stringify(ctx.path.slice(0, 200))
  throw new DomainError('RESOURCE_NOT_FOUND', `There is nothing at ${path}.`)
}
