import { openApiDocument } from '../documents/openapi/document.ts'
import type { Seed } from '../documents/openapi/seeds.ts'
import { servedApiVersions } from '../model/definition/domain.ts'
import { viewOf } from '../model/definition/views.ts'
import { FEATURES } from './features.ts'
import type { LocatedDomain } from './settings/domain-folder.ts'
import { readSettings, type Settings } from './settings/settings.ts'

type DocumentSettings = Pick<Settings, 'namespace' | 'maximumPageSize' | 'unknownFields' | 'anonymousScopes'>

/**
 * The text of the OpenAPI document of a domain: of the given version, or else of the newest one.
 *
 * @param settings by default, those without an environment
 */
export function openApiText(
  domain: LocatedDomain,
  seeds: readonly Seed[],
  settings: DocumentSettings & { readonly apiVersion: string | undefined } = readSettings({}),
  everyType = false,
): string {
  const { title, description, license, contact } = domain
  const { shown: apiVersion } = servedApiVersions(domain, settings.apiVersion)
  const resources = domain.resources.map((resource) => viewOf(resource, apiVersion))
  const features = FEATURES.map((create) => create(resources))
  const { anonymousScopes } = settings
  const shown = { title, description, license, contact, ...settings, apiVersion, publicBaseUrl: undefined }
  const options = { seeds, features, anonymousScopes, everyType }
  return `${JSON.stringify(openApiDocument(resources, shown, options), null, 2)}\n`
}
