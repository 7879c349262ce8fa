import type { ClientBase, Pool } from 'pg'
import { DatabaseRefusedError } from './connection.ts'

/** The version is `15.4`, possibly followed by the name of a package. */
interface ServerFacts extends Readonly<Record<'version' | 'encoding' | 'collation' | 'ctype', string>> {
  readonly versionNumber: number
  readonly isStandby: boolean
}

const OLDEST_VERSION = 13

export async function readServerFacts(client: ClientBase | Pool): Promise<ServerFacts> {
  const { rows } = await client.query<ServerFacts>(
    `SELECT current_setting('server_version') AS version,
       current_setting('server_version_num')::int AS "versionNumber",
       pg_encoding_to_char(encoding) AS encoding, datcollate AS collation, datctype AS ctype,
       pg_is_in_recovery() AS "isStandby"
     FROM pg_database WHERE datname = current_database()`,
  )
  return rows[0] as ServerFacts
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
