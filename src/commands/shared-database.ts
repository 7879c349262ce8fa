import { type Patience, retryPatiently } from '../database/connection.ts'
import { type Database, openSharedDatabase } from '../database/database.ts'
import type { Domain } from '../domain/context.ts'
import { sessionsOf } from '../domain/session/session.ts'
import { UNLIMITED } from '../domain/session/slot.ts'
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

interface OperatorParts {
  readonly settings: Pick<Domain, 'ruleSettings' | 'idempotencyKeyHours' | 'maximumPageSize'>
  readonly domain: Pick<Domain, 'resources'>
}

/** Opens sessions of the operator, who may write all rows. */
export function operatorSessions({ settings, domain }: OperatorParts, { client }: Pick<Database, 'client'>) {
  const accessOf = () => unrestricted('the operator writes all rows')
  const reads = { client, readers: undefined, changesDays: 0 }
  const open = sessionsOf({ ...settings, ...reads, resources: domain.resources, accessOf, written() {} })
  return () => open(OPERATOR, UNLIMITED)
}

/** Repeats work while the database does not respond, or takes too long. */
export function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  return retryPatiently(PATIENCE, isUnavailable, work)
}
