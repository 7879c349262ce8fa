import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientConfig } from 'pg'
import { ensureDatabase, prepareFolder } from './folder.ts'
import { SOCKET_NAME } from './limits.ts'
import { lockFolder } from './lock.ts'
import { startThread, stopThread } from './thread.ts'

/** A running embedded database: PostgreSQL for one process, on a Unix socket. */
interface EmbeddedDatabase {
  /** How a PostgreSQL client reaches it; `host` is the folder of the socket, as for `psql -h`. */
  readonly connection: ClientConfig
  /** Writes everything to disk, ends every connection and frees the folder for another process. */
  close(): Promise<void>
}

/** It is there once its thread has started; on a busy machine its first answer takes a while all the same. */
const START_MILLISECONDS = 60_000

/** How a client reaches the embedded database whose socket is in a folder. */
export function embeddedConnection(socketFolder: string): ClientConfig {
  return {
    host: socketFolder,
    port: 5432,
    user: 'postgres',
    database: 'postgres',
    connectionTimeoutMillis: START_MILLISECONDS,
  }
}

/**
 * Opens the embedded database of a data folder, making folder and database on the first start.
 *
 * @throws DatabaseRefusedError when another process uses the folder, or what lies there is not a database
 *   of ours; nothing is ever wiped.
 * @param fsync whether a commit is on the disk before it is acknowledged
 */
export async function openEmbeddedDatabase(dataDir: string, fsync = false): Promise<EmbeddedDatabase> {
  const folder = await prepareFolder(dataDir)
  const unlock = await lockFolder(folder)
  try {
    await ensureDatabase(folder)
    const socketPath = join(folder.socketFolder, SOCKET_NAME)
    await rm(socketPath, { force: true })
    const thread = await startThread({ dataFolder: folder.databaseFolder, socketPath, fsync })
    let closing: Promise<void> | undefined
    return {
      connection: embeddedConnection(folder.socketFolder),
      close: () => (closing ??= stopThread(thread).finally(unlock)),
    }
  } catch (error) {
    await unlock()
    throw error
  }
}
