import pg from 'pg'

/**
 * Selects the process that serves a session. In READ COMMITTED, because a standby refuses SELECT in a session whose
 * default isolation is serializable.
 */
export const SESSION_PROCESS = `SET transaction_isolation TO 'read committed'; SELECT pg_catalog.pg_backend_pid() AS id`

/**
 * Whether a pooler is between a client and its session. A server gives a client the identifier of the process that
 * serves it, for requests to cancel a statement (BackendKeyData in PostgreSQL's protocol). A pooler that shares
 * sessions has to give another one, because the process changes.
 *
 * @param answer to {@link SESSION_PROCESS}
 */
export function isPooled(client: pg.ClientBase, answer: unknown): boolean {
  const { rows } = (answer as pg.QueryResult<{ id: number }>[]).at(-1) as pg.QueryResult<{ id: number }>
  const { processID } = client as unknown as { readonly processID: number | null }
  return rows[0]?.id !== processID
}

/**
 * Whether two connections of a pool are in the same session, which shows that a pooler shares them. The opposite shows
 * nothing, because a pooler in transaction mode can have another session idle.
 */
export async function sharesSessions(pool: pg.Pool): Promise<boolean> {
  if (pool.options.max < 2) return false
  const clients: pg.PoolClient[] = []
  try {
    const processes = new Set<unknown>()
    for (const _ of ['first', 'second']) {
      const client = await pool.connect()
      clients.push(client)
      processes.add((await client.query('SELECT pg_catalog.pg_backend_pid() AS id')).rows[0].id)
    }
    return processes.size < clients.length
  } finally {
    for (const client of clients) client.release()
  }
}

/** The driver's methods that send and receive the messages of a statement, which its types do not declare. */
declare module 'pg' {
  interface Query {
    handleDataRow(message: unknown): void
    handleCommandComplete(message: unknown, connection: pg.Connection): void
  }
}

/**
 * A statement with others before it, in one round trip and one transaction: the server receives all of them before
 * Sync, which ends it (PostgreSQL: extended query protocol, pipelining). Therefore a pooler sends them to one
 * session. The results of the others are discarded.
 */
export class PrecededStatement extends pg.Query {
  readonly #before: readonly string[]
  #completed = 0

  constructor(
    config: pg.QueryConfig,
    before: readonly string[],
    done: (error: Error | undefined, result: unknown) => void,
  ) {
    super({ ...config, queryMode: 'extended' } as pg.QueryConfig, done)
    this.#before = before
  }

  override submit = (connection: pg.Connection): void => {
    connection.stream.cork()
    for (const text of this.#before) {
      connection.parse({ text, name: '', types: [] }, true)
      connection.bind({}, true)
      connection.execute(null, true)
    }
    pg.Query.prototype.submit.call(this, connection)
    connection.stream.uncork()
  }

  override handleDataRow(message: unknown): void {
    if (this.#completed >= this.#before.length) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.#completed >= this.#before.length) super.handleCommandComplete(message, connection)
    this.#completed++
  }
}
