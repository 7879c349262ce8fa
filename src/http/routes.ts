import Router from '@koa/router'
import type { Context, Middleware } from 'koa'
import { type Action, authorize } from '../domain/model/authorize.ts'
import { DomainError } from '../domain/model/errors.ts'
import type { Resource } from '../domain/model/resource.ts'
import { callerOf } from './auth/authenticate.ts'
import { type FormatError, methodNotAllowed } from './errors.ts'
import { ACCEPT_PATCH } from './json/body.ts'

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

/** HEAD does what GET does; Node leaves the body out (RFC 9110 §9.3.2). */
export function reads(endpoint: Endpoint): { GET: Endpoint; HEAD: Endpoint } {
  return { GET: endpoint, HEAD: endpoint }
}

/** What a request passes before a route is served, by the access of the route. */
export type AccessChecks = Readonly<Record<Access, readonly Middleware[]>>

/**
 * Every route of the service. Paths are matched to the letter. Of several routes at a path, the first that
 * applies is served.
 */
export class RouteTable {
  readonly #router = new Router({ sensitive: true, strict: true })
  /** The routes that a path alone leads to. */
  readonly #byTemplate = new Map<string, Route>()

  constructor(routes: readonly Route[], checks: AccessChecks) {
    for (const route of routes) {
      this.#router.all(route.path, ...checks[route.access], async (ctx, next) => {
        if (route.applies && !route.applies(ctx)) await next()
        else await dispatch(ctx, route)
      })
      if (!route.applies) this.#byTemplate.set(route.path, route)
    }
  }

  /**
   * Serves the routes, and passes on requests that none of them is for.
   *
   * @throws {DomainError} from the middleware: METHOD_NOT_ALLOWED (405), ACCESS_DENIED (403)
   */
  serve(): Middleware {
    return this.#router.routes() as Middleware
  }

  /** The route at a path; undefined where that depends on more than the path. */
  at(path: string): Route | undefined {
    const layer = this.#router
      .match(path, 'GET')
      .path.find(({ path: template }) => this.#byTemplate.has(template as string))
    return layer && this.#byTemplate.get(layer.path as string)
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
