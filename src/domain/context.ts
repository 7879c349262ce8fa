import type { DatabaseClient } from '../database/database-client.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { Access } from '../model/access/access.ts'
import type { Caller } from '../model/access/caller.ts'
import type { Change, RuleSettings } from '../model/definition/database-rule.ts'
import type { Resource } from '../model/definition/resource.ts'

export type { DatabaseClient }

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

/** Chooses the database that a caller reads from, and records writes. */
export type ReadContext = Pick<Readers, 'clientFor' | 'recordWrite'>
