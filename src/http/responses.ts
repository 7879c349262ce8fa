import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import cors from '@koa/cors'
import helmet from 'helmet'
import type { Middleware } from 'koa'
import { requestTimings, Timings } from '../observability/observation.ts'
import { METHODS } from './errors.ts'

/**
 * Every header that clients may need and that CORS does not expose by default (Fetch standard, §2.2.2). A test compares
 * the list with what the service sends.
 */
const EXPOSED_HEADERS = [
  'Accept-Patch',
  'Allow',
  'Consistency-Token',
  'Content-Encoding',
  'Content-Location',
  'ETag',
  'GraphQL-Operation',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'Vary',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Total-Count',
]

const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/

/**
 * Gives every request an id for its response and the log. Only a trusted proxy may send one: other clients could reuse
 * ids, and make requests indistinguishable in the log.
 */
export function requestId(trustProxy: boolean): Middleware {
  return (ctx, next) => {
    const received = trustProxy ? ctx.get('X-Request-Id') : ''
    const id = ACCEPTED.test(received) ? received : randomUUID()
    ctx.state['requestId'] = id
    ctx.set('X-Request-Id', id)
    return next()
  }
}

const protect = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  xFrameOptions: { action: 'deny' },
})

/**
 * The headers that keep a browser from doing anything with a response except reading it, also from other origins. They
 * are the same in every response, so they are computed once.
 */
const SECURITY_HEADERS = new Map<string, string>()
const recorder = { setHeader: SECURITY_HEADERS.set.bind(SECURITY_HEADERS), removeHeader() {} }
protect({} as IncomingMessage, recorder as unknown as ServerResponse, () => {})

export const securityHeaders: Middleware = (ctx, next) => {
  for (const [name, value] of SECURITY_HEADERS) ctx.res.setHeader(name, value)
  return next()
}

/** Lets scripts of other origins use the service, and read all headers of its responses (CORS, Fetch standard §3.3). */
export function crossOrigin(more: readonly string[] = []): Middleware {
  const exposeHeaders = [...EXPOSED_HEADERS, ...more].join(',')
  const allow = cors({ exposeHeaders, allowMethods: METHODS })
  return (ctx, next) => {
    // The library ignores an OPTIONS that is no preflight.
    if (ctx.method === 'OPTIONS' && !ctx.get('Access-Control-Request-Method')) {
      ctx.set({ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposeHeaders })
    }
    return allow(ctx, next)
  }
}

/** Only callers themselves may cache, only what has an entity tag, and with revalidation (RFC 9111 §5.2). */
export const cacheControl: Middleware = async (ctx, next) => {
  await next()
  if (ctx.response.get('Cache-Control')) return
  const isReading = ctx.method === 'GET' || ctx.method === 'HEAD'
  const isValidated = isReading && ctx.status < 400 && ctx.response.get('ETag')
  ctx.set('Cache-Control', isValidated ? 'private, no-cache' : 'no-store')
}

/** Reports in every response where its time went (W3C Server Timing). */
export const serverTiming: Middleware = async (ctx, next) => {
  const timings = new Timings()
  await requestTimings.run(timings, next)
  const { auth, graphql, database, statements } = timings
  const metrics = [
    `auth;dur=${auth.toFixed(2)}`,
    `graphql;dur=${graphql.toFixed(2)}`,
    `database;dur=${database.toFixed(2)};desc="${statements} ${statements === 1 ? 'statement' : 'statements'}"`,
  ]
  ctx.set('Server-Timing', metrics.join(', '))
}

/** In UTF-16 code units. */
const PIECE = 64 * 1024

/** Shorter bodies are sent at once: encoding and writing them takes less than a millisecond. */
const SHORT = 4 * PIECE

/**
 * Sends a long text body in pieces, one per turn of the event loop, so that other requests are served in between.
 * Encoding and writing 15 MB at once takes up to 100 ms.
 */
export const sendInPieces: Middleware = async (ctx, next) => {
  await next()
  const { body } = ctx
  if (typeof body !== 'string' || body.length <= SHORT) return
  const { type, length } = ctx
  // A stream needs some listeners of its own beside those of the response.
  ctx.res.setMaxListeners(20)
  ctx.body = Readable.from(pieces(body))
  ctx.type = type
  ctx.length = length
}

async function* pieces(text: string): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; ) {
    const end = endOfPiece(text, start + PIECE)
    yield Buffer.from(text.slice(start, end))
    start = end
    await nextTurn()
  }
}

/** Does not split a surrogate pair. */
function endOfPiece(text: string, end: number): number {
  const isLead = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return isLead ? end + 1 : end
}
