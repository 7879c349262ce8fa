import { setTimeout as delay } from 'node:timers/promises'
import { type Database, openSharedDatabase } from '../database/database.ts'
import { DomainError } from '../model/errors.ts'
import { type Configuration, databaseOptions } from '../service/settings/configuration.ts'

/** No caller waits for a command, so its statements may take longer than those of requests. */
const STATEMENT_MILLISECONDS = 20_000

/** After this time, what fails is not repeated again. */
const PATIENCE_MILLISECONDS = 30_000

const PAUSE_MILLISECONDS = 1_000

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

/** Repeats work while the database does not respond, or takes too long. */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const until = Date.now() + PATIENCE_MILLISECONDS; ; await delay(PAUSE_MILLISECONDS)) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || Date.now() > until) throw error
    }
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'SERVICE_UNAVAILABLE'
}
