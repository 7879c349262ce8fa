import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from '../connection.ts'
import { ensureDatabase, prepareFolder, SOCKET_NAME } from './folder.ts'
import { lockFolder } from './lock.ts'
import { startThread, stopThread } from './thread.ts'

/** How an embedded database is opened, as the settings name it. */
export interface EmbeddedOptions {
  /** Whether a commit is on the disk before it is acknowledged. */
  readonly embeddedFsync: boolean
  /** In milliseconds: how long clients wait for the database. */
  readonly databaseTimeout: number
}

/** A database that starts on a busy machine responds late. */
const START_MILLISECONDS = 60_000

/** The connection to the embedded database whose socket is in a folder, as `psql -h` takes it. */
export function embeddedConnection(socketFolder: string): Connection {
  return {
    isEmbedded: true,
    host: socketFolder,
    port: 5432,
    user: 'postgres',
    database: 'postgres',
    connectionTimeoutMillis: START_MILLISECONDS,
  }
}

/**
 * Opens the embedded database of a data folder, and creates both on the first start. It never deletes data.
 *
 * @param meanwhile called when the thread of the database has been started; it must not throw
 * @throws DatabaseRefusedError if another process uses the folder, or it contains other files
 */
export async function openEmbeddedDatabase(
  dataDir: string,
  { embeddedFsync: fsync, databaseTimeout: timeout }: EmbeddedOptions,
  meanwhile = () => {},
) {
  const folder = await prepareFolder(dataDir)
  const unlock = await lockFolder(folder)
  try {
    await ensureDatabase(folder)
    const path = join(folder.socketFolder, SOCKET_NAME)
    await rm(path, { force: true })
    const starting = startThread({ dataFolder: folder.databaseFolder, socket: { path, timeout }, fsync })
    meanwhile()
    const thread = await starting
    return {
      connection: embeddedConnection(folder.socketFolder),
      /** Writes all data to disk, ends all connections and releases the folder. */
      close: () => stopThread(thread).finally(unlock),
    }
  } catch (error) {
    await unlock()
    throw error
  }
}
