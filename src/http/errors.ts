import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { validate as isUuid } from 'uuid'
import { inWords } from '../model/definition/labels.ts'
import { DomainError, type ErrorCode, STATUS } from '../model/errors.ts'
import type { Context } from './context.ts'
import { link } from './headers.ts'
import { asksFor } from './negotiation.ts'
import { hasHost, type PublicAddress, rootFor } from './request-target.ts'

/** SPEC §2.4. */
export function errorEnvelope({ code, message, details }: DomainError) {
  return { error: { code, message, details } }
}

type Headers = Readonly<Record<string, string>>

export class HttpError extends DomainError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly headers: Headers,
  ) {
    super(code, message)
  }
}

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** RFC 9110 §15.5.6. */
export function methodNotAllowed(method: string, headers: Headers & { Allow: string }): HttpError {
  const message = `${method} is not allowed here. Allowed: ${headers.Allow}.`
  return new HttpError('METHOD_NOT_ALLOWED', message, headers)
}

function errorHeaders(error: DomainError): Headers {
  return {
    ...(error.code === 'SERVICE_UNAVAILABLE' && { 'Retry-After': '1' }),
    ...(error.code === 'AUTHENTICATION_REQUIRED' && { 'WWW-Authenticate': 'Bearer' }),
    // RFC 6750 §3.1.
    ...(error.scope && { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${error.scope}"` }),
    ...(error instanceof HttpError && error.headers),
  }
}

/**
 * The Link header that explains an error code (RFC 8288). Its URL is relative to the path of the request, so it works
 * behind any gateway.
 */
function helpLink(path: string, code: ErrorCode): string {
  return link(relativeAddress(path, code), 'help')
}

function relativeAddress(path: string, code: ErrorCode): string {
  return `${'../'.repeat(levelsOf(path))}errors/${code}`
}

/** No path of the service is deeper. Clients refuse the header that a path of 14,000 levels would need. */
const MAXIMUM_LEVELS = 100

function levelsOf(path: string): number {
  return Math.max(path.split('/').length - 2, 0)
}

/** Called for every fault of the service, with the id in the response. */
export type ReportFault = (error: unknown, requestId: string) => void

export type FormatError = (ctx: Context, error: DomainError) => { type: string; body: object }

export const PROBLEM = 'application/problem+json'

/**
 * A problem document (RFC 9457 §3). Its type, the URL that explains the code, is relative only if the host of the request
 * is malformed.
 */
function problemDocument(ctx: Context, { code, message, details }: DomainError, address: PublicAddress) {
  const id = ctx.state.requestId
  return {
    type: hasHost(ctx) ? `${rootFor(ctx, address)}/errors/${code}` : relativeAddress(ctx.path, code),
    title: inWords(code.toLowerCase()),
    status: STATUS[code],
    detail: message,
    instance: isUuid(id) ? `urn:uuid:${id}` : id,
    errors: details,
  }
}

/**
 * Makes the function that renders thrown errors in the format of the route, as problem documents if Accept names that type,
 * or as the error envelope (SPEC §2.4). Errors other than DomainError are faults of the service: they are reported, and the
 * response reveals nothing.
 */
export function errorRenderer(
  reportFault: ReportFault,
  address: PublicAddress,
  formatOf: (path: string) => FormatError | undefined,
): (ctx: Context, thrown: unknown) => void {
  const formatGeneral: FormatError = (ctx, error) =>
    asksFor(ctx, PROBLEM)
      ? { type: PROBLEM, body: problemDocument(ctx, error, address) }
      : { type: 'application/json; charset=utf-8', body: errorEnvelope(error) }
  return (ctx, thrown) => {
    const id = ctx.state.requestId
    const masked = `Internal error. The service log has the details under request id ${id}.`
    const error = thrown instanceof DomainError ? thrown : new DomainError('INTERNAL_ERROR', masked)
    if (error !== thrown) reportFault(thrown, id)
    // The log, but not the caller, gets the reason why the database did not serve.
    if (error.cause instanceof Error) ctx.state.reason = error.cause.message
    const { type, body } = (formatOf(ctx.path) ?? formatGeneral)(ctx, error)
    ctx.vary('Accept')
    ctx.status = STATUS[error.code]
    ctx.set(errorHeaders(error))
    if (levelsOf(ctx.path) <= MAXIMUM_LEVELS) ctx.append('Link', helpLink(ctx.path, error.code))
    ctx.set('Content-Type', type)
    ctx.body = JSON.stringify(body)
  }
}

/** By error code of Node. */
const REASONS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'The chunk extensions are too large.'],
}

/**
 * Responds with the error envelope (SPEC §2.4) to bytes that are not HTTP or arrive too late, and closes the connection,
 * since the beginning of the next request is unknown (RFC 9112 §11.2).
 */
export function respondToClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // If Node has begun to send a response on the socket, more bytes would corrupt it.
  const { _httpMessage: response } = socket as { _httpMessage?: { headersSent: boolean } }
  if (!socket.writable || error.code === 'ECONNRESET' || response?.headersSent) {
    socket.destroy()
    return
  }
  const reason = REASONS[error.code ?? ''] ?? ['MALFORMED_REQUEST', 'This is not a well-formed HTTP request.']
  endWith(socket, new DomainError(...reason))
}

/** CONNECT (RFC 9110 §9.3.6) has no path, so it never reaches the application. */
export function refuseConnect(_: IncomingMessage, socket: Duplex): void {
  // The HTTP server no longer handles this socket.
  socket.on('error', () => socket.destroy()).resume()
  endWith(socket, methodNotAllowed('CONNECT', { Allow: METHODS.join(', ') }))
}

function endWith(socket: Duplex, error: DomainError): void {
  const body = JSON.stringify(errorEnvelope(error))
  const response = [
    `HTTP/1.1 ${STATUS[error.code]} ${error.code}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    // The path of the request is unknown.
    `Link: ${helpLink('/', error.code)}`,
    ...Object.entries(errorHeaders(error)).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ]
  socket.end(response.join('\r\n'))
  // The client may never read the response.
  setTimeout(() => socket.destroy(), 1_000).unref()
}
