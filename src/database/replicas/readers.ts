import { setTimeout as delay } from 'node:timers/promises'
import type { Caller, WritePosition } from '../../model/access/caller.ts'
import type { DatabaseUse } from '../client.ts'
import { parseConnection } from '../connection.ts'
import { createDatabase, type Database } from '../database.ts'
import type { DatabaseClient } from '../database-client.ts'
import { createConsistencyTokens } from './consistency-token.ts'
import { clusterOf, endOfLog } from './position.ts'
import { Replica, watchReplicas } from './replica-watch.ts'

export type Readers = Awaited<ReturnType<typeof openReaders>>

export type ReportReplicas = (usable: number, all: number) => void

interface ReplicaOptions {
  readonly databaseReplicaUrls: readonly string[]
  /** In milliseconds. */
  readonly replicaLag: number
  readonly replicaPosition: 'required' | 'optional'
  /** Signs consistency tokens; undefined for no tokens. */
  readonly secret: string | undefined
  readonly report?: ReportReplicas | undefined
}

/** Maximum number of callers whose last write is kept; the oldest are dropped first. */
const MAXIMUM_WRITERS = 100_000

/** The fraction of REPLICA_LAG that a replica may lag; the rest allows for the delay of its detection. */
const ALLOWED_PART = 0.5
const LEAST_ALLOWED_MILLISECONDS = 1_000

/** A replica usually follows within milliseconds. After this time the primary responds sooner. */
const WAIT_MILLISECONDS = 100
const POLL_MILLISECONDS = 10

/**
 * Distributes reads over the usable replicas. After a write, the caller reads from the primary for as long as a
 * replica may lag, and in other processes, with a token, from a replica that has the write.
 */
export async function openReaders(
  primary: Database,
  use: DatabaseUse,
  { databaseReplicaUrls: addresses, replicaLag: lag, replicaPosition, secret, report }: ReplicaOptions,
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
    /** For a request that names no write. */
    clientFor({ identity }: Caller): DatabaseClient {
      if (hasWritten(identity)) return choose([], 'primary_after_write')
      return choose(usable(), 'primary_without_replica')
    },
    /** For a request that names a write: a replica that has it, after a short wait, or else the primary. */
    async caughtUpClientFor({ identity, consistency }: Caller): Promise<DatabaseClient> {
      if (hasWritten(identity)) return choose([], 'primary_after_write')
      const after = consistency?.after
      if (after === undefined || after === 'unknown') return choose([], 'primary_for_token')
      await untilOneHas(after, usable())
      const caughtUp = usable().filter((replica) => replica.has(after))
      return choose(caughtUp, 'primary_for_token')
    },
    recordWrite({ identity, consistency }: Caller): void {
      writtenAt.delete(identity)
      writtenAt.set(identity, performance.now())
      const [oldest] = writtenAt.keys()
      if (writtenAt.size > MAXIMUM_WRITERS && oldest !== undefined) writtenAt.delete(oldest)
      if (consistency) consistency.hasWritten = true
    },
    /** Undefined without a secret to sign tokens with. */
    positions: await tokenPositions(primary, secret),
    /** How many operations began with each choice. */
    choices,
    replicas,
    async close() {
      await stopWatching()
      await Promise.all(replicas.map(({ database }) => database.close()))
    },
  }
}

async function untilOneHas(after: WritePosition, replicas: readonly Replica[]): Promise<void> {
  const until = performance.now() + WAIT_MILLISECONDS
  const following = replicas.filter(({ replayed }) => replayed?.timeline === after.timeline)
  while (following.length > 0 && !following.some((replica) => replica.has(after))) {
    if (performance.now() >= until) return
    const reading = Promise.any(following.map((replica) => replica.readReplayed())).catch(() => {})
    await Promise.race([reading, delay(WAIT_MILLISECONDS, undefined, { ref: false })])
    await delay(POLL_MILLISECONDS)
  }
}

async function tokenPositions(primary: Database, secret: string | undefined) {
  if (secret === undefined) return undefined
  let tokens: ReturnType<typeof createConsistencyTokens> | undefined
  const learn = async () => {
    const cluster = tokens ? undefined : await clusterOf(primary).catch(() => undefined)
    if (cluster !== undefined) tokens = createConsistencyTokens(secret, cluster)
  }
  // The primary may be down at the start. Then the first write asks again.
  await learn()
  return {
    read: (token: string) => (tokens ? tokens.read(token) : 'unknown'),
    async issue() {
      const position = await endOfLog(primary).catch(() => undefined)
      await learn()
      return position && tokens?.issue(position)
    },
  }
}
