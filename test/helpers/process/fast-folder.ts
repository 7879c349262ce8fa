import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Linux's file system in memory, where it has 4 GB free. The files of a database are copied five times faster there. */
export const FAST_FOLDER = freeBytes('/dev/shm') > 4e9 ? '/dev/shm' : tmpdir()

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}
