import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Connection } from './connection.ts'
import type { DatabasePool } from './pool.ts'
import { sendSetUp } from './pooler.ts'
import { sessionStatement } from './session.ts'

const CHANNEL = 'halgraph_writes'

/** The least time between two notifications of a process. */
const PAUSE_MILLISECONDS = 25

/** The least time between two attempts to connect. */
const RETRY_MILLISECONDS = 5_000

/**
 * Tells other processes that this one has written, and listens for their writes, on one connection that opens when first
 * needed (PostgreSQL: LISTEN and NOTIFY). A notification is a transaction of its own, because transactions that notify
 * wait for each other to commit. None are sent through a pooler in transaction mode, which does not deliver them. The
 * regular look at the feed makes up for these, and for notifications that are lost with a connection.
 */
export class WriteNotifications {
  readonly #sender = randomUUID()
  #client: Promise<pg.Client | undefined> | undefined
  #triedAt = Number.NEGATIVE_INFINITY
  #isDue = false
  #isSending = false
  #isClosed = false
  #receive = () => {}
  #disconnect = () => {}

  constructor(
    private readonly connection: Connection,
    private readonly pool: Pick<DatabasePool, 'isPooled'>,
  ) {}

  /** Calls back after writes of other processes. Call it again to replace a lost connection. */
  listen(receive: () => void): void {
    this.#receive = receive
    void this.#connected()
  }

  /** Returns at once. Sends at most 40 notifications a second. */
  notify(): void {
    this.#isDue = true
    if (!this.#isSending) void this.#send()
  }

  /** Does not wait for the server, which may no longer respond. */
  close(): void {
    this.#isClosed = true
    this.#disconnect()
  }

  async #send(): Promise<void> {
    this.#isSending = true
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false
      const client = await this.#connected()
      const values = [CHANNEL, this.#sender]
      await client?.query('SELECT pg_catalog.pg_notify($1, $2)', values).catch(this.#disconnect)
      await delay(PAUSE_MILLISECONDS)
    }
    this.#isSending = false
  }

  async #connected(): Promise<pg.Client | undefined> {
    const isWaiting = !this.#client && performance.now() - this.#triedAt < RETRY_MILLISECONDS
    if (this.#isClosed || this.pool.isPooled || isWaiting) return undefined
    this.#client ??= this.#connect()
    return this.#client
  }

  async #connect(): Promise<pg.Client | undefined> {
    this.#triedAt = performance.now()
    const { schema } = this.connection
    const client = new pg.Client({
      ...this.connection,
      keepAlive: true,
      connectionTimeoutMillis: RETRY_MILLISECONDS,
      query_timeout: RETRY_MILLISECONDS,
    })
    // Reads the stream late, because TLS replaces it.
    this.#disconnect = () => void client.connection.stream.destroy()
    const forget = () => {
      this.#client = undefined
    }
    // The event `error` comes before `end`. Without a listener, it would end the process.
    client.on('error', () => {})
    client.on('end', forget)
    client.on('notification', ({ payload }) => payload !== this.#sender && this.#receive())
    try {
      await client.connect()
      await sendSetUp((text) => client.query(text), sessionStatement(schema, RETRY_MILLISECONDS))
      await client.query(`LISTEN ${CHANNEL}`)
      return client
    } catch {
      forget()
      this.#disconnect()
      return undefined
    }
  }
}
