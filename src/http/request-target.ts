import type { Context, Middleware } from 'koa'
import { DomainError } from '../domain/model/errors.ts'

/** A name, an IPv4 or an IPv6 address, and a port (RFC 3986 §3.2.2, without its rare forms). */
const HOST = /^(?:[A-Za-z0-9._~-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/**
 * Refuses a request whose host cannot be one, since links are made of it (RFC 9112 §3.2). It is that of
 * the Host header; where a proxy is trusted, of its X-Forwarded headers.
 *
 * @throws {DomainError} MALFORMED_REQUEST (400)
 */
export const refuseMalformedHost: Middleware = async (ctx, next) => {
  const isOne = (ctx.req.headersDistinct['host']?.length ?? 1) === 1
  const isWeb = ctx.protocol === 'http' || ctx.protocol === 'https'
  const areHosts = HOST.test(ctx.host) && HOST.test(ctx.headers.host ?? ctx.host)
  if (!isOne || !isWeb || !areHosts || !isUrl(ctx)) {
    throw new DomainError('MALFORMED_REQUEST', 'The request must name one host, in its header Host.')
  }
  await next()
}

/** Koa parses the URL when it is first asked for, and has none where that fails. */
function isUrl(ctx: Context): boolean {
  return ctx.URL.searchParams !== undefined
}

/**
 * Refuses a query string that is not percent-encoded UTF-8, which would otherwise be read as other text than
 * was sent.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400)
 */
export const refuseMalformedQuery: Middleware = async (ctx, next) => {
  try {
    decodeURIComponent(ctx.querystring)
  } catch {
    throw new DomainError('INVALID_QUERY_PARAMETER', 'The query string is not percent-encoded UTF-8.')
  }
  await next()
}
