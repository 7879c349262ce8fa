import type { ClientConfig } from 'pg'
import { DatabaseRefusedError } from './refused.ts'

/** A PostgreSQL server as DATABASE_URL names it, and the schema its tables are in, if not the default. */
export interface Connection {
  config: ClientConfig
  schema: string | undefined
}

/** Names that need no escaping, which the generated queries do not do. */
const SCHEMA_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

/**
 * Reads a DATABASE_URL. Prisma's `?schema=` becomes the search path of each connection, since triggers
 * and plain SQL have to find the tables too.
 *
 * @throws DatabaseRefusedError when it is not a PostgreSQL address. The message does not repeat it, for it
 *   may hold a password.
 */
export function parseConnection(databaseUrl: string): Connection {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined
  if (!url || !['postgresql:', 'postgres:'].includes(url.protocol)) {
    throw new DatabaseRefusedError(
      'DATABASE_URL is not an address of the form postgresql://user@host:5432/name',
    )
  }
  const schema = url.searchParams.get('schema') ?? undefined
  url.searchParams.delete('schema')
  if (schema === undefined) return { config: { connectionString: url.href }, schema }
  if (!SCHEMA_NAME.test(schema)) {
    throw new DatabaseRefusedError('The schema in DATABASE_URL must be letters, digits and underscores')
  }
  const options = `${url.searchParams.get('options') ?? ''} -c search_path="${schema}"`.trim()
  url.searchParams.delete('options')
  return { config: { connectionString: url.href, options }, schema }
}
