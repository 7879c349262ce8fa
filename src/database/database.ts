import { createClient, type DatabaseClient } from './client.ts'
import type { Connection } from './connection.ts'
import { createPool, type DatabasePool } from './pool.ts'
import {
  localStatements,
  type SessionLimits,
  sessionStatement,
  settingsCheck,
  transactionStatement,
} from './session.ts'
import type { PrismaClientClass } from './tables.ts'

/** The database of the service, open and migrated. */
export interface Database {
  readonly client: DatabaseClient
  /** The connection pool, which the client uses. */
  readonly pool: DatabasePool
  /** Rejects if a connection does not respond or its session has other settings. */
  check(): Promise<void>
  /** Ends all connections and closes the embedded database. */
  close(): Promise<void>
}

/** Limits for a database. */
export interface DatabaseUse {
  readonly PrismaClient: PrismaClientClass
  /** Maximum number of connections. */
  readonly poolSize: number
  /** In milliseconds, for a statement, a transaction, or the wait for a connection. */
  readonly timeout: number
  /** Whether the server cancels statements after the timeout; the embedded database cannot. */
  readonly hasStatementTimeout: boolean
}

/** Time after the statement timeout until the connection is closed. */
const GRACE_MILLISECONDS = 1_000

/** The embedded database runs in this process, so a missing response only means a long statement. */
const EMBEDDED_RESPONSE_MILLISECONDS = 600_000

/** Connects to a migrated database. `release` is called when all connections have ended. */
export function createDatabase(
  connection: Connection,
  { PrismaClient, poolSize, timeout, hasStatementTimeout }: DatabaseUse,
  release: () => Promise<void> = async () => {},
): Database {
  const { schema, keepsSession } = connection
  const limits: SessionLimits = {
    statement_timeout: timeout,
    idle_in_transaction_session_timeout: 4 * timeout,
  }
  const pooled = { begin: transactionStatement(schema, limits), before: localStatements(schema, limits) }
  const pool = createPool(connection, {
    session: sessionStatement(schema, hasStatementTimeout ? limits : undefined),
    pooled: hasStatementTimeout && !keepsSession ? pooled : undefined,
    size: poolSize,
    connectTimeout: timeout,
    responseTimeout: hasStatementTimeout ? timeout + GRACE_MILLISECONDS : EMBEDDED_RESPONSE_MILLISECONDS,
  })
  const client = createClient(pool, { PrismaClient, timeout, schema, prepared: hasStatementTimeout })
  const close = async () => {
    await client.$disconnect()
    if (!pool.ended) await pool.end()
    await release()
  }
  const check = async () => {
    const wrong = await client.$rows<{ name: string }>({ text: settingsCheck(schema), values: [] })
    if (wrong.length === 0) return
    throw new Error(`Another client of the session has set ${wrong.map(({ name }) => name).join(', ')}`)
  }
  let closing: Promise<void> | undefined
  return {
    client,
    pool,
    check,
    close: () => (closing ??= close()),
  }
}
