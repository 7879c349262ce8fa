import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from '../database.ts'

/** In milliseconds: between two looks, and for an answer, after which the replica does without readers. */
const INTERVAL_MILLISECONDS = 250
const PATIENCE_MILLISECONDS = 1_000

/**
 * How far the log of the primary has been written, and how far that of a replica has been followed, in
 * bytes; null for a server that is no replica.
 */
const WRITTEN = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS position`
const FOLLOWED = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS position`

/**
 * Looks after replicas for as long as it is not stopped: one that does not answer, or is further behind
 * the primary than it may be, is not fit to be read from until it is well again. How far behind one is, is
 * seen from here (how long ago the primary was where the replica is now), so that a replica which has lost
 * its primary shows it. Where a server does not tell, it counts as up to date. Resolves after the first look.
 *
 * @param mayLag in milliseconds
 * @param changed told which replicas are fit, when those are others than before
 * @returns what ends the watch, and resolves when it is no longer asking anybody
 */
export async function watchReplicas(
  primary: Database,
  replicas: readonly Database[],
  mayLag: number,
  changed: (fit: readonly Database[]) => void,
): Promise<() => Promise<void>> {
  const watched = replicas.map((database) => new Replica(database))
  let fit: readonly Database[] = []
  let isStopped = false
  const look = async () => {
    const mark = await markOf(primary)
    await Promise.all(watched.map((replica) => replica.look(mark, mayLag)))
    const now = watched.filter(({ isFit }) => isFit).map(({ database }) => database)
    const isSame = now.length === fit.length && now.every((database, index) => database === fit[index])
    fit = now
    if (!isSame) changed(now)
  }
  const watch = async () => {
    while (!isStopped) {
      await delay(INTERVAL_MILLISECONDS, undefined, { ref: false })
      if (!isStopped) await look()
    }
  }
  await look()
  const watching = watch()
  return () => {
    isStopped = true
    return watching
  }
}

/** Where the primary was at a moment. */
interface Mark {
  readonly at: number
  readonly position: number
}

class Replica {
  isFit = false
  /** What it has yet to reach. */
  #mark: Mark | undefined
  /** The moment whose writes it has for certain. */
  #caughtUp = Number.NEGATIVE_INFINITY

  constructor(readonly database: Database) {}

  async look(latest: Mark | undefined, mayLag: number): Promise<void> {
    try {
      const position = await positionOf(this.database, FOLLOWED)
      this.isFit = position === undefined || this.#lag(position, latest) <= mayLag
    } catch {
      this.isFit = false
    }
  }

  #lag(position: number, latest: Mark | undefined): number {
    const mark = this.#mark ?? latest
    // While the primary is silent nothing is known to be missing.
    if (!mark) return 0
    const isReached = position >= mark.position
    if (isReached) this.#caughtUp = mark.at
    this.#mark = isReached ? latest : mark
    return performance.now() - this.#caughtUp
  }
}

async function markOf(primary: Database): Promise<Mark | undefined> {
  const at = performance.now()
  const position = await positionOf(primary, WRITTEN).catch(() => undefined)
  return position === undefined ? undefined : { at, position }
}

/** Undefined where the server has no such position, or none that it tells. */
async function positionOf({ client }: Database, statement: string): Promise<number | undefined> {
  const silence = delay(PATIENCE_MILLISECONDS, undefined, { ref: false }).then(() => {
    throw new Error('no answer')
  })
  const answer = client
    .$rows<{ position: number | null }>({ text: statement, values: [] })
    .catch((error: unknown) => {
      if (isNotTold(error)) return []
      throw error
    })
  const [row] = await Promise.race([answer, silence])
  return row?.position ?? undefined
}

/** PostgreSQL appendix A: not supported, not allowed, not now; the server itself is well. */
function isNotTold(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:0A000|42501|42883|55000)$/.test(error.code ?? '')
}
