import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { lstat, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'
import { DatabaseRefusedError } from '../connection.ts'
import { type EmbeddedFolder, SOCKET_NAME } from './folder.ts'

const LOCK_NAME = '.lock'
const HOLDER_NAME = '.lock.holder'

/** A lock that has not been renewed for this long belongs to a process that has ended. */
const STALE_MILLISECONDS = 5_000

/**
 * Takes the exclusive lock of a data folder, because the embedded engine would let two processes write to it and lose
 * rows. Takes over the lock of a killed process: at once if it has certainly ended, otherwise when the lock is stale.
 *
 * @throws DatabaseRefusedError if a running process holds it, or something else is in its place
 */
export async function lockFolder({ dataDir, socketFolder }: EmbeddedFolder): Promise<() => Promise<void>> {
  const held = (cause?: unknown) =>
    new DatabaseRefusedError(
      `Another process is using the embedded database in ${dataDir}. Stop it first, choose another DATA_DIR, ` +
        'or set DATABASE_URL to a PostgreSQL server, which several processes may share.',
      { cause },
    )
  if (await answers(socketFolder)) throw held()
  await removeLockOfEndedProcess(dataDir)
  const lockfilePath = join(dataDir, LOCK_NAME)
  if ((await lstat(lockfilePath).catch(() => undefined))?.isDirectory() === false) {
    throw new DatabaseRefusedError(
      `${lockfilePath} is not a lock of this service, because it is not a folder. Remove it, or choose another DATA_DIR.`,
    )
  }
  try {
    const unlock = await lock(dataDir, {
      lockfilePath,
      stale: STALE_MILLISECONDS,
      update: STALE_MILLISECONDS / 5,
      retries: { retries: 14, factor: 1, minTimeout: 500 },
      onCompromised: (cause) => {
        throw held(cause)
      },
    })
    const holder = join(dataDir, HOLDER_NAME)
    await writeFile(holder, `${processNamespace()} ${process.pid}`, { mode: 0o600 })
    return async () => {
      await rm(holder, { force: true })
      await unlock()
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ELOCKED') throw held(cause)
    const reason = `DATA_DIR ${dataDir} cannot be locked: ${(cause as Error).message}`
    throw new DatabaseRefusedError(reason, { cause })
  }
}

export async function answers(socketFolder: string): Promise<boolean> {
  const socket = connect(join(socketFolder, SOCKET_NAME))
  const connected = once(socket, 'connect').then(() => true)
  return connected.catch(() => false).finally(() => socket.destroy())
}

/**
 * Saves the next process the wait until the lock is stale. The file is renamed before it is read: if two processes do
 * this at once, only one removes the lock, and neither removes the lock of a third.
 */
async function removeLockOfEndedProcess(dataDir: string): Promise<void> {
  const holder = join(dataDir, HOLDER_NAME)
  const claimed = `${holder}.${process.pid}`
  try {
    await rename(holder, claimed)
  } catch {
    return
  }
  if (hasEnded(await readFile(claimed, 'utf8'))) {
    await rmdir(join(dataDir, LOCK_NAME)).catch(() => {})
    await rm(claimed)
  } else {
    await rename(claimed, holder)
  }
}

/** Only certain for a process of this host and namespace. */
function hasEnded(holder: string): boolean {
  const [, namespace, pid] = /^(.*) (\d+)$/.exec(holder) ?? []
  if (namespace !== processNamespace() || Number(pid) === process.pid) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** The namespace that process identifiers belong to: each container on Linux has its own. */
function processNamespace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
