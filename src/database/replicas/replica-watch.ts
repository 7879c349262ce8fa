import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from '../database.ts'

/** Between two polls, and for a response. */
const INTERVAL_MILLISECONDS = 250
const RESPONSE_MILLISECONDS = 1_000

/**
 * The position in the write-ahead log that the primary has written, and that a replica has replayed, in bytes;
 * null for a server that is not a replica.
 */
const WRITTEN = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS position`
const REPLAYED = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS position`

/**
 * Polls replicas. A replica that does not respond, or lags too far behind the primary, is not usable until it
 * recovers. The lag is how long ago the primary was at the position of the replica, as measured here, so it
 * grows when a replica has lost its primary. A server that does not report its position counts as up to date.
 * Resolves after the first poll.
 *
 * @param maximumLag in milliseconds
 * @param changed called with the usable replicas when they change
 * @returns a function that stops polling and resolves after the last poll
 */
export async function watchReplicas(
  primary: Database,
  replicas: readonly Database[],
  maximumLag: number,
  changed: (usable: readonly Database[]) => void,
): Promise<() => Promise<void>> {
  const watched = replicas.map((database) => new Replica(database))
  let usable: readonly Database[] = []
  let isStopped = false
  const poll = async () => {
    const latest = await readWritten(primary)
    await Promise.all(watched.map((replica) => replica.poll(latest, maximumLag)))
    const now = watched.filter(({ isUsable }) => isUsable).map(({ database }) => database)
    const isSame = now.length === usable.length && now.every((database, index) => database === usable[index])
    usable = now
    if (!isSame) changed(now)
  }
  const pollRepeatedly = async () => {
    while (!isStopped) {
      await delay(INTERVAL_MILLISECONDS, undefined, { ref: false })
      if (!isStopped) await poll()
    }
  }
  await poll()
  const polling = pollRepeatedly()
  return () => {
    isStopped = true
    return polling
  }
}

/** The position of the primary at a time. */
interface Written {
  readonly at: number
  readonly position: number
}

class Replica {
  isUsable = false
  /** The next position to reach. */
  #target: Written | undefined
  /** The replica has all writes of the primary before this time. */
  #upToDateAt = Number.NEGATIVE_INFINITY

  constructor(readonly database: Database) {}

  async poll(latest: Written | undefined, maximumLag: number): Promise<void> {
    try {
      const position = await positionOf(this.database, REPLAYED)
      this.isUsable = position === undefined || this.#lag(position, latest) <= maximumLag
    } catch {
      this.isUsable = false
    }
  }

  #lag(position: number, latest: Written | undefined): number {
    const target = this.#target ?? latest
    // Without a response of the primary, there is no known lag.
    if (!target) return 0
    const isReached = position >= target.position
    if (isReached) this.#upToDateAt = target.at
    this.#target = isReached ? latest : target
    return performance.now() - this.#upToDateAt
  }
}

async function readWritten(primary: Database): Promise<Written | undefined> {
  const at = performance.now()
  const position = await positionOf(primary, WRITTEN).catch(() => undefined)
  return position === undefined ? undefined : { at, position }
}

/** Undefined if the server has no such position or does not report it. */
async function positionOf({ client }: Database, statement: string): Promise<number | undefined> {
  const timeout = delay(RESPONSE_MILLISECONDS, undefined, { ref: false }).then(() => {
    throw new Error('no response')
  })
  const response = client
    .$rows<{ position: number | null }>({ text: statement, values: [] })
    .catch((error: unknown) => {
      if (isUnsupported(error)) return []
      throw error
    })
  const [row] = await Promise.race([response, timeout])
  return row?.position ?? undefined
}

/** PostgreSQL, appendix A: the server responds, but does not support or allow the function. */
function isUnsupported(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:0A000|42501|42883|55000)$/.test(error.code ?? '')
}
