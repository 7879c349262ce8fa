import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Context } from '../context.ts'
import { type Handler, type Route, reads } from '../routes.ts'

type StaticContent = Readonly<ReturnType<typeof staticContent>>

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
  '.linkset': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
}

/**
 * Content with a strong entity tag, from the SHA-256 of its bytes (RFC 9110 §8.8.3).
 *
 * @param extension one of `.html`, `.js`, `.css`, `.json`, `.yaml` and `.linkset`
 */
export function staticContent(extension: string, content: Buffer | string) {
  const body = Buffer.from(content)
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
  return { type: TYPES[extension] as string, body, etag }
}

/** Responds with 304 if the client has the content (RFC 9110 §13.1.2). */
export function respondWithContent(ctx: Context, { type, body, etag }: StaticContent): void {
  ctx.set({ 'Cache-Control': 'no-cache', ETag: etag, 'Content-Type': type })
  ctx.status = 200
  if (namesTag(ctx.get('If-None-Match'), etag)) ctx.status = 304
  else ctx.body = body
}

/**
 * Whether If-None-Match names the tag, by weak comparison (RFC 9110 §13.1.2): a proxy can have weakened it, or
 * compressed the content and appended `-gzip`, as Apache does. Koa's `fresh` ignores the header beside `Cache-Control: no-cache`, which `fetch` adds.
 */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\/|-(?:gzip|br)(?="$)/g, ''))
  return tags.includes(etag.replace(/^W\//, '')) || ifNoneMatch.trim() === '*'
}

/** Loads the content at the first request, and keeps it. */
export function contentHandler(extension: string, load: () => string | Promise<Buffer>): Handler {
  let content: StaticContent | undefined
  return async (ctx) => {
    content ??= staticContent(extension, await load())
    respondWithContent(ctx, content)
  }
}

/** @param path must not come from a request */
export function fileHandler(path: string): Handler {
  return contentHandler(extname(path), () => readFile(path))
}

/** No path from a request reaches the disk. */
export function contentRoute(folder: string, contents: Readonly<Record<string, Handler>>): Route {
  const handlers = new Map(Object.entries(contents))
  const handlerOf = ({ params }: Context) => handlers.get((params as { name: string }).name)
  return {
    path: `${folder}/:name`,
    access: 'open',
    applies: (ctx) => handlerOf(ctx) !== undefined,
    methods: reads({ handle: (ctx) => handlerOf(ctx)?.(ctx) }),
  }
}
