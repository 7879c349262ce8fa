import { stringify } from 'yaml'
import type { Resource } from '../../domain/model/resource.ts'
import { contentHandler } from '../../http/static-content.ts'
import type { RestSettings } from '../exchange.ts'
import type { OpenRoute } from './open-route.ts'
import { openApiDocument } from './openapi/document.ts'
import { profileOf } from './profile.ts'

/** The OpenAPI document, as JSON and as YAML, and the profile of each collection. */
export function documentRoutes(resources: readonly Resource[], settings: RestSettings): OpenRoute[] {
  const base = `/${settings.namespace}/${settings.version}`
  const document = openApiDocument(resources, settings)
  const profiles = resources.map((resource): OpenRoute => {
    const make = () => JSON.stringify(profileOf(resource, settings.maximumPageSize))
    return [`${base}/profile/${resource.path}`, contentHandler('.json', make)]
  })
  // Aliases would save space, and some readers of YAML do without them.
  const toYaml = () => stringify(document, { aliasDuplicateObjects: false })
  return [
    [`${base}/openapi.json`, contentHandler('.json', () => JSON.stringify(document))],
    [`${base}/openapi.yaml`, contentHandler('.yaml', toYaml)],
    ...profiles,
  ]
}
