import type { DatabaseClient } from '../database/database-client.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { Access } from '../model/access/access.ts'
import type { Caller } from '../model/access/caller.ts'
import type { Change, RuleSettings } from '../model/definition/database-rule.ts'
import type { Resource } from '../model/definition/resource.ts'
import type { Slot } from './session/slot.ts'

/** What the rules of a write get, with the client that writes. */
export interface DataChange extends Change {
  readonly client: DatabaseClient
  readonly access: Access
}

export interface WriteContext {
  readonly caller: Caller
  /** What the caller may read and write. */
  readonly access: Access
  readonly client: DatabaseClient
  readonly resources: readonly Resource[]
  readonly ruleSettings: RuleSettings
  readonly idempotencyKeyHours: number
  /** Set if the write is one of several in the transaction of `client`. */
  readonly transaction?: SharedTransaction
}

export interface SharedTransaction {
  /** Each write has a savepoint, so that an error of the database ends the write and not the transaction. */
  readonly hasSavepoints: boolean
  /** It is undone at the end, whatever happens in it. */
  readonly isDryRun?: boolean
}

/** What all sessions of a service share. */
export interface Domain extends Omit<WriteContext, 'caller' | 'access' | 'transaction'> {
  readonly accessOf: (caller: Caller) => Access
  /** How long changes are recorded; 0 for no record. */
  readonly changesDays: number
  readonly maximumPageSize: number
  /** Undefined without replicas. */
  readonly readers: Pick<Readers, 'clientFor' | 'recordWrite'> | undefined
  /** Called after each write, even one that failed: the database may have executed it. */
  readonly written: (caller: Caller) => void
}

/** What a caller has during an operation. */
export interface SessionContext extends Domain, WriteContext {
  readonly slot: Slot
  /**
   * Whether a write may show the resource without the read scope. Only REST's may: they return the resource after a create
   * (SPEC §4.3), and after other writes only to callers who may read it.
   */
  readonly showsWritten: boolean
}
