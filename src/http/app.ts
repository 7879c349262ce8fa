import type { RequestListener } from 'node:http'
import Koa from 'koa'
import { observe, type ReportRequest } from './access-log.ts'
import { exchangeConsistencyTokens } from './consistency.ts'
import type { Context, Middleware } from './context.ts'
import { errorRenderer, type ReportFault } from './errors.ts'
import { checkHeaders } from './negotiation.ts'
import {
  completeTarget,
  type PublicAddress,
  refuseMalformedHost,
  refuseMalformedQuery,
} from './request-target.ts'
import { completeResponses, type ResponseSettings } from './responses.ts'
import { checkTarget, createRouteTable, joined, type Route } from './routes.ts'

interface AppParts {
  readonly routes: readonly Route[]
  readonly settings: PublicAddress & ResponseSettings & { readonly trustProxy: boolean }
  readonly authenticate: Middleware
  readonly reportFault: ReportFault
  readonly reports: readonly ReportRequest[]
  /** Runs before everything else. */
  readonly outermost?: readonly Middleware[] | undefined
  /** Runs after authentication, in this order. */
  readonly middleware?: readonly Middleware[] | undefined
  readonly setPathHeaders?: SetPathHeaders | undefined
  /** Set if reads can be older than writes: by how many milliseconds. */
  readonly lag?: number | undefined
}

/**
 * Sets headers of every response at certain paths, including errors.
 *
 * @param hasRoute whether the service serves a path
 */
export type SetPathHeaders = (ctx: Context, hasRoute: (path: string) => boolean) => void

/** Middleware runs in the order of these lists. */
export function createApp(parts: AppParts): RequestListener {
  const { settings, reportFault, setPathHeaders, lag } = parts
  const app = new Koa({ proxy: settings.trustProxy })
  const token = [
    refuseMalformedHost,
    parts.authenticate,
    ...(lag === undefined ? [] : [exchangeConsistencyTokens(lag)]),
    ...(parts.middleware ?? []),
    refuseMalformedQuery,
  ]
  const routes = createRouteTable(parts.routes, { probe: [], open: [refuseMalformedHost], token })
  const renderError = errorRenderer(reportFault, settings, (path) => routes.at(path)?.formatError)
  const middleware = [
    ...(parts.outermost ?? []),
    completeTarget,
    observe(parts.reports, (path) => routes.at(path)?.path, routes.isProbe),
    completeResponses(settings, renderError, setPathHeaders && ((ctx) => setPathHeaders(ctx, routes.has))),
    checkHeaders,
    checkTarget,
  ]
  app.use(joined(middleware, routes.serve))
  ignoreLostConnections(app)
  app.on('error', (error, ctx) => reportFault(error, ctx?.state.requestId ?? ''))
  return app.callback()
}

/**
 * Koa treats a lost connection as an error of the application and responds with 500, although the client is gone. The
 * report of the request already says that the connection was lost.
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
