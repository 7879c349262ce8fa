import type { Row } from './model/rows.ts'
import { type Address, type Client, isOutsideTransaction } from './store.ts'

/** How an origin that names no known planet is met: by making the planet, or by refusing. */
export type PlanetReference = 'stub' | 'strict'

/** A write that is about to happen, as a guard sees it. */
export interface Change {
  /** Inside the transaction of the write, if it has one. */
  readonly client: Client
  readonly planetReference: PlanetReference
  readonly address: Address
  /** The row as it stands, absent when it is being created. */
  readonly before: Row | undefined
  /** The row as it will stand, absent when it is being deleted. A guard may set hidden columns on it. */
  readonly after: Record<string, unknown> | undefined
}

/**
 * What only the other resources can tell about a write: references, capacities, who else is aboard.
 * Runs inside the transaction of the write, before it, and locks what it relies on.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) or DEPENDENCY_CONFLICT (409)
 */
export interface Guard {
  (change: Change): Promise<void>
  readonly looksFirst?: true
}

/** Thrown by a guard that looked first, and has found that it must do more than look. */
export class TransactionNeeded extends Error {
  override readonly name = 'TransactionNeeded'
}

/**
 * A guard that mostly only looks, and relies on nothing that the write itself would not notice: it runs
 * without a transaction first, and again in one where it asks for that by {@link requireTransaction}. To
 * begin and to end a transaction costs more than all else of a write.
 */
export function lookingFirst(guard: (change: Change) => Promise<void>): Guard {
  return Object.assign((change: Change) => guard(change), { looksFirst: true } as const)
}

/**
 * What a guard that looks first calls before it writes or locks.
 *
 * @throws {TransactionNeeded} outside of a transaction
 */
export function requireTransaction(client: Client): void {
  if (isOutsideTransaction(client)) throw new TransactionNeeded()
}
