import { openApiDocument } from '../documents/openapi/document.ts'
import type { Seed } from '../documents/openapi/seeds.ts'
import type { CreateFeature } from '../features/feature.ts'
import { createHistory } from '../features/history/index.ts'
import { readPersistedOperations } from '../graph/http/persisted-operations.ts'
import { createSchema } from '../graph/schema/schema.ts'
import { type ApiVersion, servedApiVersions } from '../model/definition/domain.ts'
import type { Resource } from '../model/definition/resource.ts'
import { restViewOf } from '../rest/former-names.ts'
import { CommandError } from './command.ts'
import type { LocatedDomain } from './settings/domain-folder.ts'
import { readSettings, type Settings } from './settings/settings.ts'

export { limitLoad } from '../features/load/index.ts'

/** What the service offers besides the specification. The rest of the engine works without it. */
export const FEATURES: readonly CreateFeature[] = [createHistory]

/**
 * The schema with all features.
 *
 * @throws {DefinitionError} if names clash in it
 */
export function createCompleteSchema(resources: readonly Resource[], versions?: readonly ApiVersion[]) {
  const features = FEATURES.map((create) => create(resources))
  return createSchema(resources, versions, features)
}

/**
 * Checks the persisted operations of a domain, or those of GRAPHQL_OPERATIONS_DIR, against its GraphQL schema.
 *
 * @throws {CommandError} with the first that does not fit
 * @throws {DefinitionError} if names clash in the schema
 */
export async function refuseUnfitOperations({ resources, versions, folder }: LocatedDomain): Promise<void> {
  const operations = process.env['GRAPHQL_OPERATIONS_DIR'] || folder.operations
  await readPersistedOperations(createCompleteSchema(resources, versions), operations).catch((cause) => {
    throw new CommandError((cause as Error).message, { cause })
  })
}

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
  const { shown: apiVersion } = servedApiVersions(domain, settings.apiVersion)
  const resources = domain.resources.map((resource) => restViewOf(resource, apiVersion))
  const features = FEATURES.map((create) => create(resources))
  const { anonymousScopes } = settings
  const shown = { ...domain, ...settings, apiVersion, publicBaseUrl: undefined }
  const options = { seeds, features, anonymousScopes, everyType }
  return `${JSON.stringify(openApiDocument(resources, shown, options), null, 2)}\n`
}
