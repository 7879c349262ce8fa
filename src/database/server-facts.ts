import type { ClientBase, Pool } from 'pg'
import { DatabaseRefusedError } from './connection.ts'

/** The version is `15.4`, possibly followed by the name of a package. */
interface ServerFacts extends Readonly<Record<'version' | 'encoding' | 'collation' | 'ctype', string>> {
  readonly versionNumber: number
  /** Of the collation: `c` for the operating system, `i` for ICU, `b` for PostgreSQL itself. Null before PostgreSQL 15. */
  readonly provider: string | null
  readonly isStandby: boolean
}

const OLDEST_VERSION = 13

export async function readServerFacts(client: ClientBase | Pool): Promise<ServerFacts> {
  const { rows } = await client.query<ServerFacts>(
    `SELECT current_setting('server_version') AS version,
       current_setting('server_version_num')::int AS "versionNumber",
       pg_encoding_to_char(encoding) AS encoding, datcollate AS collation, datctype AS ctype,
       pg_is_in_recovery() AS "isStandby", to_jsonb(pg_database) ->> 'datlocprovider' AS provider
     FROM pg_database WHERE datname = current_database()`,
  )
  return rows[0] as ServerFacts
}

/**
 * Indexes on texts were built by another version of the collation, so they may miss rows, and unique ones accept equal texts.
 * PostgreSQL knows the version from 15 on.
 */
export async function collationProblems(client: ClientBase | Pool, { versionNumber }: ServerFacts) {
  if (versionNumber < 150_000) return []
  const { rows } = await client.query<Record<'name' | 'stored' | 'actual', string>>(
    `SELECT quote_ident(datname) AS name, datcollversion AS stored, pg_database_collation_actual_version(oid) AS actual
     FROM pg_database
     WHERE datname = current_database() AND datcollversion <> pg_database_collation_actual_version(oid)`,
  )
  return rows.map(
    ({ name, stored, actual }) =>
      `The collation has version ${actual}, and the indexes were built with ${stored}; run REINDEX DATABASE ${name}, ` +
      `and then ALTER DATABASE ${name} REFRESH COLLATION VERSION`,
  )
}

/** @throws DatabaseRefusedError if the server is older than PostgreSQL 13, or the encoding is not UTF-8. */
export function refuseServer({ version, versionNumber, encoding }: ServerFacts): void {
  if (versionNumber < OLDEST_VERSION * 10_000) {
    throw new DatabaseRefusedError(
      `The server is PostgreSQL ${version}; version ${OLDEST_VERSION} or newer is required`,
    )
  }
  if (encoding === 'UTF8') return
  throw new DatabaseRefusedError(
    `The encoding of the database is ${encoding}, which cannot store every character. Create another one with ` +
      "CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0, and move the data with pg_dump and psql.",
  )
}
