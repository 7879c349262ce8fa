import type { Context, Middleware } from 'koa'
import type { Resource } from '../../domain/model/resource.ts'
import { methodNotAllowed } from '../../http/errors.ts'
import { assetRoutes } from './assets.ts'
import { catalogueRoutes } from './catalogue.ts'
import { documentRoutes } from './documents.ts'
import type { OpenHandler } from './open-route.ts'
import { browseShell } from './pages/browse-shell.ts'
import type { SiteSettings } from './pages/page.ts'
import { referenceRoutes } from './reference.ts'

/**
 * What anyone may see without a token, since it holds no data: documents on the service, its pages, and
 * the empty page that browsers fill in by themselves. Stands in front of the authentication; every other
 * path is left to it.
 *
 * @throws {DomainError} METHOD_NOT_ALLOWED (405), NOT_ACCEPTABLE (406)
 */
export function openRoutes(resources: readonly Resource[], settings: SiteSettings): Middleware {
  const routes = new Map<string, OpenHandler>([
    ...documentRoutes(resources, settings),
    ...catalogueRoutes(settings),
    ...referenceRoutes(settings),
    ...assetRoutes(),
  ])
  const shell = browseShell(settings)
  return async (ctx, next) => {
    const handler = routes.get(ctx.path)
    if (handler) return answerOpenly(ctx, handler)
    return shell(ctx) ? undefined : next()
  }
}

async function answerOpenly(ctx: Context, handler: OpenHandler): Promise<void> {
  ctx.state['route'] = ctx.path
  if (ctx.method === 'GET' || ctx.method === 'HEAD') {
    ctx.status = 200
    return handler(ctx)
  }
  const headers = { Allow: 'GET, HEAD, OPTIONS' }
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, headers)
  ctx.set(headers)
  ctx.status = 204
}
