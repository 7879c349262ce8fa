import type { ClientConfig } from 'pg'
import { DatabaseRefusedError } from './refused.ts'

/** How a PostgreSQL server is reached. */
export interface Connection extends ClientConfig {
  /** The schema that the tables are in, where DATABASE_URL names one. */
  readonly schema?: string
}

/** Names that need no escaping, which the generated queries do not do. */
const SCHEMA_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

/**
 * Reads a DATABASE_URL. Its `?schema=` is Prisma's.
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
  if (schema === undefined) return { connectionString: url.href }
  if (!SCHEMA_NAME.test(schema)) {
    throw new DatabaseRefusedError('The schema in DATABASE_URL must be letters, digits and underscores')
  }
  return { connectionString: url.href, schema }
}
