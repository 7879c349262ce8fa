import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context, Middleware } from 'koa'
import type { Resource } from '../../domain/model/resource.ts'
import { type ContentHandler, contentHandler, fileHandler } from '../../http/static-content.ts'
import { GRAPHQL_PATH } from './error-document.ts'
import { exampleOperations } from './examples.ts'
import type { PersistedOperations } from './persisted-operations.ts'

/** The page's own files; from src/graph/http as from dist/graph/http. */
const OWN = fileURLToPath(new URL('../../../public/explorer', import.meta.url))
const require = createRequire(import.meta.url)

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
  const page = fileHandler(join(OWN, 'index.html'))
  const files = new Map<string, ContentHandler>(
    Object.entries(filePaths()).map(([name, path]) => [name, fileHandler(path)]),
  )
  const examples = JSON.stringify(exampleOperations(resources, persisted))
  files.set(
    'examples.json',
    contentHandler('.json', () => examples),
  )
  return async (ctx, next) => {
    const handler = isPageRequest(ctx) ? page : handlerAt(ctx, files)
    if (!handler) return next()
    ctx.state['route'] = GRAPHQL_PATH
    ctx.set('Content-Security-Policy', POLICY)
    ctx.vary('Accept')
    return handler(ctx)
  }
}

/** Browsers ask for HTML; nothing that asks for data does. */
function isPageRequest(ctx: Context): boolean {
  if (ctx.path !== GRAPHQL_PATH || !isReading(ctx)) return false
  return ctx.accepts('application/json', 'application/graphql-response+json', 'text/html') === 'text/html'
}

function handlerAt(ctx: Context, files: ReadonlyMap<string, ContentHandler>): ContentHandler | undefined {
  const prefix = `${GRAPHQL_PATH}/explorer/`
  return isReading(ctx) && ctx.path.startsWith(prefix) ? files.get(ctx.path.slice(prefix.length)) : undefined
}

function isReading({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD'
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
