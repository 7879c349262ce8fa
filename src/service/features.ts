import type { CreateFeature } from '../features/feature.ts'
import { createHistory } from '../features/history/index.ts'
import { createSchema } from '../graph/schema/schema.ts'
import type { ApiVersion } from '../model/definition/domain.ts'
import type { Resource } from '../model/definition/resource.ts'

export { limitLoad } from '../features/load/index.ts'

/** What the service offers besides the specification. The rest of the engine works without it. */
export const FEATURES: readonly CreateFeature[] = [createHistory]

/**
 * The schema with all features.
 *
 * @throws {DefinitionError} if names clash in it
 */
export function createCompleteSchema(resources: readonly Resource[], versions?: readonly ApiVersion[]) {
  return createSchema(
    resources,
    versions,
    FEATURES.map((create) => create(resources)),
  )
}
