import type { Feature } from '../feature.ts'
import { batch } from './batch.ts'
import { openapi } from './openapi.ts'

/**
 * Batches: several writes in one transaction. No setting switches it.
 *
 * Adds to REST the operation `/batch`, and to the schema the directives that run the fields of a mutation in one
 * transaction. The core executes both, since a single write can be a dry run, too (`Prefer: tx=rollback`).
 */
export function createBatch(): Feature {
  return { schema: [{ typeDefs: DIRECTIVES, resolvers: {} }], operations: { service: [batch] }, openapi }
}

const DIRECTIVES = /* GraphQL */ `
"Runs all fields in one transaction, in order. If one fails, nothing is stored, and data is null."
directive @atomic on MUTATION
"Runs all fields in one transaction, with all checks and results, but stores nothing."
directive @dryRun on MUTATION`
