import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { DomainError, type ErrorCode, STATUS } from '../model/errors.ts'
import { errorEnvelope, errorHeaders, helpLink, METHODS, methodNotAllowed } from './errors.ts'

const REASONS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'The extensions of a chunk are too large.'],
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
  // From here on the HTTP server no longer handles the socket.
  socket.on('error', () => socket.destroy()).resume()
  endWith(socket, methodNotAllowed('CONNECT', { Allow: METHODS.join(', ') }))
}

/** The client may never read the response, so do not wait for it. */
function endWith(socket: Duplex, error: DomainError): void {
  socket.end(rawResponse(error))
  setTimeout(() => socket.destroy(), 1_000).unref()
}

function rawResponse(error: DomainError): string {
  const body = JSON.stringify(errorEnvelope(error))
  return [
    `HTTP/1.1 ${STATUS[error.code]} ${error.code}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    // Where the request was for is unknown.
    `Link: ${helpLink('/', error.code)}`,
    ...Object.entries(errorHeaders(error)).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n')
}
