import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GRAPHQL_PATH } from '../../graph/http/apollo.ts'
import type { PersistedOperations } from '../../graph/http/persisted-operations.ts'
import type { Handler, Route } from '../../http/routes.ts'
import { contentHandler, contentRoute, fileHandler } from '../../http/static-content.ts'
import type { Resource } from '../../model/resource.ts'
import { exampleOperations } from './examples.ts'

const OWN = fileURLToPath(new URL('.', import.meta.url))
const require = createRequire(import.meta.url)

/** The files of the explorer, below /graphql/explorer: open to everyone, since they hold no data. */
export function explorerFiles(resources: readonly Resource[], persisted: PersistedOperations): Route {
  const examples = () => JSON.stringify(exampleOperations(resources, persisted))
  return contentRoute(`${GRAPHQL_PATH}/explorer`, {
    ...files(),
    'examples.json': contentHandler('.json', examples),
  })
}

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
