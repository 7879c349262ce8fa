import type { Caller } from '../access/caller.ts'
import type { ResourceKey } from '../rows/identifiers.ts'
import type { Row } from '../rows/row.ts'
import type { AnyFields, ColumnsOf, RowOf } from './typed.ts'

/** Runs the statements of a rule, inside the transaction of the write if there is one. */
export interface RuleClient {
  /** Resolves to the rows that the statement returns; to none for one that returns nothing, such as an UPDATE. */
  $rows<Result = unknown>(statement: {
    readonly text: string
    readonly values: readonly unknown[]
  }): Promise<Result[]>
}

export type RuleSettings = Readonly<Record<string, unknown>>

/** A write, with its row before and its columns after it. */
export interface Change<Before = Row, After = Record<string, unknown>> {
  readonly client: RuleClient
  readonly isInTransaction: boolean
  readonly settings: RuleSettings
  readonly caller: Caller
  readonly key: ResourceKey
  /** The current row; undefined for a new resource. */
  readonly before: Before | undefined
  /** The new columns; undefined for a deletion. A rule may set hidden columns. */
  readonly after: After | undefined
}

/** A write of a resource with these fields: `ChangeOf<typeof fields>`. */
export type ChangeOf<Of> = Change<RowOf<Of>, ColumnsOf<Of>>

/**
 * A rule that reads other resources, such as references and capacities. Runs in the transaction of the write
 * before it, and locks the rows it depends on.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) or DEPENDENCY_CONFLICT (409)
 */
export interface DatabaseRule<Changed = Change> {
  (change: Changed): Promise<void>
  readonly readsFirst?: true
  readonly permitsDeletions?: true
}

/** A rule that reads first must also write or lock. */
export class TransactionNeeded extends Error {
  override readonly name = 'TransactionNeeded'
}

/**
 * Makes a rule run without a transaction first, and again in one if it calls {@link requireTransaction}. For rules that
 * usually only read, and whose results the write itself verifies: BEGIN and COMMIT cost more than the rest of a write.
 */
export function readingFirst<Of = AnyFields>(
  rule: (change: ChangeOf<Of>) => Promise<void>,
): DatabaseRule<ChangeOf<Of>> {
  return Object.assign((change: ChangeOf<Of>) => rule(change), rule, { readsFirst: true } as const)
}

/** Makes a rule run only before other writes. So nothing that is deleted with another resource must be read for it. */
export function permittingDeletions<Of = AnyFields>(
  rule: (change: ChangeOf<Of> & { readonly after: ColumnsOf<Of> }) => Promise<void>,
): DatabaseRule<ChangeOf<Of>> {
  const permit = async (change: ChangeOf<Of>) => {
    const { after } = change
    if (after) await rule({ ...change, after })
  }
  return Object.assign(permit, { permitsDeletions: true } as const)
}

/**
 * Requires a transaction. A rule that reads first calls this before it writes or locks.
 *
 * @throws {TransactionNeeded} outside a transaction
 */
export function requireTransaction({ isInTransaction }: Pick<Change, 'isInTransaction'>): void {
  if (!isInTransaction) throw new TransactionNeeded()
}
