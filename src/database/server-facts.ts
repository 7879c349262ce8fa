import type { ClientBase, Pool } from 'pg'
import { DatabaseRefusedError } from './refused.ts'

/** What a PostgreSQL server and a database on it are, which no session can change. */
export interface ServerFacts {
  /** As PostgreSQL writes it: `15.4`, perhaps with the name of a package. */
  readonly version: string
  readonly versionNumber: number
  readonly encoding: string
  readonly collation: string
  /** LC_CTYPE, which says what is the lower case of a letter. */
  readonly ctype: string
  /** Whether it is a standby, which takes no writes. */
  readonly isStandby: boolean
}

const FACTS = `
  SELECT current_setting('server_version') AS version,
    current_setting('server_version_num')::int AS "versionNumber",
    pg_encoding_to_char(encoding) AS encoding, datcollate AS collation, datctype AS ctype,
    pg_is_in_recovery() AS "isStandby"
  FROM pg_database WHERE datname = current_database()`

const OLDEST_VERSION = 13

/** Asks a server what it is. */
export async function readServerFacts(client: ClientBase | Pool): Promise<ServerFacts> {
  const { rows } = await client.query<ServerFacts>(FACTS)
  return rows[0] as ServerFacts
}

/**
 * @throws DatabaseRefusedError when the server is older than PostgreSQL 13, or its database cannot store
 *   every character.
 */
export function refuseServer({ version, versionNumber, encoding }: ServerFacts): void {
  if (versionNumber < OLDEST_VERSION * 10_000) {
    throw new DatabaseRefusedError(
      `The server is PostgreSQL ${version}; version ${OLDEST_VERSION} or newer is needed`,
    )
  }
  if (encoding === 'UTF8') return
  throw new DatabaseRefusedError(
    `The encoding of the database is ${encoding}, which cannot store every character. Make one with ` +
      "CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0, and move the data there with pg_dump and psql.",
  )
}
