import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseRefusedError } from '../connection.ts'
import { startThread, stopThread } from './thread.ts'

export type EmbeddedFolder = Awaited<ReturnType<typeof prepareFolder>>

const DATABASE_FOLDER = 'postgres'

/** PostgreSQL's name for the socket of port 5432, which `psql -h <folder>` opens. */
export const SOCKET_NAME = '.s.PGSQL.5432'

/** Files that the service creates in a data folder, and those of a new volume. */
const OWN_FILES =
  /^(postgres(\.unfinished)?|\.lock(\.holder.*)?|\.s\.PGSQL\.5432|development-secret.*|lost\+found)$/

const ENGINE_VERSION = '18'

/** The kernel's limit on the length of a socket's path is 108 bytes on Linux, 104 elsewhere. */
const SOCKET_PATH_BYTES = 100

/**
 * Creates the data folder, accessible to its owner only, and the folder of the socket.
 *
 * @throws DatabaseRefusedError
 */
export async function prepareFolder(dataDir: string) {
  try {
    const folder = await makePrivate(resolve(dataDir))
    return {
      dataDir: folder,
      databaseFolder: join(folder, DATABASE_FOLDER),
      socketFolder: await makeSocketFolder(folder),
    }
  } catch (cause) {
    const reason = `DATA_DIR ${resolve(dataDir)} cannot be used: ${(cause as Error).message}`
    throw new DatabaseRefusedError(reason, { cause })
  }
}

/** Whether opening the data folder creates a database. */
export function isMissing(dataDir: string): boolean {
  return !existsSync(join(dataDir, DATABASE_FOLDER))
}

/** @throws DatabaseRefusedError for a data folder without a database */
export async function refuseMissing(dataDir: string): Promise<void> {
  const folder = resolve(dataDir)
  const databaseFolder = join(folder, DATABASE_FOLDER)
  await readdir(databaseFolder).catch(({ code, message }: NodeJS.ErrnoException) => {
    const problem = code === 'ENOENT' ? 'does not exist' : message
    throw new DatabaseRefusedError(
      `DATA_DIR ${folder} contains no database (${databaseFolder}: ${problem}). Set DATA_DIR to the ` +
        'folder of the service, or DATABASE_URL to its server, or start the service there first.',
    )
  })
}

/**
 * Creates an empty database if there is none. The caller must hold the lock of the folder. The database has a temporary
 * name until it is complete, so an interrupted start leaves no broken one.
 *
 * @throws DatabaseRefusedError if the folder contains something else, which stays unchanged
 */
export async function ensureDatabase({ dataDir, databaseFolder }: EmbeddedFolder): Promise<void> {
  if (!isMissing(dataDir)) return refuseForeign(databaseFolder)
  if ((await readdir(dataDir)).includes('PG_VERSION')) {
    throw new DatabaseRefusedError(
      `DATA_DIR ${dataDir} is the data folder of a PostgreSQL server. Choose another.`,
    )
  }
  const unfinished = `${databaseFolder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await stopThread(await startThread({ dataFolder: unfinished, fsync: false }))
  await rename(unfinished, databaseFolder)
}

async function refuseForeign(databaseFolder: string): Promise<void> {
  const version = (await readFile(join(databaseFolder, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
  const control = await lstat(join(databaseFolder, 'global', 'pg_control')).catch(() => undefined)
  const isDatabase = version !== '' && control?.isFile() === true
  if (isDatabase && version === ENGINE_VERSION) return
  const problem = isDatabase
    ? `it was created by PostgreSQL ${version}, but the embedded database is version ${ENGINE_VERSION}`
    : 'it is not a PostgreSQL data folder, or it is damaged'
  throw new DatabaseRefusedError(
    `The database in ${databaseFolder} cannot be opened: ${problem}. It is unchanged. Restore a backup, or ` +
      'move it away to start with an empty one.',
  )
}

/** The data folder or, if its path is too long for a socket, a temporary folder named after a hash of it. */
async function makeSocketFolder(dataDir: string): Promise<string> {
  if (Buffer.byteLength(join(dataDir, SOCKET_NAME)) < SOCKET_PATH_BYTES) return dataDir
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  const folder = join(await realpath(tmpdir()), `halgraph-${name}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Another user may have created this name in the shared folder.
  const status = await lstat(folder)
  if (status.isDirectory() && status.uid === process.getuid?.()) return folder
  throw new Error(`its path is too long for a socket, and ${folder} belongs to another user`)
}

/** Makes the folder private, unless other users have access to it and it contains other files. */
async function makePrivate(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const folder = await realpath(dataDir)
  if (((await stat(folder)).mode & 0o077) === 0) return folder
  const foreign = (await readdir(folder)).find((name) => !OWN_FILES.test(name))
  if (foreign !== undefined) {
    throw new Error(
      `other users can access it and it contains other files (${foreign}); choose a separate folder`,
    )
  }
  await chmod(folder, 0o700)
  return folder
}
