import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../model/errors.ts'
import { refusalOf } from './errors.ts'

/**
 * PostgreSQL's serialization_failure and deadlock_detected: the transaction was undone because of another one. A distributed
 * engine can answer any statement or COMMIT with them; a standby, a read that its replay is in the way of.
 */
const CONFLICTS = ['40001', '40P01']

/** Each conflict means that another transaction succeeded, so this many in a row indicate a fault. */
const MAXIMUM_ATTEMPTS = 200

const LONGEST_PAUSE_MILLISECONDS = 20

/** An error of the driver or of Prisma. A lost connection is none, because its transaction may have been committed. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(refusalOf(error).state)
}

/**
 * Repeats work that conflicts have undone: first at once, then after a growing random time, so that the same transactions
 * do not meet again.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) after too many conflicts
 */
export async function repeatAfterConflicts<Result>(
  work: () => Promise<Result>,
  isUndone: (error: unknown) => boolean = isConflict,
): Promise<Result> {
  for (let attempts = 1; attempts <= MAXIMUM_ATTEMPTS; attempts++) {
    try {
      return await work()
    } catch (error) {
      if (!isUndone(error)) throw error
    }
    if (attempts > 1) await delay(Math.random() * Math.min(attempts, LONGEST_PAUSE_MILLISECONDS))
  }
  const message = 'Too many others are changing the same data at the same time; try again.'
  throw new DomainError('SERVICE_UNAVAILABLE', message)
}
