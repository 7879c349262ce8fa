import { stringify } from 'yaml'
import type { Resource } from '../../domain/resource.ts'
import type { RestSettings } from '../exchange.ts'
import { openApiDocument } from '../openapi/document.ts'
import { profileOf } from '../profile.ts'
import { type OpenHandler, type OpenRoute, sendJson } from './open-route.ts'

/** The OpenAPI document, as JSON and as YAML, and the profile of each collection. */
export function documentRoutes(resources: readonly Resource[], settings: RestSettings): OpenRoute[] {
  const base = `/${settings.namespace}/${settings.version}`
  const document = openApiDocument(resources, settings)
  const json = once(() => JSON.stringify(document))
  // Aliases would save space, and some readers of YAML do without them.
  const yaml = once(() => stringify(document, { aliasDuplicateObjects: false }))
  const profiles = resources.map((resource): OpenRoute => {
    const profile = once(() => JSON.stringify(profileOf(resource, settings.maximumPageSize)))
    return [`${base}/profile/${resource.path}`, (ctx) => sendJson(ctx, profile())]
  })
  const sendYaml: OpenHandler = (ctx) => {
    ctx.set('Content-Type', 'application/yaml; charset=utf-8')
    ctx.body = yaml()
  }
  return [
    [`${base}/openapi.json`, (ctx) => sendJson(ctx, json())],
    [`${base}/openapi.yaml`, sendYaml],
    ...profiles,
  ]
}

/** Made when it is first asked for, and kept. */
function once(make: () => string): () => string {
  let made: string | undefined
  return () => {
    made ??= make()
    return made
  }
}
