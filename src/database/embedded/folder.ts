import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseRefusedError } from '../refused.ts'
import { SOCKET_NAME } from './limits.ts'
import { startThread, stopThread } from './thread.ts'

/** Where an embedded database lives: its own folder inside the data folder, and the folder of its socket. */
export interface EmbeddedFolder {
  dataDir: string
  databaseFolder: string
  socketFolder: string
}

const DATABASE_FOLDER = 'postgres'

/** What this service itself puts into a data folder, and what a fresh volume holds. */
const OWN_FILES =
  /^(postgres(\.unfinished)?|\.lock(\.holder.*)?|\.s\.PGSQL\.5432|development-secret.*|lost\+found)$/

/** The major version of PostgreSQL the embedded engine is. */
const ENGINE_VERSION = '18'

/** The kernel's limit on the length of a socket's path is 108 bytes on Linux, 104 elsewhere. */
const SOCKET_PATH_BYTES = 100

/**
 * Makes the data folder, for its owner only, and names what lies in it.
 *
 * @throws DatabaseRefusedError when the folder cannot be made or belongs to someone else.
 */
export async function prepareFolder(dataDir: string): Promise<EmbeddedFolder> {
  try {
    const folder = await makePrivate(resolve(dataDir))
    return {
      dataDir: folder,
      databaseFolder: join(folder, DATABASE_FOLDER),
      socketFolder: await makeSocketFolder(folder),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new DatabaseRefusedError(`DATA_DIR ${resolve(dataDir)} cannot be used: ${reason}`, { cause })
  }
}

/**
 * Refuses a data folder without a database, and leaves everything as it is.
 *
 * @throws DatabaseRefusedError saying what to do
 */
export async function refuseMissing(dataDir: string): Promise<void> {
  const folder = resolve(dataDir)
  const problem = await readdir(join(folder, DATABASE_FOLDER)).then(
    () => undefined,
    ({ code, message }: NodeJS.ErrnoException) => (code === 'ENOENT' ? 'does not exist' : message),
  )
  if (problem === undefined) return
  throw new DatabaseRefusedError(
    `DATA_DIR ${folder} holds no database (${join(folder, DATABASE_FOLDER)}: ${problem}). Set DATA_DIR to the ` +
      'folder of the service, or DATABASE_URL to its server, or start the service there first.',
  )
}

/**
 * Makes sure that the folder holds a database the embedded engine can open, making an empty one where
 * nothing is. Only the holder of the folder's lock may call it. It is made aside and renamed into place, so
 * that a start that dies half-way leaves nothing that looks like a database.
 *
 * @throws DatabaseRefusedError when something else is there; it is left as it is.
 */
export async function ensureDatabase({ dataDir, databaseFolder }: EmbeddedFolder): Promise<void> {
  const entries = await readdir(databaseFolder).catch(() => undefined)
  if (entries) return refuseForeign(databaseFolder)
  if ((await readdir(dataDir)).includes('PG_VERSION')) {
    throw new DatabaseRefusedError(
      `DATA_DIR ${dataDir} is the data folder of a PostgreSQL server: choose another.`,
    )
  }
  const unfinished = `${databaseFolder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await stopThread(await startThread({ dataFolder: unfinished, fsync: false }))
  await rename(unfinished, databaseFolder)
}

async function refuseForeign(databaseFolder: string): Promise<void> {
  const version = await readFile(join(databaseFolder, 'PG_VERSION'), 'utf8').catch(() => '')
  const control = await lstat(join(databaseFolder, 'global', 'pg_control')).catch(() => undefined)
  const problem =
    version.trim() === '' || !control?.isFile()
      ? 'it is not a PostgreSQL data folder, or a damaged one'
      : version.trim() !== ENGINE_VERSION
        ? `it is of PostgreSQL ${version.trim()}, and the embedded one is ${ENGINE_VERSION}`
        : undefined
  if (problem === undefined) return
  throw new DatabaseRefusedError(
    `The database in ${databaseFolder} cannot be opened: ${problem}. It is left untouched: restore a copy, or ` +
      'move it away to start empty.',
  )
}

/** The data folder itself, or, where that is too deep for a socket, a short one that follows from its path. */
async function makeSocketFolder(dataDir: string): Promise<string> {
  if (Buffer.byteLength(join(dataDir, SOCKET_NAME)) < SOCKET_PATH_BYTES) return dataDir
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  const folder = join(await realpath(tmpdir()), `halgraph-${name}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Anyone may have made this name in the common folder before us.
  const status = await lstat(folder)
  if (status.isDirectory() && status.uid === process.getuid?.()) return folder
  throw new Error(`it is too deep for a socket, and ${folder}, which would hold it, belongs to someone else`)
}

/** Makes the folder private; one that is open to others and holds more than our own files is not touched. */
async function makePrivate(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const folder = await realpath(dataDir)
  if (((await stat(folder)).mode & 0o077) === 0) return folder
  const foreign = (await readdir(folder)).filter((name) => !OWN_FILES.test(name))
  if (foreign.length > 0) {
    throw new Error(`it is open to other users and holds other files (${foreign[0]}); choose one of its own`)
  }
  await chmod(folder, 0o700)
  return folder
}
