import { DomainError } from '../model/errors.ts'

/** Another request has changed the same data. The write is repeated; callers never receive this error. */
export class WriteConflict extends Error {}

/** The parent of an owned resource does not exist. */
export class ParentNotFound extends Error {}

/** Each conflict means that another request succeeded, so this many in a row indicate a fault. */
const MAXIMUM_ATTEMPTS = 200

/**
 * Repeats a write until it has no conflict. A write without preconditions never fails because of another
 * request; it is applied after it.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) after too many conflicts
 */
export async function retry<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let attempts = 0; attempts < MAXIMUM_ATTEMPTS; attempts++) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof WriteConflict)) throw error
    }
  }
  throw new DomainError(
    'SERVICE_UNAVAILABLE',
    'Too many requests are changing this resource at the same time; try again.',
  )
}
