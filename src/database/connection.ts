import type { ClientConfig } from 'pg'
import { DatabaseRefusedError } from './refused.ts'

/** The connection parameters of a PostgreSQL server. */
export interface Connection extends ClientConfig {
  /** The schema of the tables, if DATABASE_URL names one. */
  readonly schema?: string
  /** Whether it leads to the embedded database, which has every feature. */
  readonly isEmbedded?: true
}

/** Names that need no escaping, because Prisma's queries do not escape them. */
const SCHEMA_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

/**
 * Parses a DATABASE_URL, including Prisma's parameter `schema`.
 *
 * @throws DatabaseRefusedError if it is not a PostgreSQL URL. The message does not repeat the URL, which may
 *   contain a password.
 */
export function parseConnection(databaseUrl: string): Connection {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined
  if (!url || !['postgresql:', 'postgres:'].includes(url.protocol)) {
    throw new DatabaseRefusedError('DATABASE_URL is not a URL of the form postgresql://user@host:5432/name')
  }
  const schema = url.searchParams.get('schema') ?? undefined
  url.searchParams.delete('schema')
  if (schema === undefined) return { connectionString: url.href }
  if (!SCHEMA_NAME.test(schema)) {
    throw new DatabaseRefusedError('The schema in DATABASE_URL must be letters, digits and underscores')
  }
  return { connectionString: url.href, schema }
}
