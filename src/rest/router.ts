import Router from '@koa/router'
import type { Context, Middleware } from 'koa'
import { DomainError } from '../domain/model/errors.ts'
import { methodNotAllowed } from '../http/errors.ts'
import { ACCEPT_PATCH } from '../http/json/body.ts'
import type { Method, Route } from './routes.ts'

/**
 * Serves routes: HEAD as GET, OPTIONS with what is allowed, 405 for what is not, 404 elsewhere
 * (RFC 9110 §9.3.2, §9.3.7, §15.5.6). Paths are matched to the letter.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404), METHOD_NOT_ALLOWED (405)
 */
export function serveRoutes(base: string, routes: readonly Route[]): RoutedMiddleware {
  const router = new Router({ sensitive: true, strict: true })
  for (const route of routes) router.all(base + route.path, (ctx) => dispatch(ctx, base, route))
  const templateOf = (path: string) => router.match(path, 'GET').path.at(-1)?.path as string | undefined
  return { middleware: [router.routes() as Middleware, notFound], templateOf }
}

/** The template of the route that a path leads to, whether the request got there or not. */
export type TemplateOf = (path: string) => string | undefined

/** What serves the routes, and what names them. */
export interface RoutedMiddleware {
  readonly middleware: Middleware[]
  readonly templateOf: TemplateOf
}

async function dispatch(ctx: Context, base: string, { path, methods }: Route): Promise<void> {
  ctx.state['route'] = base + path
  const allowed = allowedMethods(methods)
  const handler = methods[(ctx.method === 'HEAD' ? 'GET' : ctx.method) as Method]
  if (handler) return handler(ctx)
  const headers = { Allow: allowed.join(', '), ...(methods.PATCH && ACCEPT_PATCH) }
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, headers)
  ctx.set(headers)
  ctx.status = 204
}

function allowedMethods(methods: Route['methods']): string[] {
  return [
    ...(methods.GET ? ['GET', 'HEAD'] : []),
    ...Object.keys(methods).filter((name) => name !== 'GET'),
    'OPTIONS',
  ]
}

const notFound: Middleware = (ctx) => {
  throw new DomainError(
    'RESOURCE_NOT_FOUND',
    `There is nothing at ${JSON.stringify(ctx.path.slice(0, 200))}.`,
  )
}
