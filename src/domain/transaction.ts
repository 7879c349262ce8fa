import { type Client, type DatabaseClient, transact } from '../database/client.ts'
import { TransactionNeeded } from './model/database-rule.ts'
import type { Resource } from './model/resource.ts'

/** Work on a client that may be inside a transaction. */
type Work<Result> = (client: Client, isInTransaction: boolean) => Promise<Result>

/**
 * Runs a write in a transaction where it has several statements: a rule reads other resources and may write to
 * them, and a request that happens only once leaves its key. A write of a single statement needs none, and
 * neither does one where a rule that reads first has nothing more to do.
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
