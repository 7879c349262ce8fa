import { closeSync, fsyncSync, openSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'

/** The part of the file system of the engine's runtime, Emscripten, that lacks fsync. */
interface FileOperations {
  fsync?: (file: { readonly nfd?: number }) => number
}

/** Those that migrations use. */
export const EXTENSIONS = { pg_trgm }

/**
 * Opens the engine on a folder. With fsync, a commit survives a power failure; without it, only a crash of the process.
 * The engine's start parameters turn fsync off, and its file system lacks the operation. This function changes both.
 */
export async function openEngine(dataFolder: string, fsync: boolean): Promise<PGlite> {
  const startParams = [...(fsync ? DURABLE : PGlite.defaultStartParams), ...SMALL_BUFFERS]
  const engine = await PGlite.create({ dataDir: dataFolder, startParams, extensions: EXTENSIONS })
  if (!fsync) return engine
  const { FS } = engine.Module as unknown as {
    FS: { filesystems: { NODEFS: { stream_ops: FileOperations } } }
  }
  FS.filesystems.NODEFS.stream_ops.fsync = ({ nfd }) => {
    if (nfd !== undefined) fsyncSync(nfd)
    return 0
  }
  // The first start, and starts without fsync, have flushed nothing.
  await syncFolder(dataFolder)
  return engine
}

/**
 * The engine zeroes its buffers when it starts. The default of 128 MB took a fifth of its start and 110 MB of memory. It
 * makes a scan of 50 MB a fifth faster, but not one of 24 MB.
 */
const SMALL_BUFFERS = ['-c', 'shared_buffers=32MB']

/** `-F` turns fsync off. Other values of wal_sync_method do not call the file system. */
const DURABLE = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
]

async function syncFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const synced = entries.filter((entry) => entry.isDirectory() || entry.isFile())
  for (const path of [...synced.map(({ parentPath, name }) => join(parentPath, name)), folder]) {
    const file = openSync(path, 'r')
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  }
}
