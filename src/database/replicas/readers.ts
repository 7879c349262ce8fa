import type { Caller } from '../../domain/model/caller.ts'
import type { DatabaseClient } from '../client.ts'
import { parseConnection } from '../connection.ts'
import { createDatabase, type Database, type DatabaseUse } from '../database.ts'
import { watchReplicas } from './replica-watch.ts'

/** Chooses the database that a caller reads from, so that nobody misses what they wrote themselves. */
export interface Readers {
  clientFor(caller: Caller): DatabaseClient
  recordWrite(caller: Caller): void
  close(): Promise<void>
}

/** Told how many of the replicas are read from. */
export type ReportReplicas = (fit: number, all: number) => void

/** So many callers are remembered; beyond that those who wrote longest ago are forgotten first. */
const MAXIMUM_WRITERS = 100_000

/** The part of REPLICA_LAG that a replica may really lag; the rest is for noticing that it does. */
const ALLOWED_PART = 0.5
const LEAST_ALLOWED_MILLISECONDS = 1_000

/**
 * Spreads reads over the replicas that are fit for it. A caller who has written reads from the primary for
 * as long as a replica may lag behind. Without replicas, or when none is fit, everyone reads from the primary.
 *
 * @param lag in milliseconds
 * @param report told how many of the replicas are read from, when those are others than before
 */
export async function openReaders(
  primary: Database,
  addresses: readonly string[],
  use: Omit<DatabaseUse, 'hasStatementTimeout'>,
  lag: number,
  report: ReportReplicas = () => {},
): Promise<Readers> {
  if (addresses.length === 0) {
    return { clientFor: () => primary.client, recordWrite: () => {}, close: async () => {} }
  }
  const replicas = addresses.map((address) =>
    createDatabase(parseConnection(address), { ...use, hasStatementTimeout: true }),
  )
  let next = () => primary.client
  const spread = (fit: readonly Database[]) => {
    report(fit.length, replicas.length)
    next = fit.length > 0 ? oneOf(primary, fit) : () => primary.client
  }
  const allowed = Math.max(lag * ALLOWED_PART, LEAST_ALLOWED_MILLISECONDS)
  const stopWatching = await watchReplicas(primary, replicas, allowed, spread)
  const written = new Map<string, number>()
  return {
    clientFor({ identity }) {
      const since = performance.now() - (written.get(identity) ?? Number.NEGATIVE_INFINITY)
      return since < lag ? primary.client : next()
    },
    recordWrite({ identity }) {
      written.delete(identity)
      written.set(identity, performance.now())
      const [oldest] = written.keys()
      if (written.size > MAXIMUM_WRITERS && oldest !== undefined) written.delete(oldest)
    },
    async close() {
      await stopWatching()
      await Promise.all(replicas.map((replica) => replica.close()))
    },
  }
}

function oneOf(primary: Database, fit: readonly Database[]): () => DatabaseClient {
  return () => (fit[Math.floor(Math.random() * fit.length)] ?? primary).client
}
