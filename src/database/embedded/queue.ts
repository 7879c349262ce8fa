import type { PGlite } from '@electric-sql/pglite'
import { SERVICE_NAME } from '../../observability/service-name.ts'
import { EmbeddedSessions } from './sessions.ts'
import { applicationName, isFatal, ROLLBACK, refuseCopy } from './wire-messages.ts'

interface Batch {
  connection: number
  bytes: Uint8Array
  /** True after Flush: the client expects a response now, and then continues the same batch. */
  unfinished: boolean
  onData: (data: Uint8Array) => void
  resolve: (size: number) => void
  reject: (error: unknown) => void
}

/**
 * How long a connection may be idle in a transaction while others wait for the database, as a part of their timeout.
 * The service ends its transactions itself unless it gets no processor time, so it has as long as on a server.
 */
const STALL_PART = 0.6
const SERVICE_STALL_PART = 4

/** The first characters of frontend messages (PostgreSQL, "Message Formats"). A start-up message has no type. */
const START_UP = '\0'
const FLUSH = 'H'
/** Start-up, Query, Sync and Flush. */
const ASKING = [START_UP, 'Q', 'S', FLUSH]
/** Messages that wait for a later Sync, Flush or Query. */
const PREPARING = [...'PBDEC']

/**
 * Shares an embedded database between connections, in place of the queue of pglite-socket, which passes messages on
 * one by one. The engine has a single unnamed statement and portal, so the messages of an extended query (Parse, Bind,
 * Execute … Sync) must reach it together. The queue gathers the messages of each connection into whole batches, and
 * reserves the database for one connection from BEGIN until its transaction ends.
 */
export class EmbeddedQueue {
  readonly #sessions: EmbeddedSessions
  readonly #gathered = new Map<number, Uint8Array[]>()
  #waiting: Batch[] = []
  #owner: number | undefined
  #running = false
  #stallTimer: NodeJS.Timeout | undefined

  /**
   * @param timeout how long clients wait, in milliseconds
   * @param onStalled must close the connection, whose idle transaction blocks others
   * @param onFatal must end the thread, because the engine has failed
   */
  constructor(
    readonly engine: PGlite,
    readonly timeout: number,
    readonly onStalled: (connection: number) => void,
    readonly onFatal: () => void,
  ) {
    this.#sessions = new EmbeddedSessions(engine)
  }

  /** Resolves when the message has been executed, or added to the batch of its connection. */
  enqueue(connection: number, message: Uint8Array, onData: (data: Uint8Array) => void): Promise<number> {
    const type = String.fromCharCode(message[0] ?? 0)
    // Terminate needs no response, and an unexpected message would end the engine.
    if (!PREPARING.includes(type) && !ASKING.includes(type)) return Promise.resolve(0)
    if (type === START_UP) this.#sessions.open(connection, applicationName(message) === SERVICE_NAME)
    const gathered = this.#gathered.get(connection) ?? []
    gathered.push(refuseCopy(message))
    if (PREPARING.includes(type)) {
      this.#gathered.set(connection, gathered)
      return Promise.resolve(0)
    }
    this.#gathered.delete(connection)
    const bytes = Buffer.concat(gathered)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ connection, bytes, unfinished: type === FLUSH, onData, resolve, reject })
      void this.#run()
    })
  }

  clearQueueForHandler(connection: number): void {
    this.#gathered.delete(connection)
    const isGone = (batch: Batch) => batch.connection === connection
    for (const batch of this.#waiting.filter(isGone)) batch.resolve(0)
    this.#waiting = this.#waiting.filter((batch) => !isGone(batch))
  }

  /** After the last batch of a closed connection, rolls back its transaction and ends its session. */
  async clearTransactionIfNeeded(connection: number): Promise<void> {
    // A session that can no longer be entered is not in a transaction.
    await this.enqueue(connection, ROLLBACK, () => {}).catch(() => {})
    this.#sessions.close(connection)
  }

  async #run(): Promise<void> {
    if (this.#running) return
    this.#running = true
    clearTimeout(this.#stallTimer)
    this.#stallTimer = undefined
    for (let batch = this.#next(); batch; batch = this.#next()) await this.#execute(batch)
    this.#running = false
    this.#watchForStall()
  }

  #next(): Batch | undefined {
    if (this.#owner === undefined) return this.#waiting.shift()
    const index = this.#waiting.findIndex((batch) => batch.connection === this.#owner)
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0]
  }

  async #execute(batch: Batch): Promise<void> {
    try {
      if (this.#owner === undefined) await this.#sessions.enter(batch.connection)
      let size = 0
      const onRawData = (data: Uint8Array): void => {
        size += data.length
        batch.onData(data)
        if (isFatal(data)) this.onFatal()
      }
      await this.engine.runExclusive(() => this.engine.execProtocolRawStream(batch.bytes, { onRawData }))
      const isHeld = batch.unfinished || this.engine.isInTransaction()
      this.#owner = isHeld ? batch.connection : undefined
      batch.resolve(size)
    } catch (error) {
      this.#owner = undefined
      batch.reject(error)
    }
  }

  #watchForStall(): void {
    const owner = this.#owner
    if (owner === undefined || this.#waiting.length === 0) return
    const part = this.#sessions.isService(owner) ? SERVICE_STALL_PART : STALL_PART
    const timer = setTimeout(() => {
      // If this thread was paused, a message of the owner may have arrived: let it be read first.
      setImmediate(() => {
        if (this.#stallTimer === timer) this.onStalled(owner)
      })
    }, part * this.timeout)
    this.#stallTimer = timer
  }
}
