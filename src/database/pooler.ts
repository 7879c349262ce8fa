import pg from 'pg'
import { READ_COMMITTED } from './session.ts'

const PROCESS = 'SELECT pg_catalog.pg_backend_pid() AS id'

/** Selects the process that serves a session. */
export const SESSION_PROCESS = `${READ_COMMITTED}; ${PROCESS}`

/**
 * Whether a pooler is between a client and its session. A server tells each client the process that serves it, for cancel
 * requests (PostgreSQL: BackendKeyData). A pooler that shares sessions has to name another one.
 *
 * @param answer to {@link SESSION_PROCESS}
 */
export function isPooled(client: pg.ClientBase, answer: unknown): boolean {
  const result = (answer as pg.QueryResult<{ id: number }>[]).at(-1)
  return result?.rows[0]?.id !== client.processID
}

/**
 * Whether two connections of a pool are in the same session, which proves that a pooler shares them. Different sessions
 * prove nothing, because a pooler in transaction mode can have a second one idle.
 */
export async function sharesSessions(pool: pg.Pool): Promise<boolean> {
  if (pool.options.max < 2) return false
  const [one, other] = [await pool.connect(), await pool.connect()]
  try {
    const { rows: first } = await one.query(PROCESS)
    const { rows: second } = await other.query(PROCESS)
    return first[0].id === second[0].id
  } finally {
    one.release()
    other.release()
  }
}

/** Of a set-up. A timeout of 1 ms, the shortest, cancels about one in a hundred. */
const ATTEMPTS = 100

/**
 * Sets up a session or a transaction. Repeats a set-up that is cancelled, because it runs under the statement_timeout of
 * the role or of another client of the pooler. It may have begun a transaction already.
 */
export async function sendSetUp<Result>(send: (text: string) => Promise<Result>, text: string) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(attempt === 1 ? text : `ROLLBACK;${text}`)
    } catch (error) {
      if (attempt === ATTEMPTS || !isCancelled(error)) throw error
    }
  }
}

/** PostgreSQL, appendix A: query_canceled, by a statement_timeout or on request. */
function isCancelled(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57014'
}

/** What the driver has of a connection and of the messages of a statement, and its types do not declare. */
declare module 'pg' {
  interface ClientBase {
    readonly connection: pg.Connection
    readonly processID: number | null
  }
  interface Query {
    handleDataRow(message: unknown): void
    handleCommandComplete(message: unknown, connection: pg.Connection): void
  }
}

/**
 * A statement with others before it, whose results are discarded, in one round trip and one transaction: the server
 * receives all of them before Sync (PostgreSQL: pipelining), so a pooler sends them to one session.
 */
class PrecededStatement extends pg.Query {
  #completed = 0

  constructor(
    config: pg.QueryConfig,
    readonly before: readonly string[],
    done: (error: Error | undefined, result: unknown) => void,
  ) {
    super({ ...config, queryMode: 'extended' } as pg.QueryConfig, done)
  }

  /** Whether all statements before it are complete. */
  get isReached(): boolean {
    return this.#completed >= this.before.length
  }

  override submit = (connection: pg.Connection): void => {
    connection.stream.cork()
    for (const text of this.before) {
      connection.parse({ text, name: '', types: [] }, true)
      connection.bind({}, true)
      connection.execute(null, true)
    }
    pg.Query.prototype.submit.call(this, connection)
    connection.stream.uncork()
  }

  override handleDataRow(message: unknown): void {
    if (this.isReached) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.isReached) super.handleCommandComplete(message, connection)
    this.#completed++
  }
}

/** Repeats the statement if one of those before it, which set up its transaction, is cancelled. */
export function sendPreceded(
  send: (statement: pg.Query) => unknown,
  config: pg.QueryConfig,
  before: readonly string[],
  attempts = ATTEMPTS,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const statement = new PrecededStatement(config, before, (error, result) => {
      if (!error) resolve(result)
      else if (attempts === 1 || statement.isReached || !isCancelled(error)) reject(error)
      else resolve(sendPreceded(send, config, before, attempts - 1))
    })
    send(statement)
  })
}
