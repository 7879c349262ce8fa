import type { Seed } from '../../src/documents/openapi/seeds.ts'
import { openApiText } from '../../src/service/openapi-text.ts'
import type { LocatedDomain } from '../../src/service/settings/domain-folder.ts'
import { readSettings } from '../../src/service/settings/settings.ts'

/** The text of docs/openapi.json: the default version with the default settings. */
export function committedDocument(domain: LocatedDomain, seeds: readonly Seed[]): string {
  return openApiText(domain, seeds, readSettings({}))
}
