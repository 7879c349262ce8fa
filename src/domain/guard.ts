import type { Row } from './rows.ts'
import type { Address, Client } from './store.ts'

/** How an origin that names no known planet is met: by making the planet, or by refusing. */
export type PlanetReference = 'stub' | 'strict'

/** A write that is about to happen, as a guard sees it. */
export interface Change {
  /** Inside the transaction of the write. */
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
export type Guard = (change: Change) => Promise<void>
