import { randomUUID } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import type { Middleware } from 'koa'
import type { DomainError } from '../domain/model/errors.ts'
import type { ReportRequest, TemplateOf } from './access-log.ts'
import { callerOf } from './auth/authenticate.ts'
import { errorEnvelope, helpLink } from './errors.ts'

/** How much of its capacity the service uses, and the response when there is none left. */
export interface Overload {
  /** Whether there is no room for one more request; of a caller, if one is given. */
  isFull(caller?: string): boolean
  /** Counts a request that is refused because there is no room, and returns the error for it: always the same. */
  refuse(): DomainError
  /** Counts a response of so many bytes as load, until it is released. */
  holdResponse(caller: string, bytes: number): () => void
}

/** Keeps the load within the capacity of the service. */
export interface Shedding {
  /** Refuses a request when there is no room for any; belongs before authentication. */
  readonly refuseWhenFull: Middleware
  /** Refuses a caller beyond its share, and counts its responses; belongs behind authentication. */
  readonly limitCaller: Middleware
  /** Refuses requests before the application looks at them, where that is possible. */
  wrap(app: RequestListener, templateOf: TemplateOf, report: ReportRequest): RequestListener
}

/** In bytes; the buffers of the operating system take a smaller response at once. */
const SMALL_RESPONSE = 16 * 1024

/**
 * A response counts as load for a time after it was sent, so that the long responses of one caller, at 6 MB a
 * second, take a part of the processor's time and not all of it.
 */
const BYTES_PER_MILLISECOND = 6_000

/** How many callers beyond their share are remembered by their credentials. */
const MAXIMUM_CALLERS = 1_000

/** Makes the middleware that sheds load. */
export function createShedding(overload: Overload): Shedding {
  /** The callers that were beyond their share, by the header that authenticated them. */
  const callers = new Map<string, string>()
  return {
    refuseWhenFull: (_, next) => {
      if (overload.isFull()) throw overload.refuse()
      return next()
    },
    limitCaller: async (ctx, next) => {
      const { identity } = callerOf(ctx)
      if (overload.isFull(identity)) {
        if (callers.size >= MAXIMUM_CALLERS) callers.clear()
        callers.set(ctx.get('Authorization'), identity)
        throw overload.refuse()
      }
      await next()
      const bytes = ctx.length ?? 0
      if (bytes <= SMALL_RESPONSE) return
      const release = overload.holdResponse(identity, bytes)
      finished(ctx.res, (error) =>
        error ? release() : setTimeout(release, bytes / BYTES_PER_MILLISECOND).unref(),
      )
    },
    wrap(app, templateOf, report) {
      const isFull = ({ headers: { authorization = '' } }: IncomingMessage) =>
        overload.isFull(callers.get(authorization))
      return shedEarly(app, isFull, overload, templateOf, report)
    },
  }
}

/** The responses to requests with one of these may need headers of their own. */
const SPECIAL_HEADERS = ['origin', 'traceparent', 'x-request-id']
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Headers that belong to one response. */
const OWN_HEADERS = ['x-request-id', 'connection', 'date', 'link']

/**
 * Refuses requests for resources while there is no room, before they reach the application. A refusal there
 * costs a third of a successful request, so at four times its capacity the service would do little else. The
 * first request is refused by the application, and the headers of that response are used for the others.
 */
function shedEarly(
  app: RequestListener,
  isFull: (request: IncomingMessage) => boolean,
  overload: Overload,
  templateOf: TemplateOf,
  report: ReportRequest,
): RequestListener {
  let body: string | undefined
  let headers: OutgoingHttpHeaders | undefined
  return (request, response) => {
    const route = isFull(request) && isPlain(request) ? templateOf(pathOf(request)) : undefined
    if (route === undefined) return app(request, response)
    if (headers) return refuse(request, response, route)
    response.once('finish', () => {
      if (response.statusCode === 503) headers = headersOf(response)
    })
    app(request, response)
  }

  function refuse(request: IncomingMessage, response: ServerResponse, route: string): void {
    const refusal = overload.refuse()
    body ??= JSON.stringify(errorEnvelope(refusal))
    const requestId = randomUUID()
    const own = { 'X-Request-Id': requestId, Link: helpLink(pathOf(request), refusal.code) }
    response.writeHead(503, { ...headers, ...own }).end(body)
    const method = request.method as string
    const nothingElse = { seconds: 0, traceId: undefined, aborted: false, reason: undefined }
    report({ method, route, status: 503, requestId, ...nothingElse })
  }
}

function isPlain({ method = '', headers }: IncomingMessage): boolean {
  return METHODS.has(method) && !SPECIAL_HEADERS.some((name) => name in headers)
}

function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}

function headersOf(response: ServerResponse): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(response.getHeaders()).filter(([name]) => !OWN_HEADERS.includes(name)),
  )
}
