import { closeSync, fsyncSync, openSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'

/** An open file of the engine's file system, and what that can do with one. */
interface EngineFile {
  readonly nfd?: number
}
interface EngineFiles {
  readonly filesystems: { readonly NODEFS: { readonly stream_ops: { fsync?: (file: EngineFile) => number } } }
}

/**
 * Opens the engine on a folder. With fsync a commit is on the disk before it is acknowledged, so that it
 * survives a power cut; without, it survives the end of the process only. The engine is built to run
 * without: its start parameters say so, and its file system has no such operation. Both are mended here.
 */
export async function openEngine(dataFolder: string, fsync: boolean): Promise<PGlite> {
  if (!fsync) return PGlite.create({ dataDir: dataFolder })
  const engine = await PGlite.create({ dataDir: dataFolder, startParams: DURABLE } satisfies PGliteOptions)
  const { FS: files } = engine.Module as unknown as { FS: EngineFiles }
  files.filesystems.NODEFS.stream_ops.fsync = ({ nfd }) => {
    if (nfd !== undefined) fsyncSync(nfd)
    return 0
  }
  // What was written before that, by a first start or by starts without fsync.
  await syncFolder(dataFolder)
  return engine
}

/** `-F` turns fsync off; of the ways to sync the log, this is the one that reaches the file system. */
const DURABLE = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
]

async function syncFolder(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await syncFolder(path)
    else if (entry.isFile()) syncPath(path)
  }
  syncPath(folder)
}

function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
