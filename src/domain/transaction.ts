import { type Client, type DatabaseClient, transact } from '../database/client.ts'
import { TransactionNeeded } from './model/database-rule.ts'
import type { Resource } from './model/resource.ts'

/** Runs on a client inside or outside a transaction. */
type Work<Result> = (client: Client, isInTransaction: boolean) => Promise<Result>

/**
 * Runs a write in a transaction if it has several statements: those of a database rule, or of an idempotency
 * key. A write of one statement needs none, nor does one whose rule reads first and then has nothing to write.
 */
export async function inTransaction<Result>(
  client: DatabaseClient,
  { databaseRule }: Resource,
  hasIdempotencyKey: boolean,
  write: Work<Result>,
): Promise<Result> {
  const writeInside = () => transact(client, (inside) => write(inside, true))
  if (hasIdempotencyKey) return writeInside()
  if (!databaseRule) return write(client, false)
  try {
    if (databaseRule.readsFirst) return await write(client, false)
  } catch (error) {
    if (!(error instanceof TransactionNeeded)) throw error
  }
  return writeInside()
}
