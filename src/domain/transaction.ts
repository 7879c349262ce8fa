import type { Client } from '../database/client.ts'
import { rejectUnavailable } from '../database/errors.ts'
import { type Change, TransactionNeeded } from '../model/database-rule.ts'
import type { Resource } from '../model/resource.ts'
import type { WriteContext } from './context.ts'
import type { ClientChange } from './rules.ts'

/** The row that a write is about, as it is and as it will be. */
export type Target<After = Change['after']> = Pick<Change, 'key' | 'before'> & { readonly after: After }

/**
 * Runs a write in a transaction if it has several statements: those of a database rule, or of an idempotency
 * key. A write of one statement needs none, nor does one whose rule reads first and then has nothing to write.
 * A rule may set columns, so each attempt starts from a copy of those of the target.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) if the transaction cannot begin in time, or takes too long
 */
export async function inTransaction<After extends Change['after'], Result>(
  { client, caller, ruleSettings: settings }: WriteContext,
  { databaseRule }: Resource,
  { key, before, after }: Target<After>,
  write: (change: ClientChange & Target<After>) => Promise<Result>,
  hasIdempotencyKey = false,
): Promise<Result> {
  const writeOn = (client: Client, isInTransaction: boolean) =>
    write({ client, isInTransaction, caller, settings, key, before, after: after && { ...after } })
  const writeInside = () =>
    client.$transaction((inside) => writeOn(inside as unknown as Client, true)).catch(rejectUnavailable)
  if (hasIdempotencyKey) return writeInside()
  if (!databaseRule) return writeOn(client, false)
  try {
    if (databaseRule.readsFirst) return await writeOn(client, false)
  } catch (error) {
    if (!(error instanceof TransactionNeeded)) throw error
  }
  return writeInside()
}
