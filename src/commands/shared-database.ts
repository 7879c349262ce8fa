import { type Patience, retryPatiently } from '../database/connection.ts'
import { type Database, openSharedDatabase } from '../database/database.ts'
import type { WriteContext } from '../domain/context.ts'
import { unrestricted } from '../model/access/access.ts'
import { OPERATOR } from '../model/access/caller.ts'
import { isUnavailable } from '../model/errors.ts'
import { type Configuration, databaseOptions } from '../service/settings/configuration.ts'

/** No caller waits for a command, so its statements may take longer than those of requests. */
const STATEMENT_MILLISECONDS = 20_000

/** After this time, what fails is not repeated again. */
const PATIENCE: Patience = { seconds: 30, report: () => {} }

/**
 * Opens the database of the settings, shared with a running service, and closes it after `use`.
 *
 * @param open `openExistingDatabase` for a command that only reads: it neither creates nor migrates a database
 */
export async function withDatabase(
  configuration: Configuration,
  use: (database: Database) => Promise<void>,
  open = openSharedDatabase,
): Promise<void> {
  const options = databaseOptions(configuration)
  const databaseTimeout = Math.max(options.databaseTimeout, STATEMENT_MILLISECONDS)
  const database = await open({ ...options, databaseTimeout })
  await use(database).finally(database.close)
}

/** What the writes of a command need. */
export function operatorContext({ settings, domain }: Configuration, { client }: Database): WriteContext {
  const access = unrestricted('the operator writes all rows')
  return { ...settings, resources: domain.resources, caller: OPERATOR, access, client }
}

/** Repeats work while the database does not respond, or takes too long. */
export function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  return retryPatiently(PATIENCE, isUnavailable, work)
}
