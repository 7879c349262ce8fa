import type { RequestListener } from 'node:http'
import cors from '@koa/cors'
import Koa, { type Context, type Middleware } from 'koa'
import { observe, type ReportRequest } from './access-log.ts'
import { createShedding, type Overload } from './load-shedding.ts'
import { limitRate } from './rate-limit.ts'
import { type ReportFault, renderErrors } from './render-errors.ts'
import { requestId } from './request-id.ts'
import { refuseMalformedHost, refuseMalformedQuery } from './request-target.ts'
import { cacheControl, securityHeaders } from './response-headers.ts'
import { notFound, type RouteTable } from './routes.ts'
import { sendInPieces } from './send-in-pieces.ts'
import { serverTiming, timedAuthentication } from './server-timing.ts'

/** What the application is put together from. */
export interface AppParts {
  readonly routes: RouteTable
  readonly settings: AppSettings
  readonly authenticate: Middleware
  readonly reportFault: ReportFault
  /** Told of every request once it is over. */
  readonly reportRequest: ReportRequest
  readonly overload: Overload
}

interface AppSettings {
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
  const { routes, settings, authenticate, reportFault, reportRequest, overload } = parts
  const app = new Koa({ proxy: settings.trustProxy })
  const shedding = createShedding(overload)
  const middleware: Middleware[] = [
    sendInPieces,
    requestId(settings.trustProxy),
    observe(
      reportRequest,
      (path) => routes.at(path)?.path,
      (path) => routes.isProbe(path),
    ),
    ...(settings.serverTiming ? [serverTiming] : []),
    cacheControl,
    securityHeaders(),
    cors({ exposeHeaders: EXPOSED_HEADERS }),
    renderErrors(reportFault, (path) => routes.at(path)?.formatError),
    routes.serve('probe'),
    refuseMalformedHost,
    routes.serve('open'),
    shedding.refuseWhenFull,
    timedAuthentication(authenticate),
    limitRate(settings.rateLimit),
    shedding.limitCaller,
    refuseMalformedQuery,
    routes.serve('token'),
    notFound,
  ]
  for (const layer of middleware) app.use(layer)
  ignoreLostConnections(app)
  app.on('error', (error, ctx) => reportFault(error, ctx?.state['requestId'] ?? ''))
  return shedding.wrap(app.callback(), (path) => sheddable(routes, path), reportRequest)
}

/** The template of a path whose requests are refused early: they need a token and get the error envelope. */
function sheddable(routes: RouteTable, path: string): string | undefined {
  const route = routes.at(path)
  return route?.access === 'token' && !route.formatError ? route.path : undefined
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
