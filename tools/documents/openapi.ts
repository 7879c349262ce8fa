import { openApiDocument } from '../../src/documents/openapi/document.ts'
import type { Seed } from '../../src/documents/openapi/seeds.ts'
import { servedVersions } from '../../src/model/domain.ts'
import { viewOf } from '../../src/model/views.ts'
import { FEATURES } from '../../src/service/features.ts'
import type { LocatedDomain } from '../../src/service/settings/domain-folder.ts'

/** The text of docs/openapi.json: the default version with the default settings. */
export function committedDocument(domain: LocatedDomain, seeds: readonly Seed[]): string {
  const { title, description, license } = domain
  const { shown: version } = servedVersions(domain, undefined)
  const resources = domain.resources.map((resource) => viewOf(resource, version))
  const settings = { publicBaseUrl: undefined, namespace: 'api', version, maximumPageSize: 100 }
  const features = FEATURES.map((create) => create(resources))
  const document = openApiDocument(
    resources,
    { title, description, license, ...settings },
    { seeds, features },
  )
  return `${JSON.stringify(document, null, 2)}\n`
}
