import { DomainError } from './model/errors.ts'

/** Another request was faster; the next attempt sees what it has written. Never reaches a caller. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict'
}

/** The parent of an owned resource does not exist; the caller of the write finds out if it ever did. */
export class ParentNotFound extends Error {
  override readonly name = 'ParentNotFound'
}

/** Every conflict means that another request succeeded, so this many in a row is a fault, not bad luck. */
const MAXIMUM_ATTEMPTS = 200

/**
 * Repeats a write until no other request conflicts with it. A write without preconditions never fails because
 * another request wrote first; it happens after that one.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) when conflicts do not end
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
    'Too many others are changing this at the same time; try again.',
  )
}
