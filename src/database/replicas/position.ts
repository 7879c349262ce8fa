import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { WritePosition } from '../../model/access/caller.ts'
import type { Database } from '../database.ts'

const RESPONSE_MILLISECONDS = 1_000

/** Errors of a server that responds, but does not support or allow a function (PostgreSQL, appendix A). */
const UNSUPPORTED = /^(?:0A000|42501|42883|55000)$/

/** The bytes of the write-ahead log that a primary had written at a time. */
export interface Written {
  readonly at: number
  readonly offset: number
}

/** Undefined if the primary does not respond, or does not report it. */
export async function readWritten(primary: Database): Promise<Written | undefined> {
  const at = performance.now()
  const text = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS offset"
  const answer = await ask<{ offset: number }>(primary, text).catch(() => undefined)
  return answer && { at, ...answer }
}

/**
 * The end of the log of a primary, on its timeline; undefined if it does not report it. The insert position covers every
 * commit that a client knows of, even without `synchronous_commit`.
 */
export function endOfLog(primary: Database): Promise<WritePosition | undefined> {
  const text = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS offset,
    ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int AS timeline`
  return ask<WritePosition>(primary, text)
}

export type Replayed = Pick<WritePosition, 'offset'> & Partial<WritePosition>

/**
 * Undefined for a server that does not report it, or is not a standby: a promoted server still reports what it had
 * replayed. The receiver knows the timeline at once, but shows it to monitoring roles only; a restart point knows it
 * later. A standby switches to a timeline before the position where that begins, so its positions never belong to the
 * previous timeline.
 */
export async function replayedPosition(replica: Database): Promise<Replayed | undefined> {
  const offset = `pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS offset`
  const timeline = `greatest((SELECT received_tli FROM pg_stat_wal_receiver),
    (SELECT timeline_id FROM pg_control_checkpoint())) AS timeline`
  const position = await ask<Replayed>(replica, `SELECT ${offset}, ${timeline} WHERE pg_is_in_recovery()`)
  return position ?? ask<Replayed>(replica, `SELECT ${offset} WHERE pg_is_in_recovery()`)
}

/** The identifier that a primary and its standbys share, and no other cluster has; undefined if it is not reported. */
export async function clusterOf(database: Database): Promise<string | undefined> {
  const text = 'SELECT system_identifier::text AS cluster FROM pg_control_system()'
  return (await ask<{ cluster: string }>(database, text))?.cluster
}

/**
 * @returns undefined without a row, where a value is unknown, or where the server does not support the statement
 * @throws if it does not respond in time
 */
async function ask<Answer extends object>({ client }: Database, text: string): Promise<Answer | undefined> {
  const timeout = delay(RESPONSE_MILLISECONDS, undefined, { ref: false }).then(() => {
    throw new Error('no response')
  })
  const response = client.$rows<Answer>({ text, values: [] }).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError && UNSUPPORTED.test(error.code ?? '')) return []
    throw error
  })
  const [row] = await Promise.race([response, timeout])
  return row && !Object.values(row).includes(null) ? row : undefined
}
