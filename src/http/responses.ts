import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import cors from '@koa/cors'
import helmet from 'helmet'
import { ANONYMOUS } from '../model/access/caller.ts'
import { requestTimings, Timings } from '../observability/observation.ts'
import type { Context, Middleware } from './context.ts'
import { METHODS } from './errors.ts'

export interface ResponseSettings {
  readonly serverTiming: boolean
  readonly compression: boolean
}

/** Gives every response, also of an error, what does not depend on its route. */
export function completeResponses(
  settings: ResponseSettings,
  renderError: (ctx: Context, thrown: unknown) => void,
  setPathHeaders?: (ctx: Context) => void,
): Middleware {
  const vary = settings.compression ? 'Accept-Encoding, Origin' : 'Origin'
  return async (ctx, next) => {
    ctx.res.setHeader('Vary', vary)
    const compress = settings.compression ? compressor(ctx) : undefined
    ctx.state.requestId = requestId(ctx)
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId)
    ctx.res.setHeaders(SECURITY_HEADERS)
    setPathHeaders?.(ctx)
    ctx.res.setHeaders(SHARED)
    const respond = async () => {
      try {
        await (ctx.method === 'OPTIONS' ? preflight(ctx, next) : next())
      } catch (thrown) {
        renderError(ctx, thrown)
      }
    }
    const timings = settings.serverTiming ? new Timings() : undefined
    await (timings ? requestTimings.run(timings, respond) : respond())
    setCacheControl(ctx)
    if (timings) ctx.set('Server-Timing', serverTiming(timings))
    sendInPieces(ctx)
    await compress?.()
  }
}

const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/

/**
 * The id of a request. Only a trusted proxy may send one: other clients could reuse ids, and make requests indistinguishable
 * in the log.
 */
function requestId(ctx: Context): string {
  const received = ctx.app.proxy ? ctx.get('X-Request-Id') : ''
  return ACCEPTED.test(received) ? received : randomUUID()
}

/** The same in every response, so they are computed once. */
const SECURITY_HEADERS = new Map<string, string>()
const recorder = { setHeader: SECURITY_HEADERS.set.bind(SECURITY_HEADERS), removeHeader() {} }
helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  xFrameOptions: { action: 'deny' },
})({} as IncomingMessage, recorder as unknown as ServerResponse, () => {})

/**
 * Let scripts of other origins use the service, and read all headers of its responses. No request needs cookies, so the
 * headers can be exposed by `*` (Fetch standard §3.3.3).
 */
const SHARED = new Map(
  ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'].map((name) => [name, '*']),
)

/** In seconds: the longest time that Chromium keeps the answer to a preflight. */
const PREFLIGHT_AGE = 7200

/** Ignores an OPTIONS that is not a preflight. */
const preflight = cors({ allowMethods: METHODS, maxAge: PREFLIGHT_AGE })

/**
 * Only responses with an entity tag may be cached, and with revalidation (RFC 9111 §5.2): by shared caches if the request
 * had no token, by the caller otherwise. With a token, some caches store only what has `must-revalidate` (RFC 9111 §3.5).
 */
function setCacheControl(ctx: Context): void {
  if (ctx.res.hasHeader('Cache-Control')) return
  const isReading = ctx.method === 'GET' || ctx.method === 'HEAD'
  const isValidated = isReading && ctx.status < 400 && ctx.res.hasHeader('ETag')
  const caches =
    ctx.state.caller?.identity === ANONYMOUS ? 'public, no-cache' : 'private, no-cache, must-revalidate'
  ctx.set('Cache-Control', isValidated ? caches : 'no-store')
}

/** W3C Server Timing. */
function serverTiming({ auth, graphql, database, statements }: Timings): string {
  return [
    `auth;dur=${auth.toFixed(2)}`,
    `graphql;dur=${graphql.toFixed(2)}`,
    `database;dur=${database.toFixed(2)};desc="${statements} ${statements === 1 ? 'statement' : 'statements'}"`,
  ].join(', ')
}

/** In UTF-16 code units. */
const PIECE = 64 * 1024

/** Shorter bodies are sent at once: encoding and writing them takes less than a millisecond. */
const SHORT = 4 * PIECE

/**
 * Sends a long text in pieces, one per turn of the event loop, to serve other requests in between. Encoding and writing
 * 15 MB at once takes up to 100 ms.
 */
function sendInPieces(ctx: Context): void {
  const { body } = ctx
  if (typeof body !== 'string' || body.length <= SHORT) return
  const { type, length } = ctx
  // A stream adds listeners to those of the response.
  ctx.res.setMaxListeners(20)
  ctx.body = Readable.from(pieces(body))
  ctx.type = type
  ctx.length = length
}

async function* pieces(text: string): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; ) {
    const isLead = (text.charCodeAt(start + PIECE - 1) & 0xfc00) === 0xd800
    // Does not split a surrogate pair.
    const end = start + PIECE + (isLead ? 1 : 0)
    yield Buffer.from(text.slice(start, end))
    start = end
    await nextTurn()
  }
}

const ENCODERS = {
  // Higher qualities take several times as long.
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: () => createGzip(),
}

type Encoding = keyof typeof ENCODERS

/** In bytes: compressing a shorter body takes longer than sending it. */
const SHORTEST = 1024

/**
 * For a resource with a version. A shorter one arrives in the first round trip anyway (RFC 6928), compressing it would take
 * longer than reading it, and uncompressed it keeps the entity tag that writes return.
 */
const SHORTEST_VERSIONED = 16 * 1024

/** Excludes images, which are compressed, and `text/event-stream`, because an encoder holds events back. */
const COMPRESSIBLE = /^text\/(?!event-stream)|json|javascript|yaml/

/**
 * Makes the function that compresses the body of a response from 1 KiB, and resources from 16 KiB, with the encoding that
 * the client prefers (RFC 9110 §12.5.3). A compressed representation has an entity tag of its own (§8.8.3.3): `"x:1"`
 * becomes `"x:1:gzip"`, which If-Match takes as well, and If-None-Match from a client that accepts the encoding. HEAD gets
 * the headers of the compressed representation.
 */
function compressor(ctx: Context): (() => Promise<void>) | undefined {
  const preferred = ctx.get('Accept-Encoding') && ctx.acceptsEncodings('br', 'gzip', 'identity')
  if (preferred !== 'br' && preferred !== 'gzip') return undefined
  const known = ctx.get('If-None-Match')
  if (known !== '') ctx.headers['if-none-match'] = known.replaceAll(`:${preferred}"`, '"')
  return () => compress(ctx, preferred, known)
}

async function compress(ctx: Context, preferred: Encoding, known: string): Promise<void> {
  const etag = String(ctx.response.headers['etag'] ?? '').replace(/^(".*)"$/, `$1:${preferred}"`)
  const shortest = ctx.state.isVersioned ? SHORTEST_VERSIONED : SHORTEST
  const isCompressible = (ctx.length ?? 0) >= shortest && COMPRESSIBLE.test(ctx.type)
  if (isCompressible) {
    const body = ctx.body as Readable | Buffer | string
    // The body is complete before it is sent, so that the time limit for receiving it does not include compression.
    ctx.body = await (Buffer.isBuffer(body) ? compressedOnce(body, preferred) : compressed(body, preferred))
    ctx.set('Content-Encoding', preferred)
  }
  if (etag !== '' && (isCompressible || (ctx.status === 304 && known.includes(etag)))) ctx.set('ETag', etag)
}

/** Keeps the compressed form of static content, whose buffers live on. */
const kept = { br: new WeakMap<Buffer, Promise<Buffer>>(), gzip: new WeakMap<Buffer, Promise<Buffer>>() }

function compressedOnce(body: Buffer, encoding: Encoding): Promise<Buffer> {
  const compressing = kept[encoding].get(body) ?? compressed(body, encoding)
  kept[encoding].set(body, compressing)
  return compressing
}

function compressed(body: Readable | Buffer | string, encoding: Encoding): Promise<Buffer> {
  const source = body instanceof Readable ? body : Readable.from([body])
  return buffer(source.pipe(ENCODERS[encoding]()))
}
