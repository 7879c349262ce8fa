import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from 'koa'
import type { Resource } from '../../domain/model/resource.ts'
import { type Handler, type Route, reads } from '../../http/routes.ts'
import { contentHandler, contentRoute, fileHandler } from '../../http/static-content.ts'
import { GRAPHQL_PATH } from './apollo.ts'
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
 * The explorer: the page for browsers that open /graphql, and its files below /graphql/explorer. Open to
 * everyone, since it holds no data; what it asks, it asks with the token that is put into it.
 */
export function explorerRoutes(resources: readonly Resource[], persisted: PersistedOperations): Route[] {
  const page = fileHandler(join(OWN, 'index.html'))
  const examples = () => JSON.stringify(exampleOperations(resources, persisted))
  return [
    {
      path: GRAPHQL_PATH,
      access: 'open',
      applies: prefersPage,
      methods: reads({
        handle(ctx) {
          ctx.set('Content-Security-Policy', POLICY)
          ctx.vary('Accept')
          return page(ctx)
        },
      }),
    },
    contentRoute(`${GRAPHQL_PATH}/explorer`, {
      ...files(),
      'examples.json': contentHandler('.json', examples),
    }),
  ]
}

/** Browsers ask for HTML; nothing that asks for data does. */
function prefersPage(ctx: Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
  const types = ['application/json', 'application/graphql-response+json', 'text/html']
  return isRead && ctx.accepts(...types) === 'text/html'
}

/** The files of the explorer by their names: the page's own, and those of packages. */
function files(): Record<string, Handler> {
  const paths = {
    'explorer.js': join(OWN, 'explorer.js'),
    'explorer.css': join(OWN, 'explorer.css'),
    'graphiql.js': inPackage('graphiql', 'graphiql.min.js'),
    'graphiql.css': inPackage('graphiql', 'graphiql.min.css'),
    'react.js': inPackage('react', 'umd/react.production.min.js'),
    'react-dom.js': inPackage('react-dom', 'umd/react-dom.production.min.js'),
  }
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, fileHandler(path)]))
}

function inPackage(name: string, file: string): string {
  return join(dirname(require.resolve(`${name}/package.json`)), file)
}
