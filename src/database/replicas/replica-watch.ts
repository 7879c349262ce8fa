import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from '../database.ts'

const INTERVAL_MILLISECONDS = 250

/**
 * Polls replicas, and resolves after the first poll. A replica that does not respond, or lags too far behind the
 * primary, is not usable until it recovers.
 *
 * @param report called with the number of usable replicas, at first and when it changes
 * @returns a function that stops polling and resolves after the last poll
 */
export async function watchReplicas(
  primary: Database,
  watched: readonly Replica[],
  allowed: Allowed,
  report: (usable: number) => void,
): Promise<() => Promise<void>> {
  let reported: number | undefined
  let isStopped = false
  const poll = async () => {
    const latest = await readWritten(primary)
    await Promise.all(watched.map((replica) => replica.poll(latest, allowed)))
    const { length: usable } = watched.filter(({ isUsable }) => isUsable)
    if (usable !== reported) report(usable)
    reported = usable
  }
  await poll()
  const polling = (async () => {
    while (!isStopped) {
      await delay(INTERVAL_MILLISECONDS, undefined, { ref: false })
      if (!isStopped) await poll()
    }
  })()
  return () => {
    isStopped = true
    return polling
  }
}

/** The maximum lag in milliseconds, and whether it may be unknown, as for a primary or another kind of server. */
interface Allowed {
  readonly maximumLag: number
  readonly unknownLag: boolean
}

export class Replica {
  isUsable = false
  /** How long ago the primary was where the replica is, in milliseconds; undefined if unknown. */
  lag: number | undefined
  #target: Written | undefined
  /** The replica has all writes of the primary before this time. */
  #upToDateAt = Number.NEGATIVE_INFINITY

  /** @param name host and port */
  constructor(
    readonly name: string,
    readonly database: Database,
  ) {}

  async poll(latest: Written | undefined, { maximumLag, unknownLag }: Allowed): Promise<void> {
    try {
      const replayed = await readReplayed(this.database)
      const lag = replayed === undefined ? undefined : this.#measureLag(replayed, latest)
      this.isUsable = lag === undefined ? unknownLag : lag <= maximumLag
      this.lag = latest && lag
    } catch {
      this.lag = undefined
      this.isUsable = false
    }
  }

  #measureLag(offset: number, latest: Written | undefined): number {
    let target = this.#target ?? latest
    // A primary that is behind the target has succeeded another one, whose last writes are lost (asynchronous failover).
    if (latest && target && latest.offset < target.offset) target = latest
    // Without a response of the primary, the replica goes on serving, and its lag is unknown.
    if (!target) return 0
    const isReached = offset >= target.offset
    if (isReached) this.#upToDateAt = target.at
    this.#target = isReached ? latest : target
    return performance.now() - this.#upToDateAt
  }
}

const RESPONSE_MILLISECONDS = 1_000

/** Errors of a server that responds, but does not support or allow a function (PostgreSQL, appendix A). */
const UNSUPPORTED = /^(?:0A000|42501|42883|55000)$/

/** The bytes of the write-ahead log that a primary had written at a time. */
interface Written {
  readonly at: number
  readonly offset: number
}

/** Undefined if the primary does not respond, or does not report it. */
export async function readWritten(primary: Database): Promise<Written | undefined> {
  const at = performance.now()
  const offset = await ask(primary, 'SELECT pg_current_wal_lsn() AS lsn').catch(() => undefined)
  return offset === undefined ? undefined : { at, offset }
}

/**
 * The bytes of the log that a standby has replayed. Undefined for a server that does not report it, or is not a standby: a
 * promoted server still reports what it had replayed.
 */
export function readReplayed(replica: Database): Promise<number | undefined> {
  return ask(replica, 'SELECT pg_last_wal_replay_lsn() AS lsn WHERE pg_is_in_recovery()')
}

/**
 * @returns undefined without a row, where the value is unknown, or where the server does not support the statement
 * @throws if it does not respond in time
 */
async function ask({ client }: Database, position: string): Promise<number | undefined> {
  const timeout = delay(RESPONSE_MILLISECONDS, undefined, { ref: false }).then(() => {
    throw new Error('no response')
  })
  const text = `SELECT pg_wal_lsn_diff(lsn, '0/0')::float8 AS offset FROM (${position}) AS position`
  const response = client.$rows<{ offset: number | null }>({ text, values: [] }).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError && UNSUPPORTED.test(error.code ?? '')) return []
    throw error
  })
  const [row] = await Promise.race([response, timeout])
  return row?.offset ?? undefined
}
