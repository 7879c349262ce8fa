import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../database.ts'
import { readReplayed, readWritten, type Written } from './position.ts'

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
