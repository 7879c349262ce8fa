import type { Caller } from '../../domain/model/caller.ts'
import type { DatabaseClient } from '../client.ts'
import { parseConnection } from '../connection.ts'
import { createDatabase, type Database, type DatabaseUse } from '../database.ts'
import { watchReplicas } from './replica-watch.ts'

/** Chooses the database that a caller reads from, so that callers always read their own writes. */
export interface Readers {
  clientFor(caller: Caller): DatabaseClient
  recordWrite(caller: Caller): void
  close(): Promise<void>
}

/** Receives the number of usable replicas, and of all. */
export type ReportReplicas = (usable: number, all: number) => void

/** Maximum number of callers whose last write is kept; the oldest are dropped first. */
const MAXIMUM_WRITERS = 100_000

/** The fraction of REPLICA_LAG that a replica may lag; the rest allows for the delay of its detection. */
const ALLOWED_PART = 0.5
const LEAST_ALLOWED_MILLISECONDS = 1_000

/**
 * Distributes reads over the usable replicas. After a write, the caller reads from the primary for as long as a
 * replica may lag. Without usable replicas, all callers read from the primary.
 *
 * @param lag in milliseconds
 * @param report called when the usable replicas change
 */
export async function openReaders(
  primary: Database,
  addresses: readonly string[],
  options: Omit<DatabaseUse, 'hasStatementTimeout'>,
  lag: number,
  report: ReportReplicas = () => {},
): Promise<Readers> {
  if (addresses.length === 0) {
    return { clientFor: () => primary.client, recordWrite: () => {}, close: async () => {} }
  }
  const replicas = addresses.map((address) =>
    createDatabase(parseConnection(address), { ...options, hasStatementTimeout: true }),
  )
  let next = () => primary.client
  const use = (usable: readonly Database[]) => {
    report(usable.length, replicas.length)
    next = () => (usable[Math.floor(Math.random() * usable.length)] ?? primary).client
  }
  const allowed = Math.max(lag * ALLOWED_PART, LEAST_ALLOWED_MILLISECONDS)
  const stopWatching = await watchReplicas(primary, replicas, allowed, use)
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
