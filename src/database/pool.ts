import { SpanKind } from '@opentelemetry/api'
import pg from 'pg'
import { inYears } from '../model/kinds/timestamp.ts'
import { inSpan, requestTimings } from '../observability/observation.ts'
import { SERVICE_NAME } from '../observability/service-name.ts'
import { AbandonedSessions } from './abandoned-sessions.ts'
import type { DatabaseUse } from './client.ts'
import { repeatAfterConflicts } from './conflicts.ts'
import type { Connection } from './connection.ts'
import { connectionError, type FailureReason, failureReason } from './errors.ts'
import { isPooled, SESSION_PROCESS, sendPreceded, sendSetUp } from './pooler.ts'
import { localStatements, searchPathStatement, sessionStatement, transactionStatement } from './session.ts'

/** From the statement timeout until the connection is closed. */
const GRACE_MILLISECONDS = 1_000

/** The embedded database runs in this process, so a missing response only means a long statement. */
const EMBEDDED_RESPONSE_MILLISECONDS = 600_000

interface PoolObserver {
  /** How long a statement or a transaction has waited for its connection, in seconds. */
  waited(seconds: number): void
  /** A connection could not be made or was lost, or the server could not serve. */
  failed(reason: FailureReason): void
}

/** The signature of `query` in this file; pg declares ten overloads. */
type Query = (...parameters: unknown[]) => Promise<unknown>

export type PoolUse = Pick<DatabaseUse, 'databasePoolSize' | 'databaseTimeout'>

export type DatabasePool = pg.Pool &
  Pick<WatchedPool, 'observer' | 'isPooled' | 'abandoned' | 'fail' | 'server'>

/** A connection whose session can change its schema. */
export interface SchemaClient {
  /** Called for each use by a pool that shares the connection. */
  enter(pool: WatchedPool, schema: string | undefined): Promise<void>
}

export class WatchedPool extends pg.Pool {
  observer: PoolObserver | undefined
  /** Whether connections have gone through a pooler that shares sessions. */
  isPooled = false
  readonly abandoned: AbandonedSessions
  /** The pool whose connections it uses, if these are shared. */
  readonly server?: DatabasePool

  constructor(config: pg.PoolConfig, timeout: number) {
    super(config)
    this.abandoned = new AbandonedSessions(this, timeout)
    const { max } = this.options
    // Abandoned sessions are connections of the server. Half of the pool remains for reads in any case.
    const free = () => max - Math.min(this.abandoned.count, Math.floor(max / 2))
    Object.defineProperty(this.options, 'max', { get: free })
  }

  /** Reports an error of a connection or of the server once, and turns it into SERVICE_UNAVAILABLE. */
  fail(error: unknown): unknown {
    const failure = connectionError(error)
    if (failure !== error) this.observer?.failed(failureReason(error))
    return failure
  }

  override async connect(): Promise<pg.PoolClient> {
    const started = performance.now()
    try {
      return await super.connect()
    } catch (error) {
      throw this.fail(error)
    } finally {
      this.observer?.waited((performance.now() - started) / 1_000)
    }
  }

  /** Outside of a transaction, a statement that a conflict has undone is repeated. */
  override query(...parameters: unknown[]): never {
    return repeatAfterConflicts(() => this.#send(parameters)) as never
  }

  async #send(parameters: unknown[]): Promise<unknown> {
    const client = await this.connect()
    try {
      const result = await (client as unknown as { query: Query }).query(...parameters)
      client.release()
      return result
    } catch (error) {
      client.release(error as Error)
      throw error
    }
  }
}

/**
 * Traces and times all statements, and closes a connection that does not respond. A connection to a server sets up its
 * session once; one through a pooler sets up each transaction, and prepares no statements.
 */
export function createPool(
  connection: Connection,
  { databasePoolSize, databaseTimeout: timeout }: PoolUse,
  maxUses = Number.POSITIVE_INFINITY,
): DatabasePool {
  const { schema, keepsSession, isEmbedded } = connection
  const responseTimeout = isEmbedded ? EMBEDDED_RESPONSE_MILLISECONDS : timeout + GRACE_MILLISECONDS
  // The embedded database cannot cancel statements.
  const session = sessionStatement(schema, isEmbedded ? 0 : timeout)

  class WatchedClient extends pg.Client implements SchemaClient {
    #isPooled = false
    #schema = schema
    #borrower: WatchedPool | undefined

    async setUp(): Promise<void> {
      // The statement in progress rejects. Without a listener, the event would end the process.
      this.on('error', () => {})
      const send = (text: string) => this.#inTime((query) => sendSetUp(query, text))
      if (!isEmbedded && !keepsSession) this.#isPooled = isPooled(this, await send(SESSION_PROCESS))
      pool.isPooled ||= this.#isPooled
      if (!this.#isPooled) await send(session)
    }

    async enter(borrower: WatchedPool, wanted: string | undefined): Promise<void> {
      this.#borrower = borrower
      if (wanted === this.#schema) return
      if (!this.#isPooled) await this.#inTime((query) => query(searchPathStatement(wanted)))
      this.#schema = wanted
    }

    override query(query: unknown, values?: unknown): never {
      const config = typeof query === 'string' ? { text: query, values } : query
      return this.#watched(withTimesInYears(config as pg.QueryConfig)) as never
    }

    async #watched(config: pg.QueryConfig): Promise<unknown> {
      const timings = requestTimings.getStore()
      const started = performance.now()
      try {
        const send = () => this.#inTime((query) => this.#send(query, config))
        return withReadableTypes(await inSpan(...described(config), send, SpanKind.CLIENT))
      } finally {
        if (timings) {
          timings.database += performance.now() - started
          timings.statements++
        }
      }
    }

    /** Ends the connection if there is no response. */
    async #inTime(send: (query: Query) => Promise<unknown>): Promise<unknown> {
      const { stream } = this.connection
      const timer = setTimeout(() => stream.destroy(), responseTimeout)
      try {
        return await send(super.query.bind(this) as unknown as Query)
      } catch (error) {
        if (!isEmbedded && !(error instanceof pg.DatabaseError)) (this.#borrower ?? pool).abandoned.add()
        throw pool.fail(error)
      } finally {
        clearTimeout(timer)
      }
    }

    #send(query: Query, sent: pg.QueryConfig): Promise<unknown> {
      if (!this.#isPooled) return query(sent)
      const { name: _, ...unnamed } = sent
      if (this.getTransactionStatus() !== 'I') return query(unnamed)
      return sent.text === 'BEGIN'
        ? sendSetUp(query, transactionStatement(this.#schema, timeout))
        : sendPreceded(query, unnamed, localStatements(this.#schema, timeout))
    }
  }

  const config = {
    ...connection,
    // The embedded database counts these connections as one client.
    ...(isEmbedded && { application_name: SERVICE_NAME }),
    keepAlive: true,
    max: databasePoolSize,
    maxUses,
    connectionTimeoutMillis: timeout,
    Client: WatchedClient,
    onConnect: (client: pg.ClientBase) => (client as WatchedClient).setUp(),
  }
  const pool = new WatchedPool(config as pg.PoolConfig, timeout)
  // The pool removes a failed idle connection. Without a listener, the event would end the process.
  pool.on('error', (error) => pool.fail(error))
  return pool
}

/** The name and attributes of a span. The text of a statement contains no values. */
function described({ text }: pg.QueryConfig): [string, Record<string, string>] {
  const operation = text.trimStart().split(/\s/, 1)[0] ?? ''
  return [`SQL ${operation}`, { 'db.system.name': 'postgresql', 'db.query.text': text }]
}

/** PostgreSQL's identifier of the type `void`, which pg does not name. */
const VOID = 2278

/** Prisma does not read the type of functions that return nothing, such as locks. Their result is an empty text. */
function withReadableTypes(result: unknown): unknown {
  const { fields = [] } = result as { fields?: pg.FieldDef[] }
  for (const field of fields) if (field.dataTypeID === VOID) field.dataTypeID = pg.types.builtins.TEXT
  return result
}

const TIMES: readonly number[] = [pg.types.builtins.TIMESTAMPTZ, pg.types.builtins.DATE]

/** Prisma parses times itself, and makes invalid ones of those that JSON cannot express. */
function withTimesInYears(config: pg.QueryConfig): pg.QueryConfig {
  const { types } = config
  if (!types) return config
  const getTypeParser = ((oid: number, format: 'text') => {
    const parse = types.getTypeParser(oid, format)
    return TIMES.includes(oid) ? (text: string) => parse(inYears(text)) : parse
  }) as typeof types.getTypeParser
  return { ...config, types: { getTypeParser } }
}
