import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
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
