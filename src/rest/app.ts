import type { RequestListener } from 'node:http'
import cors from '@koa/cors'
import Koa, { type Context, type Middleware } from 'koa'
import type { Resource } from '../domain/model/resource.ts'
import type { Prepare } from '../graph/execution/operation.ts'
import { errorDocument, GRAPHQL_PATH } from '../graph/http/error-document.ts'
import { observe, type ReportRequest } from '../http/access-log.ts'
import { type IsReady, serveHealth } from '../http/health.ts'
import { createShedding, type Overload } from '../http/load-shedding.ts'
import { limitRate } from '../http/rate-limit.ts'
import { type ReportFault, renderErrors } from '../http/render-errors.ts'
import { requestId } from '../http/request-id.ts'
import { refuseMalformedHost, refuseMalformedQuery } from '../http/request-target.ts'
import { cacheControl, securityHeaders } from '../http/response-headers.ts'
import { sendInPieces } from '../http/send-in-pieces.ts'
import { serverTiming, timedAuthentication } from '../http/server-timing.ts'
import { openRoutes } from './documents/open-routes.ts'
import type { RestSettings } from './exchange.ts'
import { showOperations } from './operation-header.ts'
import { serveRoutes } from './router.ts'
import { createRoutes } from './routes.ts'

/** What the application is put together from. */
export interface AppParts {
  readonly resources: readonly Resource[]
  readonly prepare: Prepare
  readonly settings: RestSettings & AppSettings
  readonly authenticate: Middleware
  /** What is served beside the collections, to callers with a token: GraphQL. */
  readonly graphql: Middleware
  readonly reportFault: ReportFault
  /** Told of every request once it is over. */
  readonly reportRequest: ReportRequest
  readonly isReady: IsReady
  readonly overload: Overload
  /** What is served before anyone is asked for a token, such as metrics. */
  readonly open: readonly Middleware[]
}

interface AppSettings {
  readonly graphqlExplorer: boolean
  readonly trustProxy: boolean
  readonly serverTiming: boolean
  readonly rateLimit: number
}

const EXPOSED_HEADERS = [
  'ETag',
  'Location',
  'Link',
  'Last-Modified',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
]

/** The HTTP application. The order of this list is the order in which a request is looked at. */
export function createApp(parts: AppParts): RequestListener {
  const { resources, prepare, settings, authenticate, graphql, reportFault, reportRequest, overload } = parts
  const app = new Koa({ proxy: settings.trustProxy })
  const base = `/${settings.namespace}/${settings.version}`
  const shown = showOperations(prepare)
  const shedding = createShedding(overload)
  const routes = serveRoutes(base, createRoutes(resources, shown.prepare, settings))
  const middleware: Middleware[] = [
    sendInPieces,
    requestId(settings.trustProxy),
    observe(reportRequest, routes.templateOf),
    ...(settings.serverTiming ? [serverTiming] : []),
    cacheControl,
    securityHeaders(),
    cors({ exposeHeaders: EXPOSED_HEADERS }),
    renderErrors(reportFault, (path) => (path === GRAPHQL_PATH ? errorDocument : undefined)),
    serveHealth(parts.isReady),
    ...parts.open,
    refuseMalformedHost,
    openRoutes(resources, settings),
    shedding.refuseWhenFull,
    timedAuthentication(authenticate),
    limitRate(settings.rateLimit),
    shedding.limitCaller,
    refuseMalformedQuery,
    graphql,
    shown.middleware,
    ...routes.middleware,
  ]
  for (const layer of middleware) app.use(layer)
  ignoreLostConnections(app)
  app.on('error', (error, ctx) => reportFault(error, ctx?.state['requestId'] ?? ''))
  return shedding.wrap(app.callback(), routes.templateOf, reportRequest)
}

/**
 * Koa takes the error of a lost connection for one of the application, and answers it with 500. There is no one
 * left to answer, and the report of the request says that the caller went away.
 */
function ignoreLostConnections(app: Koa): void {
  const { onerror } = app.context
  app.context.onerror = function (this: Context, error) {
    const isLost =
      error === this.req.socket.errored ||
      (error as { code?: unknown })?.code === 'ERR_STREAM_PREMATURE_CLOSE'
    if (!isLost) onerror.call(this, error)
  }
}
