import type { DatabaseClient } from '../database/client.ts'
import { TransactionNeeded } from './guard.ts'
import { DomainError } from './model/errors.ts'
import type { Resource } from './model/resource.ts'
import { RaceLost } from './retry.ts'
import type { Client } from './store.ts'

/** Every lost race means that another request won, so this many in a row is a fault, not bad luck. */
const MAXIMUM_ATTEMPTS = 200

/**
 * Runs an attempt at a write until it is not overtaken by another request. A write without
 * preconditions never fails because somebody else wrote first; it happens after them.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) when it is overtaken again and again
 */
export async function attempt<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let attempts = 0; attempts < MAXIMUM_ATTEMPTS; attempts++) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof RaceLost)) throw error
    }
  }
  throw new DomainError(
    'SERVICE_UNAVAILABLE',
    'Too many others are changing this at the same time; try again.',
  )
}

/**
 * Runs a write in a transaction where it has several statements: a guard looks at other resources and may
 * write to them, and a request that happens only once leaves its key. A write of a single statement needs
 * none, and neither does one where a guard that looks first has nothing more to do.
 */
export async function inTransaction<Result>(
  client: DatabaseClient,
  { guard }: Resource,
  isOnceOnly: boolean,
  write: (client: Client) => Promise<Result>,
): Promise<Result> {
  if (isOnceOnly) return client.$transaction(write)
  if (!guard) return write(client)
  try {
    if (guard.looksFirst) return await write(client)
  } catch (error) {
    if (!(error instanceof TransactionNeeded)) throw error
  }
  return client.$transaction(write)
}
