import { readPersistedOperations } from '../graph/http/persisted-operations.ts'
import { CommandError } from './command.ts'
import { createCompleteSchema } from './features.ts'
import type { LocatedDomain } from './settings/domain-folder.ts'

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
