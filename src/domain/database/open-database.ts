import { join } from 'node:path'
import type { ClientConfig } from 'pg'
import { parseConnection } from './connection.ts'
import { DatabaseClient } from './database-client.ts'
import { embeddedConnection, openEmbeddedDatabase } from './embedded-database.ts'
import { prepareFolder } from './embedded-folder.ts'
import { EMBEDDED_POOL, SOCKET_NAME } from './embedded-limits.ts'
import { answers } from './embedded-lock.ts'
import { migrate, migrationState, refuse } from './migrator.ts'
import { createPool } from './pool.ts'
import { DatabaseRefusedError } from './refused.ts'

/** The database of the service, open and migrated. */
export interface Database {
  readonly client: DatabaseClient
  /** The connections as they are now: open, of them idle, and how many wait for one. */
  pool(): { readonly total: number; readonly idle: number; readonly waiting: number }
  /** Ends every connection; closes the embedded database. */
  close(): Promise<void>
}

/** Which database to open, and how. */
export interface DatabaseOptions {
  /** A PostgreSQL server. Without it the embedded database is used. */
  databaseUrl?: string | undefined
  /** The folder of the embedded database. */
  dataDir: string
  /** Migrate a PostgreSQL server when opening it; the embedded database always is. */
  migrateOnStart: boolean
  /** Connections kept to the database; the embedded one takes 7 at most. */
  poolSize: number
  /** In milliseconds: how long a statement may take, or a transaction, or the wait for a connection. */
  timeout?: number
}

/** What a command may take of an embedded database that a service is using. */
const SHARED_CONNECTIONS = 2

const DEFAULT_TIMEOUT_MILLISECONDS = 2_500

/** How much later than a statement's own timeout its connection is taken for dead. */
const GRACE_MILLISECONDS = 1_000

/** The embedded database cannot interrupt a statement, and its connections do not die. */
const EMBEDDED_ANSWER_MILLISECONDS = 600_000

/**
 * Opens the database of the options.
 *
 * @throws DatabaseRefusedError when it cannot be reached or opened, is in use by another process
 *   (embedded), or does not have exactly the migrations of this version.
 */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl } = options
  return databaseUrl === undefined ? openEmbedded(options) : openServer(databaseUrl, options)
}

/**
 * Opens the database for a command: as {@link openDatabase} does, except that an embedded database which
 * a running service holds is shared with it, over its socket.
 *
 * @throws DatabaseRefusedError as {@link openDatabase}
 */
export async function openSharedDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.databaseUrl !== undefined) return openDatabase(options)
  const { socketFolder } = await prepareFolder(options.dataDir)
  if (!(await answers(join(socketFolder, SOCKET_NAME)))) return openDatabase(options)
  const connection = embeddedConnection(socketFolder)
  await refuseUnmigrated(connection)
  return connectEmbedded(connection, { ...options, poolSize: SHARED_CONNECTIONS }, async () => {})
}

async function openEmbedded(options: DatabaseOptions): Promise<Database> {
  const embedded = await openEmbeddedDatabase(options.dataDir)
  try {
    await migrate(embedded.connection)
  } catch (error) {
    await embedded.close()
    throw error
  }
  return connectEmbedded(embedded.connection, options, () => embedded.close())
}

function connectEmbedded(
  connection: ClientConfig,
  { poolSize, timeout = DEFAULT_TIMEOUT_MILLISECONDS }: DatabaseOptions,
  release: () => Promise<void>,
): Database {
  const pool = createPool(connection, {
    size: Math.min(poolSize, EMBEDDED_POOL),
    connectTimeout: timeout,
    answerTimeout: EMBEDDED_ANSWER_MILLISECONDS,
  })
  return createDatabase(new DatabaseClient(pool, { timeout, prepared: false }), release)
}

async function openServer(databaseUrl: string, options: DatabaseOptions): Promise<Database> {
  const { config, schema } = parseConnection(databaseUrl)
  if (options.migrateOnStart) await migrate(config)
  else await refuseUnmigrated(config)
  const timeout = options.timeout ?? DEFAULT_TIMEOUT_MILLISECONDS
  const limits = { statement_timeout: timeout, idle_in_transaction_session_timeout: 4 * timeout }
  const pool = createPool(
    { ...config, ...limits },
    { size: options.poolSize, connectTimeout: timeout, answerTimeout: timeout + GRACE_MILLISECONDS },
  )
  return createDatabase(new DatabaseClient(pool, { timeout, schema, prepared: true }), async () => {})
}

function createDatabase(client: DatabaseClient, release: () => Promise<void>): Database {
  const { pool } = client
  return {
    client,
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async close() {
      await client.$disconnect()
      if (!pool.ended) await pool.end()
      await release()
    },
  }
}

async function refuseUnmigrated(connection: ClientConfig): Promise<void> {
  const state = await migrationState(connection)
  refuse(state)
  if (state.pending.length === 0) return
  throw new DatabaseRefusedError(
    `The database lacks ${state.pending.length} migration(s), from ${state.pending[0]} on. ` +
      'Apply them with `npm run migrate`, or set MIGRATE_ON_START=true.',
  )
}
