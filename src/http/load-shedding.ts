import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import type { Context, Middleware, Next } from 'koa'
import type { DomainError } from '../model/errors.ts'
import type { ReportRequest, TemplateOf } from './access-log.ts'
import { callerOf } from './auth/authenticate.ts'
import { errorEnvelope, errorHeaders, helpLink, STATUS } from './errors.ts'
import { bodyBytes } from './json/body.ts'
import { SECURITY_HEADERS } from './responses.ts'

type Headers = Readonly<Record<string, string>>

/** How much of its capacity the service uses, and the response when there is none left. */
export interface Overload {
  /** Whether there is no room for one more request; of a caller, if one is given. */
  isFull(caller?: string): boolean
  /** Counts a request that is refused because there is no room, and returns the error for it. */
  refuse(): DomainError
  /** Counts a response of so many bytes as load, until it is released. */
  holdResponse(caller: string, bytes: number): () => void
  /** Waits until the caller may send another large body, which counts as load until it is released. */
  startBody(caller: string): Promise<() => void>
}

/** Keeps the load within the capacity of the service. */
export interface Shedding {
  /** Refuses a request when there is no room for any; belongs before authentication. */
  readonly refuseWhenFull: Middleware
  /** Refuses a caller beyond its share, and counts its responses; belongs behind authentication. */
  readonly limitCaller: Middleware
  /**
   * Refuses requests before the application looks at them, where that is possible.
   *
   * @param headers of every response of this service
   */
  wrap(app: RequestListener, headers: Headers, templateOf: TemplateOf, report: ReportRequest): RequestListener
}

/** In bytes; the buffers of the operating system take a smaller response at once. */
const SMALL_RESPONSE = 16 * 1024

/** In bytes; to read a smaller body takes about as long as to read a resource. */
const SMALL_BODY = 16 * 1024

/**
 * A response counts as load for a time after it was sent, so that the long responses of one caller, at 6 MB a
 * second, take a part of the processor's time and not all of it. So does a body, which may be refused.
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
      await withBody(overload, ctx, identity, next)
      const bytes = ctx.length ?? 0
      if (bytes <= SMALL_RESPONSE) return
      const release = overload.holdResponse(identity, bytes)
      finished(ctx.res, (error) =>
        error ? release() : setTimeout(release, bytes / BYTES_PER_MILLISECOND).unref(),
      )
    },
    wrap(app, headers, templateOf, report) {
      const isFull = ({ headers: { authorization = '' } }: IncomingMessage) =>
        overload.isFull(callers.get(authorization))
      return shedEarly(app, isFull, overload, { ...HEADERS, ...headers }, templateOf, report)
    },
  }
}

/** Counts a large body from before it is read until it is dealt with, and then for the time of its length. */
async function withBody(overload: Overload, ctx: Context, caller: string, next: Next): Promise<void> {
  // How long a body is that is sent in chunks shows only at its end.
  const isLarge = ctx.get('Transfer-Encoding') !== '' || (ctx.request.length ?? 0) > SMALL_BODY
  if (!isLarge) return next()
  const release = await overload.startBody(caller)
  try {
    await next()
  } finally {
    setTimeout(release, bodyBytes(ctx) / BYTES_PER_MILLISECOND).unref()
  }
}

/** The responses to requests with one of these may need headers of their own. */
const SPECIAL_HEADERS = ['traceparent', 'x-request-id']
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** The headers of every refusal, as the application sets them. */
const HEADERS: Headers = {
  ...Object.fromEntries(SECURITY_HEADERS),
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  Vary: 'Origin',
}

/**
 * Refuses requests for resources while there is no room, before they reach the application. In processor time a
 * refusal costs 34 µs here and 47 µs there: at four times the capacity, a tenth of a processor, which then serves.
 */
function shedEarly(
  app: RequestListener,
  isFull: (request: IncomingMessage) => boolean,
  overload: Overload,
  headers: Headers,
  templateOf: TemplateOf,
  report: ReportRequest,
): RequestListener {
  return (request, response) => {
    const route = isFull(request) && isPlain(request) ? templateOf(pathOf(request)) : undefined
    if (route === undefined) app(request, response)
    else refuse(request, response, route)
  }

  function refuse(request: IncomingMessage, response: ServerResponse, route: string): void {
    const refusal = overload.refuse()
    const body = JSON.stringify(errorEnvelope(refusal))
    const requestId = randomUUID()
    response.writeHead(STATUS[refusal.code], {
      ...headers,
      ...errorHeaders(refusal),
      Link: helpLink(pathOf(request), refusal.code),
      'X-Request-Id': requestId,
      'Content-Length': Buffer.byteLength(body),
    })
    response.end(body)
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
