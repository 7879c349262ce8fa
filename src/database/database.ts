import type { Pool } from 'pg'
import { createClient, type DatabaseClient } from './client.ts'
import type { Connection } from './connection.ts'
import { createPool } from './pool.ts'
import { type SessionLimits, sessionStatement, settingsCheck } from './session.ts'

/** The database of the service, open and migrated. */
export interface Database {
  readonly client: DatabaseClient
  /** The connections, of which the client is one user. */
  readonly pool: Pool
  /** Asks a connection for an answer; rejects without one, or when the settings of its session are not ours. */
  check(): Promise<void>
  /** Ends every connection; closes the embedded database. */
  close(): Promise<void>
}

/** How the service uses a PostgreSQL server. */
export interface DatabaseUse {
  /** Connections kept. */
  readonly poolSize: number
  /** In milliseconds: how long a statement may take, or a transaction, or the wait for a connection. */
  readonly timeout: number
  /** Whether the server can end a statement that takes longer; the embedded one cannot. */
  readonly hasStatementTimeout: boolean
}

/** How much later than a statement's own timeout its connection is taken for dead. */
const GRACE_MILLISECONDS = 1_000

/** The embedded database does not vanish; a statement that takes long is just that. */
const EMBEDDED_ANSWER_MILLISECONDS = 600_000

/** Connects to a database that is there and migrated; `release` is called after the last connection. */
export function createDatabase(
  connection: Connection,
  { poolSize, timeout, hasStatementTimeout }: DatabaseUse,
  release: () => Promise<void> = async () => {},
): Database {
  const { schema } = connection
  const limits: SessionLimits = {
    statement_timeout: timeout,
    idle_in_transaction_session_timeout: 4 * timeout,
  }
  const pool = createPool(connection, {
    session: sessionStatement(schema, hasStatementTimeout ? limits : undefined),
    size: poolSize,
    connectTimeout: timeout,
    answerTimeout: hasStatementTimeout ? timeout + GRACE_MILLISECONDS : EMBEDDED_ANSWER_MILLISECONDS,
  })
  const client = createClient(pool, { timeout, schema, prepared: hasStatementTimeout })
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
