import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from '../connection.ts'
import { ensureDatabase, prepareFolder, SOCKET_NAME } from './folder.ts'
import { answers, lockFolder } from './lock.ts'
import { startThread, stopThread } from './thread.ts'

/** On a busy machine, a database that is starting responds late. */
const START_MILLISECONDS = 60_000

/** @param socketFolder as `psql -h` takes it */
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
 * @throws DatabaseRefusedError if another process uses the folder, or it contains other files
 */
export async function openEmbeddedDatabase(
  dataDir: string,
  { embeddedFsync: fsync, databaseTimeout: timeout }: { embeddedFsync: boolean; databaseTimeout: number },
) {
  const folder = await prepareFolder(dataDir)
  const unlock = await lockFolder(folder)
  try {
    await ensureDatabase(folder)
    const path = join(folder.socketFolder, SOCKET_NAME)
    await rm(path, { force: true })
    const thread = await startThread({ dataFolder: folder.databaseFolder, socket: { path, timeout }, fsync })
    return {
      connection: embeddedConnection(folder.socketFolder),
      isShared: false,
      close: () => stopThread(thread).finally(unlock),
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

/**
 * The same for a command, which connects to the socket of a service that has opened the database.
 *
 * @throws DatabaseRefusedError
 */
export const openSharedEmbedded: typeof openEmbeddedDatabase = async (dataDir, options) => {
  const { socketFolder } = await prepareFolder(dataDir)
  if (!(await answers(socketFolder))) return openEmbeddedDatabase(dataDir, options)
  return { connection: embeddedConnection(socketFolder), isShared: true, close: async () => {} }
}
