import { openApiDocument } from '../../src/documents/openapi/document.ts'
import type { Seed } from '../../src/documents/openapi/examples.ts'
import { type Domain, servedVersions } from '../../src/model/domain.ts'
import { viewOf } from '../../src/model/views.ts'

/** The text of docs/openapi.json: the default version with the default settings. */
export function committedDocument(domain: Domain, seeds: readonly Seed[]): string {
  const { title, description } = domain
  const { shown: version } = servedVersions(domain, undefined)
  const resources = domain.resources.map((resource) => viewOf(resource, version))
  const settings = { publicBaseUrl: undefined, namespace: 'api', version, maximumPageSize: 100 }
  const document = openApiDocument(resources, { title, description, ...settings }, seeds)
  return `${JSON.stringify(document, null, 2)}\n`
}
