import type { Prepare } from '../graph/execution/operation.ts'
import type { PathHeaders } from '../http/app.ts'
import type { Route } from '../http/routes.ts'
import type { Domain } from '../model/domain.ts'
import { servedVersions } from '../model/versions/versions.ts'
import type { SiteSettings } from '../pages/page.ts'
import { documentRoutes, notFoundRoute, versionDocumentRoutes } from '../pages/routes.ts'
import { createRoutes } from '../rest/routes.ts'
import { deprecationHeaders, restVersions } from '../rest/versions.ts'

/** The REST interface: all versions of it, and its documents and pages. */
export interface RestInterface {
  readonly routes: readonly Route[]
  /** Belongs behind all routes of the service. */
  readonly notFound: Route
  readonly pathHeaders: PathHeaders | undefined
}

/** The settings of the interface. The version is the configured one, if there is one. */
export type InterfaceSettings = Omit<SiteSettings, 'version'> & { readonly version: string | undefined }

/** Makes the interface of a domain. */
export function createRestInterface(
  domain: Domain,
  prepare: Prepare,
  settings: InterfaceSettings,
): RestInterface {
  const { versions, shown } = servedVersions(domain, settings.version)
  const shownSettings = { ...settings, version: shown }
  const served = restVersions(domain.resources, versions, shownSettings)
  return {
    routes: [
      ...served.flatMap(({ resources, settings }) => [
        ...createRoutes(resources, prepare, settings),
        ...versionDocumentRoutes(resources, settings),
      ]),
      ...documentRoutes(domain.resources, shownSettings),
    ],
    notFound: notFoundRoute(shownSettings),
    pathHeaders: deprecationHeaders(served),
  }
}
