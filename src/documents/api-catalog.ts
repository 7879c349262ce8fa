import { GRAPHQL_PATH } from '../graph/http/apollo.ts'
import { API_CATALOG_PATH, basePath, REFERENCE_PATH, type RestSettings } from '../rest/urls.ts'
import { PATHS } from './openapi/service-paths.ts'

/**
 * The catalogue of the interfaces (RFC 9727 §4): a link set (RFC 9264 §4.2) with the entry document of each version and
 * GraphQL, and with the relations of RFC 8631 for each.
 *
 * @param root the beginning of all URLs of the service
 */
export function apiCatalog(versions: readonly RestSettings[], root: string): object {
  const common = { status: [{ href: `${root}/health/ready`, type: 'application/json' }] }
  const interfaces = versions.map((settings) => {
    const base = root + basePath(settings)
    return {
      anchor: base,
      'service-desc': [
        { href: base + PATHS.json, type: 'application/json' },
        { href: base + PATHS.yaml, type: 'application/yaml' },
      ],
      'service-doc': [{ href: root + (settings.reference ?? REFERENCE_PATH), type: 'text/html' }],
      ...common,
    }
  })
  const all = [...interfaces, { anchor: root + GRAPHQL_PATH, ...common }]
  const item = all.map(({ anchor }) => ({ href: anchor }))
  return { linkset: [{ anchor: root + API_CATALOG_PATH, item }, ...all] }
}
