import type { Address } from './identifiers.ts'
import type { Row } from './row.ts'

/** What a rule may ask of the database: inside the transaction of the write, if that has one. */
export interface RuleClient {
  $rows<Result>(statement: { readonly text: string; readonly values: readonly unknown[] }): Promise<Result[]>
}

/** Settings of the service that rules follow, by name. */
export type RuleSettings = Readonly<Record<string, unknown>>

/** A write that is about to happen. */
export interface Change {
  readonly client: RuleClient
  readonly isInTransaction: boolean
  readonly settings: RuleSettings
  readonly address: Address
  /** The row as it stands, absent when it is being created. */
  readonly before: Row | undefined
  /** The row as it will stand, absent when it is being deleted. A rule may set hidden columns on it. */
  readonly after: Record<string, unknown> | undefined
}

/**
 * A rule that needs other resources: references, capacities, who else is aboard. Runs inside the transaction
 * of the write, before it, and locks what it relies on.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) or DEPENDENCY_CONFLICT (409)
 */
export interface DatabaseRule {
  (change: Change): Promise<void>
  readonly readsFirst?: true
}

/** Thrown by a rule that read first, and has found that it must also write or lock. */
export class TransactionNeeded extends Error {
  override readonly name = 'TransactionNeeded'
}

/**
 * A rule that mostly only reads, and relies on nothing that the write itself would not notice: it runs
 * without a transaction first, and again in one where it asks for that by {@link requireTransaction}. To
 * begin and to end a transaction costs more than all else of a write.
 */
export function readingFirst(rule: (change: Change) => Promise<void>): DatabaseRule {
  return Object.assign((change: Change) => rule(change), { readsFirst: true } as const)
}

/**
 * What a rule that reads first calls before it writes or locks.
 *
 * @throws {TransactionNeeded} outside of a transaction
 */
export function requireTransaction({ isInTransaction }: Change): void {
  if (!isInTransaction) throw new TransactionNeeded()
}
