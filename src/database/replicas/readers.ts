import type { Caller } from '../../model/access/caller.ts'
import type { DatabaseUse } from '../client.ts'
import { parseConnection } from '../connection.ts'
import { createDatabase, type Database } from '../database.ts'
import type { DatabaseClient } from '../database-client.ts'
import { Replica, watchReplicas } from './replica-watch.ts'

export type Readers = Awaited<ReturnType<typeof openReaders>>

export type ReportReplicas = (usable: number, all: number) => void

interface ReplicaOptions {
  readonly databaseReplicaUrls: readonly string[]
  /** In milliseconds. */
  readonly replicaLag: number
  readonly replicaPosition: 'required' | 'optional'
  readonly report?: ReportReplicas | undefined
}

/** Maximum number of callers whose last write is kept; the oldest are dropped first. */
const MAXIMUM_WRITERS = 100_000

/** The fraction of REPLICA_LAG that a replica may lag; the rest allows for the delay of its detection. */
const ALLOWED_PART = 0.5
const LEAST_ALLOWED_MILLISECONDS = 1_000

/**
 * Distributes reads over the usable replicas. After a write, the caller reads from the primary for as long as a replica may
 * lag, and with a token of the write also in other processes.
 */
export async function openReaders(
  primary: Database,
  use: DatabaseUse,
  { databaseReplicaUrls: addresses, replicaLag: lag, replicaPosition, report }: ReplicaOptions,
) {
  const replicas = addresses.map(
    (address) => new Replica(new URL(address).host, createDatabase(parseConnection(address), use)),
  )
  // Why a caller reads from the primary: it has just written here, a token says so, or no replica is usable.
  const choices = { replica: 0, primary_after_write: 0, primary_for_token: 0, primary_without_replica: 0 }
  const writtenAt = new Map<string, number>()
  const hasWritten = (identity: string) =>
    performance.now() - (writtenAt.get(identity) ?? Number.NEGATIVE_INFINITY) < lag
  const allowed = {
    maximumLag: Math.max(lag * ALLOWED_PART, LEAST_ALLOWED_MILLISECONDS),
    unknownLag: replicaPosition === 'optional',
  }
  const stopWatching = await watchReplicas(primary, replicas, allowed, (count) =>
    report?.(count, replicas.length),
  )
  const usable = () => replicas.filter(({ isUsable }) => isUsable)
  const choose = (fitting: readonly Replica[], otherwise: keyof typeof choices) => {
    const replica = fitting[Math.floor(Math.random() * fitting.length)]
    choices[replica ? 'replica' : otherwise]++
    return (replica?.database ?? primary).client
  }
  return {
    clientFor({ identity, consistency }: Caller): DatabaseClient {
      if (hasWritten(identity)) return choose([], 'primary_after_write')
      if (consistency?.needsPrimary) return choose([], 'primary_for_token')
      return choose(usable(), 'primary_without_replica')
    },
    recordWrite({ identity, consistency }: Caller): void {
      writtenAt.delete(identity)
      writtenAt.set(identity, performance.now())
      const [oldest] = writtenAt.keys()
      if (writtenAt.size > MAXIMUM_WRITERS && oldest !== undefined) writtenAt.delete(oldest)
      if (consistency) consistency.hasWritten = true
    },
    /** How many operations began with each choice. */
    choices,
    replicas,
    async close() {
      await stopWatching()
      await Promise.all(replicas.map(({ database }) => database.close()))
    },
  }
}
