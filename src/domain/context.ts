import type { DatabaseClient } from '../database/client.ts'
import type { Readers } from '../database/replicas/readers.ts'
import type { RuleSettings } from './model/database-rule.ts'

export type { DatabaseClient }

/** Where writes happen, and the settings they follow. */
export interface WriteContext {
  readonly client: DatabaseClient
  readonly ruleSettings: RuleSettings
  /** How long a key of a request is remembered. */
  readonly idempotencyKeyHours: number
}

/** Which database a caller reads from, and who has written. */
export type ReadContext = Pick<Readers, 'clientFor' | 'recordWrite'>
