import { readlinkSync } from 'node:fs'
import { readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** The name of the lock, and of the note beside it that says who holds it. */
export const LOCK_NAME = '.lock'
const NOTE_NAME = '.lock.holder'

/** Notes that this process holds the lock. */
export async function noteHolder(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, NOTE_NAME), `${place()} ${process.pid}`, { mode: 0o600 })
}

export async function forgetHolder(dataDir: string): Promise<void> {
  await rm(join(dataDir, NOTE_NAME), { force: true })
}

/**
 * Takes away the lock of a process that is gone, which would otherwise be waited for. Only where that is
 * certain: the note is of this machine and of this view of its processes, and has a process that is not
 * there. The note is moved aside before it is believed, so that of two who come for it one takes the lock
 * away, and never that of a third who has it by now.
 */
export async function dropLockOfDeadHolder(dataDir: string): Promise<void> {
  const note = join(dataDir, NOTE_NAME)
  const aside = `${note}.${process.pid}`
  try {
    await rename(note, aside)
  } catch {
    return
  }
  if (isDead(await readFile(aside, 'utf8'))) {
    await rmdir(join(dataDir, LOCK_NAME)).catch(() => {})
    await rm(aside)
  } else {
    await rename(aside, note)
  }
}

function isDead(note: string): boolean {
  const [, where, pid] = /^(.*) (\d+)$/.exec(note) ?? []
  if (where !== place() || Number(pid) === process.pid) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Within which the numbers of processes mean something: on Linux, a namespace, of which containers have their own. */
function place(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
