import { randomUUID } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import type { DomainError } from '../domain/errors.ts'
import { errorEnvelope } from './errors.ts'
import type { ReportRequest } from './observe.ts'
import type { TemplateOf } from './router.ts'

/** Whether there is more to do than can be done, and what whoever comes then is told. */
export interface Overload {
  isFull(): boolean
  readonly refusal: DomainError
}

/** Requests with one of these may be answered with headers of their own. */
const SPECIAL_HEADERS = ['origin', 'traceparent', 'x-request-id']
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Headers that belong to one answer. */
const OWN_HEADERS = ['x-request-id', 'connection', 'date']

/**
 * Refuses requests for resources while there is no room, before the application looks at them: to be refused
 * there costs a third of what it costs to be served, so that at four times the work it can do the service
 * would do little else. The first one is refused by the application, and shows which headers the others have.
 */
export function shedEarly(
  app: RequestListener,
  { isFull, refusal }: Overload,
  templateOf: TemplateOf,
  report: ReportRequest,
): RequestListener {
  const body = JSON.stringify(errorEnvelope(refusal))
  let headers: OutgoingHttpHeaders | undefined
  return (request, response) => {
    const route = isFull() && isPlain(request) ? templateOf(pathOf(request)) : undefined
    if (route === undefined) return app(request, response)
    if (headers) return refuse(request, response, route)
    response.once('finish', () => {
      if (response.statusCode === 503) headers = headersOf(response)
    })
    app(request, response)
  }

  function refuse(request: IncomingMessage, response: ServerResponse, route: string): void {
    const requestId = randomUUID()
    response.writeHead(503, { ...headers, 'X-Request-Id': requestId }).end(body)
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
