import { isConflict, repeatAfterConflicts } from '../database/conflicts.ts'
import type { DatabaseClient } from '../database/database-client.ts'
import { rejectUnavailable } from '../database/errors.ts'
import { authorStatement } from '../database/sql/write.ts'
import type { SharedTransaction, WriteContext } from './context.ts'

/** Another request has changed the same data. The write is repeated; callers never receive this error. */
export class WriteConflict extends Error {}

export class ParentNotFound extends Error {}

/** The transaction cannot continue, because of another request or an error without a savepoint. It is repeated. */
export class TransactionEnded extends Error {}

/** Repeats a write until it has no conflict. Without preconditions, a write never fails because of another request. */
export function retry<Result>(write: () => Promise<Result>): Promise<Result> {
  return repeatAfterConflicts(write, (error) => error instanceof WriteConflict)
}

/** Whether the transaction cannot continue after this error of a write or a read. */
export function endsTransaction(error: unknown): boolean {
  return error instanceof TransactionEnded || isConflict(error)
}

type Context = Pick<WriteContext, 'caller' | 'client' | 'transaction'>

class RolledBack extends Error {
  constructor(readonly result: unknown) {
    super()
  }
}

/**
 * Runs writes in one transaction, and again as a whole after a conflict. A savepoint costs two statements, so the first
 * attempt has them only if the writes may fail one by one; later ones have them to find out which write is refused.
 *
 * @param work returns the result, and whether to commit it
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) if the transaction cannot begin in time, or takes too long
 */
export function inOneTransaction<Result>(
  context: Context,
  first: SharedTransaction,
  work: (
    client: DatabaseClient,
    transaction: SharedTransaction,
  ) => Promise<{ readonly result: Result; readonly isKept: boolean }>,
): Promise<Result> {
  let { hasSavepoints } = first
  return retry(async () => {
    try {
      return await begin(context, async (inside) => {
        const { result, isKept } = await work(inside, { ...first, hasSavepoints })
        if (!isKept) throw new RolledBack(result)
        return result
      })
    } catch (error) {
      if (error instanceof RolledBack) return error.result as Result
      hasSavepoints = true
      if (endsTransaction(error)) throw new WriteConflict()
      return rejectUnavailable(error)
    }
  })
}

/** Runs one write in a transaction, or in a savepoint of the current one. Throws as {@link inOneTransaction}. */
export function transact<Result>(
  context: Context,
  work: (client: DatabaseClient) => Promise<Result>,
): Promise<Result> {
  return begin(context, work).catch(rejectUnavailable)
}

/**
 * Makes the versions of rows that are created count from 1, as if they had never been, in a transaction that is undone. See
 * prisma/engine/forget_unseen_rows.sql.
 */
export async function forgetDeleted(client: DatabaseClient, isForgotten: boolean): Promise<void> {
  const text = "SELECT pg_catalog.set_config('halgraph.unseen', $1, true) AS unseen FROM change_feed"
  await client.$rows({ text, values: [isForgotten ? 'on' : 'off'] })
}

/** Rules may write before the write that names its author. A conflict can end the transaction up to its commit. */
async function begin<Result>(
  { caller, client, transaction }: Context,
  work: (client: DatabaseClient) => Promise<Result>,
): Promise<Result> {
  try {
    return await client.transaction(async (inside) => {
      if (!transaction) await inside.$rows(authorStatement(caller.identity))
      return work(inside)
    })
  } catch (error) {
    if (isConflict(error)) throw transaction ? new TransactionEnded() : new WriteConflict()
    throw error
  }
}
