import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import type { Context, Middleware } from 'koa'

const ENCODERS = {
  // Higher qualities take several times as long.
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: () => createGzip(),
}

type Encoding = keyof typeof ENCODERS

/** In bytes. Compressing a shorter body takes longer than sending it. */
const SHORTEST = 1024

/**
 * Of a resource with a version. A shorter one is sent in the first round trip anyway (RFC 6928), compressing it would
 * take longer than reading it, and so its entity tag is the one that writes return.
 */
const SHORTEST_VERSIONED = 16 * 1024

/** Not images, which are compressed, and not `text/event-stream`, because an encoder holds events back. */
const COMPRESSIBLE = /^text\/(?!event-stream)|json|javascript|yaml/

/**
 * Compresses bodies from 1 KiB, and resources from 16 KiB, with the encoding that the client prefers (RFC 9110 §12.5.3). A
 * compressed representation has an entity tag of its own (§8.8.3.3): `"x:1"` becomes `"x:1:gzip"`, which If-Match takes as
 * well, and If-None-Match from a client that accepts the encoding. HEAD gets the headers of the compressed representation.
 */
export function compressBodies(): Middleware {
  return async (ctx, next) => {
    ctx.vary('Accept-Encoding')
    const preferred = ctx.get('Accept-Encoding') && ctx.acceptsEncodings('br', 'gzip', 'identity')
    if (preferred !== 'br' && preferred !== 'gzip') return next()
    const known = ctx.get('If-None-Match')
    if (known !== '') ctx.headers['if-none-match'] = known.replaceAll(`:${preferred}"`, '"')
    await next()
    const etag = String(ctx.response.headers['etag'] ?? '').replace(/^(".*)"$/, `$1:${preferred}"`)
    const shortest = ctx.state['isVersioned'] ? SHORTEST_VERSIONED : SHORTEST
    const isCompressible = (ctx.length ?? 0) >= shortest && COMPRESSIBLE.test(ctx.type)
    if (isCompressible) await compress(ctx, preferred)
    if (etag !== '' && (isCompressible || (ctx.status === 304 && known.includes(etag)))) ctx.set('ETag', etag)
  }
}

/** Replaces the body. It is complete before it is sent: the time to receive it is the client's, that to compress it is not. */
async function compress(ctx: Context, encoding: Encoding): Promise<void> {
  const body = ctx.body as Readable | Buffer | string
  ctx.body = await (Buffer.isBuffer(body) ? compressedOnce(body, encoding) : compressed(body, encoding))
  ctx.set('Content-Encoding', encoding)
}

/** Static content, whose buffers are kept. Those of other responses are collected. */
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
