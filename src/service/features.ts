import { createBatch } from '../features/batch/index.ts'
import type { CreateFeature } from '../features/feature.ts'
import { createHistory } from '../features/history/index.ts'
import { createLoad } from '../features/load/index.ts'
import { createSchema } from '../graph/schema/schema.ts'
import type { ApiVersion } from '../model/definition/domain.ts'
import type { Resource } from '../model/definition/resource.ts'

/** What the service offers besides the specification. The rest of the engine works without any of it. */
export const FEATURES: readonly CreateFeature[] = [createBatch, createHistory, createLoad]

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
