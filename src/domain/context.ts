import type { DatabaseClient } from '../database/client.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { RuleSettings } from './model/database-rule.ts'

export type { DatabaseClient }

/** The database that writes use, and the settings they follow. */
export interface WriteContext {
  readonly client: DatabaseClient
  readonly ruleSettings: RuleSettings
  /** How long an idempotency key is stored. */
  readonly idempotencyKeyHours: number
}

/** Chooses the database that a caller reads from, and records who has written. */
export type ReadContext = Pick<Readers, 'clientFor' | 'recordWrite'>
