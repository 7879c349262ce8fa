import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { WritePosition } from '../../model/caller.ts'
import type { Database } from '../database.ts'

/** For a response. */
const RESPONSE_MILLISECONDS = 1_000

/**
 * The end of the write-ahead log of a primary, on its timeline. The insert position covers every commit that a client
 * knows of, also without `synchronous_commit`.
 */
const END = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS offset,
  ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int AS timeline`

/**
 * The position that a standby has replayed. The receiver knows the timeline at once, but shows it to monitoring roles
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

/** What a standby has replayed; undefined for a server that is none, or does not report it. */
export function replayedPosition(replica: Database): Promise<WritePosition | undefined> {
  return ask<WritePosition>(replica, REPLAYED)
}

/** The identifier that a primary and its standbys share, and no other cluster has; undefined if it is not reported. */
export async function clusterOf(database: Database): Promise<string | undefined> {
  return (await ask<{ cluster: string }>(database, CLUSTER))?.cluster
}

/** Whether all writes up to a position have been replayed. */
export function includes(replayed: WritePosition | undefined, position: WritePosition): boolean {
  return replayed?.timeline === position.timeline && replayed.offset >= position.offset
}

/**
 * Asks a server that may not support or allow a statement.
 *
 * @returns undefined without a row, or where a value is unknown
 * @throws if it does not respond in time
 */
export async function ask<Answer extends object>(
  { client }: Database,
  text: string,
): Promise<Answer | undefined> {
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
