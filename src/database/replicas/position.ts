import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { WritePosition } from '../../model/caller.ts'
import type { Database } from '../database.ts'

/** The position in the write-ahead log that a primary has written, in bytes. */
const WRITTEN = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS offset`

const RESPONSE_MILLISECONDS = 1_000

/**
 * The end of the write-ahead log of a primary, on its timeline. The insert position covers every commit that a client
 * knows of, also without `synchronous_commit`.
 */
const END = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS offset,
  ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int AS timeline`

/**
 * The position that a standby has replayed. A server that was promoted still reports what it had replayed before,
 * although it has had writes of its own since.
 */
const REPLAYED_OFFSET = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS offset
  WHERE pg_is_in_recovery()`

/**
 * The same with its timeline. The receiver knows the timeline at once, but shows it to monitoring roles
 * only; a restart point knows it later. A standby switches to a timeline only before the position where it begins, so
 * that a position on it is never mistaken for one of the previous timeline.
 */
const REPLAYED = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS offset,
    greatest((SELECT received_tli FROM pg_stat_wal_receiver), (SELECT timeline_id FROM pg_control_checkpoint()))
      AS timeline
  WHERE pg_is_in_recovery()`

const CLUSTER = 'SELECT system_identifier::text AS cluster FROM pg_control_system()'

/** The end of the log of a primary; undefined if it does not report it. */
export function endOfLog(primary: Database): Promise<WritePosition | undefined> {
  return ask<WritePosition>(primary, END)
}

/** Undefined if the primary does not report it. */
export async function writtenOffset(primary: Database): Promise<number | undefined> {
  return (await ask<{ offset: number }>(primary, WRITTEN))?.offset
}

/** What a standby has replayed. Its timeline may be unknown. */
export interface Replayed extends Partial<WritePosition> {
  readonly offset: number
}

/** Undefined for a server that is no standby, or does not report it. */
export async function replayedPosition(replica: Database): Promise<Replayed | undefined> {
  return (await ask<WritePosition>(replica, REPLAYED)) ?? ask<Replayed>(replica, REPLAYED_OFFSET)
}

/** The identifier that a primary and its standbys share, and no other cluster has; undefined if it is not reported. */
export async function clusterOf(database: Database): Promise<string | undefined> {
  return (await ask<{ cluster: string }>(database, CLUSTER))?.cluster
}

/**
 * Asks a server that may not support or allow a statement.
 *
 * @returns undefined without a row, or where a value is unknown
 * @throws if it does not respond in time
 */
async function ask<Answer extends object>({ client }: Database, text: string): Promise<Answer | undefined> {
  const timeout = delay(RESPONSE_MILLISECONDS, undefined, { ref: false }).then(() => {
    throw new Error('no response')
  })
  const response = client.$rows<Answer>({ text, values: [] }).catch((error: unknown) => {
    if (isUnsupported(error)) return []
    throw error
  })
  const [row] = await Promise.race([response, timeout])
  return row && !Object.values(row).includes(null) ? row : undefined
}

/** PostgreSQL, appendix A: the server responds, but does not support or allow the function. */
function isUnsupported(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:0A000|42501|42883|55000)$/.test(error.code ?? '')
}
