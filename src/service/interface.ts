import type { Prepare } from '../graph/execution/operation.ts'
import type { Domain } from '../model/domain.ts'
import { servedVersions } from '../model/versions/versions.ts'
import type { SiteSettings } from '../pages/page.ts'
import { documentRoutes, notFoundRoute, versionDocumentRoutes } from '../pages/routes.ts'
import { createRoutes } from '../rest/routes.ts'
import { deprecationHeaders, restVersions } from '../rest/versions.ts'

/** The version is API_VERSION, which can be unset. */
type InterfaceSettings = Omit<SiteSettings, 'version'> & { readonly version: string | undefined }

/** Makes all versions of the REST interface, their documents and pages. `notFound` belongs after all other routes. */
export function createRestInterface(domain: Domain, prepare: Prepare, settings: InterfaceSettings) {
  const { versions, shown } = servedVersions(domain, settings.version)
  const { title, description } = domain
  const shownSettings = { ...settings, version: shown, title, description }
  const served = restVersions(domain.resources, versions, shownSettings)
  const routes = [
    ...served.flatMap(({ resources, settings }) => [
      ...createRoutes(resources, prepare, settings),
      ...versionDocumentRoutes(resources, settings),
    ]),
    ...documentRoutes(
      domain.resources,
      shownSettings,
      served.map(({ settings }) => settings),
    ),
  ]
  return {
    routes,
    notFound: notFoundRoute(domain.resources, shownSettings),
    pathHeaders: deprecationHeaders(served),
  }
}
