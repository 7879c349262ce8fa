import { setTimeout as delay } from 'node:timers/promises'
import type { ClientConfig } from 'pg'

/** The database cannot be used. The message gives the operator the reason and the remedy; print no stack trace. */
export class DatabaseRefusedError extends Error {
  override name = 'DatabaseRefusedError'
}

export interface Connection extends ClientConfig {
  readonly schema?: string | undefined
  /** Whether DATABASE_URL names a pooler that keeps one session per connection. */
  readonly keepsSession?: boolean
  readonly patience?: Patience | undefined
  /** The embedded database has every feature. */
  readonly isEmbedded?: true
}

/** How long a start or a command waits for a server. The wait is reported once. */
export interface Patience {
  readonly seconds: number
  readonly report: (reason: string) => void
}

const PAUSE_MILLISECONDS = 250

/** Repeats work after temporary errors for as long as a start or a command is patient, and reports the first of them. */
export async function retryPatiently<Result>(
  patience: Patience | undefined,
  isTemporary: (error: Error) => boolean,
  work: () => Promise<Result>,
): Promise<Result> {
  const until = performance.now() + (patience?.seconds ?? 0) * 1_000
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isTemporary(error as Error) || performance.now() >= until) throw error
      if (attempt === 1) patience?.report((error as Error).message)
      await delay(PAUSE_MILLISECONDS)
    }
  }
}

/** Prisma's queries do not escape the name. */
const SCHEMA_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

/**
 * Parses a DATABASE_URL, including Prisma's parameter `schema`, and `pooler=session` for a pooler in session mode.
 *
 * @throws DatabaseRefusedError with a message that does not repeat the URL, which may contain a password
 */
export function parseConnection(databaseUrl: string, patience?: Patience): Connection {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined
  if (!url || !['postgresql:', 'postgres:'].includes(url.protocol)) {
    throw new DatabaseRefusedError('DATABASE_URL is not a URL of the form postgresql://user@host:5432/name')
  }
  const [schema, pooler] = ['schema', 'pooler'].map((name) => url.searchParams.get(name) ?? undefined)
  for (const name of ['schema', 'pooler']) url.searchParams.delete(name)
  if (schema !== undefined && !SCHEMA_NAME.test(schema))
    throw new DatabaseRefusedError('The schema in DATABASE_URL can only have letters, digits and underscores')
  if (pooler !== undefined && pooler !== 'session')
    throw new DatabaseRefusedError('The pooler in DATABASE_URL can only be session; others are detected')
  // Without it, the driver warns, and takes each mode for verify-full.
  if (url.searchParams.has('sslmode')) url.searchParams.set('uselibpqcompat', 'true')
  return { connectionString: url.href, patience, schema, keepsSession: pooler !== undefined }
}
