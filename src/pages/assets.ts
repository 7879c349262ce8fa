import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GRAPHQL_PATH } from '../graph/http/apollo.ts'
import type { PersistedOperations } from '../graph/http/persisted-operations.ts'
import { contentHandler, contentRoute, fileHandler } from '../http/content/static-content.ts'
import type { Handler, Route } from '../http/routes.ts'
import type { Resource } from '../model/definition/resource.ts'
import { openView } from '../model/definition/views.ts'
import { chartsOf } from './charts.ts'
import { exampleOperations } from './explorer-examples.ts'

export function pageAssets(resources: readonly Resource[]): Route {
  return contentRoute('/docs/assets', {
    ...ownFiles('browser'),
    ...ownFiles('styles'),
    'charts.json': contentHandler('.json', () => JSON.stringify(chartsOf(resources.map(openView)))),
  })
}

/** These files are public, since they have no data. */
export function explorerAssets(resources: readonly Resource[], persisted: PersistedOperations): Route {
  const examples = () => JSON.stringify(exampleOperations(resources.map(openView), persisted))
  return contentRoute(`${GRAPHQL_PATH}/explorer`, {
    ...ownFiles('explorer'),
    'examples.json': contentHandler('.json', examples),
  })
}

function ownFiles(name: string): Record<string, Handler> {
  const folder = fileURLToPath(new URL(name, import.meta.url))
  const files = readdirSync(folder).filter((file) => /\.(css|js)$/.test(file))
  return Object.fromEntries(files.map((file) => [file, fileHandler(join(folder, file))]))
}
