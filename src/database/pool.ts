import { AsyncResource } from 'node:async_hooks'
import { SpanKind } from '@opentelemetry/api'
import pg, { type ClientConfig } from 'pg'
import { currentTimings, inSpan } from '../observability/observation.ts'
import { connectionError } from './errors.ts'

/** How many connections are kept, and how long their users wait. */
interface PoolOptions {
  /** The first statement of each connection, which sets its session up. */
  readonly session: string
  readonly size: number
  /** In milliseconds: for a connection, and for an answer before the connection is taken for dead. */
  readonly connectTimeout: number
  readonly answerTimeout: number
}

/** The part of a pg Client that this file adds to; its own declaration has ten overloads. */
type Query = (...parameters: unknown[]) => Promise<unknown>
type Done = (error: unknown, result?: unknown) => void

/**
 * A pool of connections that are watched: every statement is a span and is timed, and a connection whose
 * answer does not come is ended, so that packets which vanish never hold one for good.
 */
export function createPool(connection: ClientConfig, options: PoolOptions): pg.Pool {
  const WatchedClient = watchedClient(options.answerTimeout)
  const pool = new WatchedPool({
    ...connection,
    keepAlive: true,
    max: options.size,
    connectionTimeoutMillis: options.connectTimeout,
    Client: WatchedClient,
    onConnect: (client: pg.ClientBase) =>
      (client as InstanceType<typeof WatchedClient>).answered([options.session]),
  } as pg.PoolConfig)
  // The pool drops an idle connection that breaks; unheard, the event would end the process.
  pool.on('error', () => {})
  return pool
}

class WatchedPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(done: (error: Error | undefined, client?: pg.PoolClient) => void): void
  override connect(done?: (...results: never[]) => void): unknown {
    const connect = super.connect.bind(this) as (done: (...results: unknown[]) => void) => void
    if (done === undefined) {
      return super.connect().catch((error: unknown) => Promise.reject(connectionError(error)))
    }
    // Whoever frees a connection calls the next one in the queue: in that one's own context, not in his.
    const inOwnContext = AsyncResource.bind((error: unknown, ...rest: unknown[]) =>
      (done as unknown as (...results: unknown[]) => void)(error && connectionError(error), ...rest),
    )
    connect(inOwnContext)
    return undefined
  }

  /** A connection that breaks tells the pool before it tells whoever sent the statement. */
  override query(...parameters: unknown[]): never {
    const send = super.query.bind(this) as unknown as (...parameters: unknown[]) => Promise<unknown>
    const done = parameters.at(-1)
    if (typeof done !== 'function') {
      return send(...parameters).catch((error: unknown) => Promise.reject(connectionError(error))) as never
    }
    const report = (error: unknown, result: unknown) =>
      (done as Done)(error && connectionError(error), result)
    return send(...parameters.slice(0, -1), report) as never
  }
}

function watchedClient(answerTimeout: number) {
  return class WatchedClient extends pg.Client {
    override query(...parameters: unknown[]): never {
      const done = parameters.at(-1)
      if (typeof done !== 'function') return this.#watched(parameters) as never
      this.#watched(parameters.slice(0, -1)).then(
        (result) => (done as Done)(undefined, result),
        (error) => (done as Done)(error),
      )
      return undefined as never
    }

    async #watched(parameters: unknown[]): Promise<unknown> {
      const timings = currentTimings()
      const started = performance.now()
      try {
        return await inSpan(...described(parameters), () => this.answered(parameters), SpanKind.CLIENT)
      } finally {
        if (timings) {
          timings.database += performance.now() - started
          timings.statements++
        }
      }
    }

    /** Sends a statement without counting it, such as the first one of a connection. */
    async answered(parameters: unknown[]): Promise<unknown> {
      const timer = setTimeout(() => this.#cut(), answerTimeout)
      try {
        return await (super.query as unknown as Query).apply(this, parameters)
      } catch (error) {
        throw connectionError(error)
      } finally {
        clearTimeout(timer)
      }
    }

    #cut(): void {
      const { connection } = this as unknown as { connection: { stream: { destroy(): void } } }
      connection.stream.destroy()
    }
  }
}

/** The text of a statement holds no values: those are its parameters. */
function described(parameters: unknown[]): [string, Record<string, string>] {
  const [query] = parameters as [string | { text: string }]
  const text = typeof query === 'string' ? query : query.text
  const operation = text.trimStart().split(/\s/, 1)[0] ?? ''
  return [`SQL ${operation}`, { 'db.system.name': 'postgresql', 'db.query.text': text }]
}
