import { LRUCache } from 'lru-cache'
import { DomainError } from '../model/errors.ts'
import type { Context, Middleware } from './context.ts'

/** A name or an IP address, with an optional port (RFC 3986 §3.2.2, without its rare forms). */
const HOST = /^(?:[A-Za-z0-9._~-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/** The path prefix that clients of a gateway use. A URL parser would remove a segment of dots. */
const PREFIX = /^(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))(?:[\w.~-]|%[\da-f]{2})+)*\/?$/i

const MAXIMUM_PREFIX = 255

export interface PublicAddress {
  /** The beginning of links: an origin, perhaps with a path. Undefined: the origin of the request. */
  readonly publicBaseUrl: string | undefined
}

/**
 * The beginning of every URL, as the client sees it: the public base URL or the origin of the request, and the path that
 * a gateway has removed, unless the public base URL has a path. It is derived once for a request, because a service has one
 * public address.
 */
export function rootFor(ctx: Context, address: PublicAddress): string {
  ctx.state.root ??= computeRoot(ctx, address)
  return ctx.state.root
}

function computeRoot(ctx: Context, { publicBaseUrl }: PublicAddress): string {
  const { namespace } = ctx.state
  const isWhole = publicBaseUrl !== undefined && new URL(publicBaseUrl).pathname !== '/'
  const prefixes = isWhole ? [] : forwardedPrefixes(ctx).map((prefix) => prefix.replace(/\/$/, ''))
  const mount = namespace === undefined ? [] : [`/${namespace}`]
  return [publicBaseUrl ?? `${protocolOf(ctx)}://${ctx.host}`, ...prefixes, ...mount].join('')
}

/** Gateways write the protocol in any case. */
function protocolOf({ protocol }: Context): string {
  return protocol.toLowerCase()
}

/** The path prefixes that trusted gateways have removed. Each adds its own. */
function forwardedPrefixes(ctx: Context): string[] {
  const header = ctx.app.proxy ? ctx.get('X-Forwarded-Prefix') : ''
  return header.split(',').map((prefix) => prefix.trim())
}

/**
 * Whether links can use the host of the request (RFC 9112 §3.2): that in the Host header or, with a trusted proxy, in
 * X-Forwarded headers.
 */
export function hasHost(ctx: Context): boolean {
  const prefixes = forwardedPrefixes(ctx)
  const arePrefixes =
    prefixes.join('').length <= MAXIMUM_PREFIX && prefixes.every((text) => PREFIX.test(text))
  return arePrefixes && isOrigin(protocolOf(ctx), ctx.host) && hasOneHost(ctx)
}

/** Clients name few hosts. Reading one takes 10 µs. */
const origins = new LRUCache<string, boolean>({ max: 100 })

function isOrigin(protocol: string, host: string): boolean {
  const origin = `${protocol}://${host}`
  const known = origins.get(origin)
  if (known !== undefined) return known
  const isWeb = protocol === 'http' || protocol === 'https'
  const isValid = isWeb && HOST.test(host) && URL.canParse(origin)
  origins.set(origin, isValid)
  return isValid
}

function hasOneHost({ headers, host, req }: Context): boolean {
  let count = 0
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count <= 1 && (headers.host === undefined || headers.host === host || HOST.test(headers.host))
}

export const refuseMalformedHost: Middleware = (ctx, next) => {
  if (hasHost(ctx)) return next()
  throw new DomainError(
    'MALFORMED_REQUEST',
    'The request must name exactly one host, in the Host header or in the X-Forwarded headers of a gateway.',
  )
}

/** Sets the path `/` for a target without one, such as `other://host` (RFC 9110 §4.2.3). */
export const completeTarget: Middleware = (ctx, next) => {
  ctx.path ??= '/'
  return next()
}

/** Otherwise, the text that is read would differ from the text that was sent. */
export const refuseMalformedQuery: Middleware = (ctx, next) => {
  try {
    decodeURIComponent(ctx.querystring)
  } catch {
    throw new DomainError('INVALID_QUERY_PARAMETER', 'The query string is not percent-encoded UTF-8.')
  }
  return next()
}
