import Router from '@koa/router'
import type { Context, Middleware } from 'koa'
import { type Action, authorize } from '../model/authorize.ts'
import { DomainError } from '../model/errors.ts'
import type { Resource } from '../model/resource.ts'
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
  readonly #routes: readonly Route[]
  readonly #probes: ReadonlySet<string>

  constructor(routes: readonly Route[], checks: AccessChecks) {
    this.#routes = routes
    this.#probes = new Set(routes.filter(({ access }) => access === 'probe').map(({ path }) => path))
    for (const [index, route] of routes.entries()) {
      const handle = checks[route.access].reduceRight<(ctx: Context) => Promise<void>>(
        (next, check) => (ctx) => check(ctx, () => next(ctx)),
        (ctx) => dispatch(ctx, route),
      )
      this.#router.all(String(index), route.path, async (ctx, next) => {
        if (route.applies && !route.applies(ctx)) await next()
        else await handle(ctx)
      })
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

  /** Whether a path is for monitoring only. */
  isProbe(path: string): boolean {
    return this.#probes.has(path)
  }

  /** Whether there is a route at a path, other than one that is at all paths of a folder. */
  has(path: string): boolean {
    return this.#router
      .match(path, 'GET')
      .path.some(({ name }) => !this.#routes[Number(name)]?.path.includes('*'))
  }

  /** The route at a path: the one that needs a token, if any, or one for which the path is enough. */
  at(path: string): Route | undefined {
    const matched = this.#router
      .match(path, 'GET')
      .path.map(({ name }) => this.#routes[Number(name)] as Route)
    return matched.find(({ access }) => access === 'token') ?? matched.find(({ applies }) => !applies)
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
export const refuseUnknownPath: Middleware = (ctx) => {
  const path = JSON.stringify(ctx.path.slice(0, 200))
  throw new DomainError('RESOURCE_NOT_FOUND', `There is nothing at ${path}.`)
}
