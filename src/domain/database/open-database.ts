import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import type { ClientConfig } from 'pg'
import { parseConnection } from './connection.ts'
import { embeddedConnection, openEmbeddedDatabase } from './embedded-database.ts'
import { prepareFolder } from './embedded-folder.ts'
import { EMBEDDED_POOL, SOCKET_NAME } from './embedded-limits.ts'
import { answers } from './embedded-lock.ts'
import { PrismaClient } from './generated/client.ts'
import { migrate, migrationState, refuse } from './migrator.ts'
import { DatabaseRefusedError } from './refused.ts'

/** The database of the service, open and migrated. */
export interface Database {
  readonly client: PrismaClient
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
}

/** What a command may take of an embedded database that a service is using. */
const SHARED_CONNECTIONS = 2

/** How long a request waits for a connection before it fails. */
const CONNECTION_TIMEOUT_MILLISECONDS = 5_000

/**
 * Opens the database of the options.
 *
 * @throws DatabaseRefusedError when it cannot be reached or opened, is in use by another process
 *   (embedded), or does not have exactly the migrations of this version.
 */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.databaseUrl === undefined
    ? openEmbedded(options.dataDir, options.poolSize)
    : openServer(options.databaseUrl, options.migrateOnStart, options.poolSize)
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
  const client = createClient(connection, SHARED_CONNECTIONS)
  return { client, close: () => client.$disconnect() }
}

async function openEmbedded(dataDir: string, poolSize: number): Promise<Database> {
  const embedded = await openEmbeddedDatabase(dataDir)
  try {
    await migrate(embedded.connection)
  } catch (error) {
    await embedded.close()
    throw error
  }
  const client = createClient(embedded.connection, Math.min(poolSize, EMBEDDED_POOL))
  return {
    client,
    close: async () => {
      await client.$disconnect()
      await embedded.close()
    },
  }
}

async function openServer(databaseUrl: string, migrateOnStart: boolean, poolSize: number): Promise<Database> {
  const { config, schema } = parseConnection(databaseUrl)
  if (migrateOnStart) await migrate(config)
  else await refuseUnmigrated(config)
  const client = createClient(config, poolSize, schema)
  return { client, close: () => client.$disconnect() }
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

function createClient(connection: ClientConfig, max: number, schema?: string): PrismaClient {
  const pool = { ...connection, max, connectionTimeoutMillis: CONNECTION_TIMEOUT_MILLISECONDS }
  return new PrismaClient({ adapter: new PrismaPg(pool, schema === undefined ? {} : { schema }) })
}
