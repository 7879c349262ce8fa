import {
  context,
  isValidTraceId,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { tracer } from '../observability/observation.ts'
import type { Context, Middleware } from './context.ts'

/** Logs and metrics show only this much of a finished request. */
export interface AnsweredRequest {
  readonly method: string
  /** The template of the path, such as `/api/v1/species/:id`. Undefined if there is no route. */
  readonly route: string | undefined
  /** The beginning of the path, if there is no route. */
  readonly path?: string
  /** In a service that has several. */
  readonly namespace?: string
  /** If the connection was lost before the response, the status that it would have had. */
  readonly status: number
  readonly seconds: number
  readonly requestId: string
  /** From `traceparent`, or new. */
  readonly traceId: string | undefined
  /** Whether the connection was lost before all of the response was sent. */
  readonly aborted: boolean
  /** Why the database was unavailable, if it was. */
  readonly reason: string | undefined
}

export type ReportRequest = (request: AnsweredRequest) => void

const PATH_CHARACTERS = 200

/**
 * Reports finished requests, and traces all but probes. A lost connection ends the response but not the work, so the
 * report waits for the work.
 */
export function observe(
  reports: readonly ReportRequest[],
  templateOf: (path: string) => string | undefined,
  isProbe: (path: string) => boolean,
): Middleware {
  return (ctx, next) => {
    const started = performance.now()
    const parent = propagation.extract(context.active(), ctx.headers)
    const attributes = { 'http.request.method': ctx.method, 'url.path': ctx.path }
    const span = isProbe(ctx.path)
      ? undefined
      : tracer.startSpan(ctx.method, { kind: SpanKind.SERVER, attributes }, parent)
    const isAborted = untilClosed(ctx)
    const done: Promise<void> = span ? context.with(trace.setSpan(parent, span), next) : next()
    const finish = async () => {
      const aborted = await isAborted
      // The request may have ended before it reached its route.
      const route = ctx.state.route ?? templateOf(ctx.path)
      const { namespace } = ctx.state
      const request = {
        method: ctx.method,
        ...(namespace !== undefined && { namespace }),
        route,
        // It is printable: Node's parser refuses other targets.
        ...(route === undefined && { path: ctx.path.slice(0, PATH_CHARACTERS) }),
        status: ctx.res.statusCode,
        seconds: (performance.now() - started) / 1000,
        requestId: ctx.state.requestId,
        traceId: traceIdOf(ctx, span),
        aborted,
        reason: ctx.state.reason,
      }
      span?.setAttribute('http.response.status_code', request.status)
      if (route) span?.updateName(`${ctx.method} ${route}`).setAttribute('http.route', route)
      if (request.status >= 500) span?.setStatus({ code: SpanStatusCode.ERROR })
      span?.end()
      for (const report of reports) report(request)
    }
    void done.then(finish, finish)
    return done
  }
}

/** Resolves when the response closes, to whether that was before all of it was sent. */
function untilClosed({ req, res }: Context): Promise<boolean> {
  return new Promise((resolve) => {
    let isSent = false
    // A response whose connection is lost also "finishes", when Node discards what it had written.
    res.prependOnceListener('finish', () => {
      isSent = !req.socket.destroyed
    })
    res.once('close', () => resolve(!isSent))
  })
}

/** W3C Trace Context §3.2. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/

function traceIdOf(ctx: Context, span: Span | undefined): string | undefined {
  const ids = [span?.spanContext().traceId, TRACEPARENT.exec(ctx.get('traceparent'))?.[1]]
  return ids.find((id) => id !== undefined && isValidTraceId(id))
}
