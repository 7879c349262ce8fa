import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context, Middleware } from 'koa'
import type { Resource } from '../../domain/resource.ts'
import { GRAPHQL_PATH } from './error-document.ts'
import { exampleOperations } from './examples.ts'
import type { PersistedOperations } from './persisted-operations.ts'

/** A file as it is served. */
interface Asset {
  readonly type: string
  readonly body: Buffer
  readonly etag: string
}

/** The page's own files; from src/graph/http as from dist/graph/http. */
const OWN = fileURLToPath(new URL('../../../public/explorer', import.meta.url))
const require = createRequire(import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}

/** Everything from here and nothing from elsewhere; the editor sets styles on its elements. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Serves the explorer: the page to browsers that open /graphql, and its files below /graphql/explorer. Open
 * to everyone, since nothing but the page itself is in it; what it asks, it asks with the token that is put
 * into it. Loads nothing from elsewhere.
 */
export function createExplorer(resources: readonly Resource[], persisted: PersistedOperations): Middleware {
  const page = asset(join(OWN, 'index.html'))
  const files = new Map(Object.entries(filePaths()).map(([name, path]) => [name, asset(path)]))
  files.set('examples.json', toAsset('.json', JSON.stringify(exampleOperations(resources, persisted))))
  return async (ctx, next) => {
    const found = isPageRequest(ctx) ? page : fileAt(ctx, files)
    if (!found) return next()
    ctx.state['route'] = GRAPHQL_PATH
    serve(ctx, found)
  }
}

/** Browsers ask for HTML; nothing that asks for data does. */
function isPageRequest(ctx: Context): boolean {
  if (ctx.path !== GRAPHQL_PATH || !isReading(ctx)) return false
  return ctx.accepts('application/json', 'application/graphql-response+json', 'text/html') === 'text/html'
}

function fileAt(ctx: Context, files: ReadonlyMap<string, Asset>): Asset | undefined {
  const prefix = `${GRAPHQL_PATH}/explorer/`
  return isReading(ctx) && ctx.path.startsWith(prefix) ? files.get(ctx.path.slice(prefix.length)) : undefined
}

function isReading({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD'
}

function serve(ctx: Context, { type, body, etag }: Asset): void {
  ctx.set('Content-Security-Policy', POLICY)
  ctx.set('Cache-Control', 'no-cache')
  ctx.vary('Accept')
  ctx.set('ETag', etag)
  ctx.set('Content-Type', type)
  ctx.status = 200
  if (ctx.get('If-None-Match') === etag) ctx.status = 304
  else ctx.body = body
}

function asset(path: string): Asset {
  return toAsset(extname(path), readFileSync(path))
}

function toAsset(extension: string, content: Buffer | string): Asset {
  const etag = `"${createHash('sha256').update(content).digest('base64url')}"`
  return { type: TYPES[extension] as string, body: Buffer.from(content), etag }
}

/** The files of the explorer by the last segment of their address: the page's own, and those of packages. */
function filePaths(): Readonly<Record<string, string>> {
  return {
    'explorer.js': join(OWN, 'explorer.js'),
    'explorer.css': join(OWN, 'explorer.css'),
    'graphiql.js': inPackage('graphiql', 'graphiql.min.js'),
    'graphiql.css': inPackage('graphiql', 'graphiql.min.css'),
    'react.js': inPackage('react', 'umd/react.production.min.js'),
    'react-dom.js': inPackage('react-dom', 'umd/react-dom.production.min.js'),
  }
}

function inPackage(name: string, file: string): string {
  return join(dirname(require.resolve(`${name}/package.json`)), file)
}
