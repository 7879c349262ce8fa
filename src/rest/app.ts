import cors from '@koa/cors'
import Koa, { type Middleware } from 'koa'
import type { Resource } from '../domain/resource.ts'
import type { Prepare } from '../graph/operation.ts'
import type { RestSettings } from './exchange.ts'
import { type ReportFault, renderErrors } from './render-errors.ts'
import { requestId } from './request-id.ts'
import { serveRoutes } from './router.ts'
import { createRoutes } from './routes.ts'

/** What the application is put together from. */
export interface AppParts {
  readonly resources: readonly Resource[]
  readonly prepare: Prepare
  readonly settings: RestSettings & { readonly trustProxy: boolean }
  readonly authenticate: Middleware
  /** What is served beside the collections, to callers with a token: GraphQL. */
  readonly graphql: Middleware
  readonly reportFault: ReportFault
}

const EXPOSED_HEADERS = ['ETag', 'Location', 'Link', 'Last-Modified', 'Retry-After', 'X-Request-Id']

/** The HTTP application. The order of this list is the order in which a request is looked at. */
export function createApp(parts: AppParts): Koa {
  const { resources, prepare, settings, authenticate, graphql, reportFault } = parts
  const app = new Koa({ proxy: settings.trustProxy })
  const base = `/${settings.namespace}/${settings.version}`
  const middleware: Middleware[] = [
    requestId,
    cors({ exposeHeaders: EXPOSED_HEADERS }),
    renderErrors(reportFault),
    authenticate,
    graphql,
    ...serveRoutes(base, createRoutes(resources, prepare, settings)),
  ]
  for (const layer of middleware) app.use(layer)
  app.on('error', (error, ctx) => reportFault(error, ctx?.state['requestId'] ?? ''))
  return app
}
