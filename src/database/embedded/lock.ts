import { connect } from 'node:net'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'
import { DatabaseRefusedError } from '../refused.ts'
import type { EmbeddedFolder } from './folder.ts'
import { SOCKET_NAME } from './limits.ts'
import { dropLockOfDeadHolder, forgetHolder, LOCK_NAME, noteHolder } from './lock-holder.ts'

/** A lock that nobody has renewed for this long belongs to a process that is gone. */
const STALE_MILLISECONDS = 5_000

/**
 * Takes the one lock of a data folder, since the embedded engine itself would let two processes write to
 * it and lose rows. A lock left by a process that was killed is taken over: at once where that process can
 * be seen to be gone, else once the lock has gone stale, which is waited for. Resolves to the function that releases it.
 *
 * @throws DatabaseRefusedError when a live process holds it.
 */
export async function lockFolder({ dataDir, socketFolder }: EmbeddedFolder): Promise<() => Promise<void>> {
  const held = (cause?: unknown) =>
    new DatabaseRefusedError(
      `Another process is using the embedded database in ${dataDir}. Stop it first, choose another DATA_DIR, ` +
        'or set DATABASE_URL to a PostgreSQL server, which several processes may share.',
      { cause },
    )
  if (await answers(join(socketFolder, SOCKET_NAME))) throw held()
  await dropLockOfDeadHolder(dataDir)
  try {
    const unlock = await lock(dataDir, {
      lockfilePath: join(dataDir, LOCK_NAME),
      stale: STALE_MILLISECONDS,
      update: STALE_MILLISECONDS / 5,
      retries: { retries: 14, factor: 1, minTimeout: 500 },
      onCompromised: (cause) => {
        throw held(cause)
      },
    })
    await noteHolder(dataDir)
    return async () => {
      await forgetHolder(dataDir)
      await unlock()
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ELOCKED') throw held(cause)
    throw new DatabaseRefusedError(`DATA_DIR ${dataDir} cannot be locked: ${(cause as Error).message}`, {
      cause,
    })
  }
}

/** Whether a process listens on the socket. */
export function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
