import { createClient, type DatabaseUse } from './client.ts'
import { type Connection, DatabaseRefusedError, type Patience, parseConnection } from './connection.ts'
import { openEmbeddedDatabase, openSharedEmbedded } from './embedded/embedded-database.ts'
import { refuseMissing } from './embedded/folder.ts'
import { migrate, refuseUnmigrated } from './migrations/migrator.ts'
import { createPool, type DatabasePool } from './pool.ts'
import { sharesSessions } from './pooler.ts'
import { settingsCheck } from './session.ts'

export type Database = ReturnType<typeof createDatabase>

export type Tables = Pick<DatabaseUse, 'PrismaClient'> & { readonly migrations: string }

export interface DatabaseOptions extends Omit<DatabaseUse, 'PrismaClient'> {
  /** Called while an embedded database starts, which takes longer. */
  tables: () => Promise<Tables>
  /** Undefined for the embedded database. */
  databaseUrl?: string | undefined
  dataDir: string
  /** Whether a commit is on the disk before it is acknowledged. */
  embeddedFsync: boolean
  /** Whether to migrate a PostgreSQL server; the embedded database is always migrated. */
  migrateOnStart: boolean
  patience?: Patience
  /** By default, a database has a pool of its own. */
  poolOf?: (connection: Connection) => DatabasePool
}

/** Maximum connections of the service to an embedded database; the others are for psql, Studio and the migrator. */
const EMBEDDED_POOL = 7

/** Maximum connections of a command to an embedded database that a service is using. */
const SHARED_CONNECTIONS = 2

/** @throws DatabaseRefusedError */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.databaseUrl === undefined
    ? openEmbedded(options, migrate)
    : openServer(options.databaseUrl, options)
}

/**
 * Opens the database for a command. If a service uses the embedded database, the command connects to its socket.
 *
 * @param prepare called for an embedded database that no service uses
 * @throws DatabaseRefusedError
 */
export async function openSharedDatabase(
  options: DatabaseOptions,
  prepare: typeof refuseUnmigrated | typeof migrate = migrate,
): Promise<Database> {
  if (options.databaseUrl !== undefined) return openDatabase(options)
  return openEmbedded(options, prepare, openSharedEmbedded)
}

/**
 * Opens the database for a command that only reads: it neither creates nor migrates one.
 *
 * @throws DatabaseRefusedError
 */
export async function openExistingDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.databaseUrl === undefined) await refuseMissing(options.dataDir)
  return openSharedDatabase({ ...options, migrateOnStart: false }, refuseUnmigrated)
}

async function openEmbedded(
  options: DatabaseOptions,
  prepare: typeof refuseUnmigrated | typeof migrate,
  open = openEmbeddedDatabase,
): Promise<Database> {
  const loading = options.tables()
  // If the database does not open either, that is reported instead.
  loading.catch(() => {})
  const { connection, isShared, close } = await open(options.dataDir, options)
  try {
    const { PrismaClient, migrations } = await loading
    await (isShared ? refuseUnmigrated : prepare)(connection, migrations)
    const most = isShared ? SHARED_CONNECTIONS : EMBEDDED_POOL
    const databasePoolSize = Math.min(options.databasePoolSize, most)
    return createDatabase(connection, { ...options, PrismaClient, databasePoolSize }, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function openServer(databaseUrl: string, options: DatabaseOptions): Promise<Database> {
  const connection = parseConnection(databaseUrl, options.patience)
  const { PrismaClient, migrations } = await options.tables()
  await (options.migrateOnStart ? migrate : refuseUnmigrated)(connection, migrations)
  const database = createDatabase(connection, { ...options, PrismaClient })
  if (!connection.keepsSession || !(await sharesSessions(database.pool))) return database
  await database.close()
  throw new DatabaseRefusedError(
    'DATABASE_URL has the parameter pooler=session, but two connections share a session, so the pooler is in ' +
      'transaction mode. Remove the parameter.',
  )
}

/** @param release called when all connections have ended */
export function createDatabase(
  connection: Connection,
  use: DatabaseUse & Pick<DatabaseOptions, 'poolOf'>,
  release = async () => {},
) {
  const pool = use.poolOf?.(connection) ?? createPool(connection, use)
  const client = createClient(pool, connection, use)
  const close = async () => {
    await client.disconnect()
    await pool.end()
    await release()
  }
  let closing: Promise<void> | undefined
  return {
    connection,
    client,
    pool,
    /** Rejects if a connection does not respond or its session has other settings. */
    async check() {
      const text = settingsCheck(connection.schema)
      const wrong = await client.$rows<{ name: string }>({ text, values: [] })
      if (wrong.length === 0) return
      throw new Error(`Another client of the session has changed ${wrong.map(({ name }) => name).join(', ')}`)
    },
    close: () => (closing ??= close()),
  }
}
