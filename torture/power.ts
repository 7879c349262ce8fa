import { execFileSync } from 'node:child_process'
import { copyFile, cp, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createEmbedded, createTestFolder, type Owner } from '../test/helpers/database/database.ts'
import { compare, createLedger, timeUntilReady, writeUntilGone } from '../test/helpers/load/kill.ts'
import { startProcess } from '../test/helpers/service/service-process.ts'
import { withOwner } from './owner.ts'

const WRITES_PER_ROUND = 200
const DISK_MEGABYTES = 400

/** For so long answers that were sent before the cut may still arrive. */
const ARRIVAL_MILLISECONDS = 200

/**
 * Cuts the power under write load: what is on the disk at that moment is all there is afterwards. The disk is
 * a file with a file system in it; what the system holds in memory and was never told to write is not in the
 * file. With EMBEDDED_FSYNC every acknowledged write is there again; what is lost without it is only told.
 */
export async function run(cuts = 20): Promise<string[]> {
  const kept = await withOwner((owner) => cutRepeatedly(owner, cuts, true))
  if (kept === undefined) return ['a disk of its own (loop device, ext4) can only be made by root']
  const without = await withOwner((owner) => cutRepeatedly(owner, 1, false))
  console.log(`without EMBEDDED_FSYNC one cut lost ${without?.length} of ${WRITES_PER_ROUND} writes`)
  return kept
}

async function cutRepeatedly(owner: Owner, cuts: number, fsync: boolean): Promise<string[] | undefined> {
  const disk = await createDisk(owner)
  if (!disk) return undefined
  const dataDir = join(disk.folder, 'data')
  await cp((await createEmbedded(owner)).dataDir as string, dataDir, { recursive: true })
  execFileSync('sync')
  const start = () =>
    startProcess({ DATA_DIR: dataDir, EMBEDDED_FSYNC: String(fsync), LOG_LEVEL: 'info' }, owner)
  const ledger = createLedger()
  const problems: string[] = []
  for (let round = 0; round <= cuts; round++) {
    const service = start()
    try {
      await timeUntilReady(service)
    } catch {
      return [...problems, 'the database cannot be opened any more']
    }
    const origin = await service.origin
    problems.push(...(await compare(origin, ledger)))
    if (round < cuts) {
      const before = ledger.count
      const writing = writeUntilGone(origin, ledger, round, 8)
      while (ledger.count - before < WRITES_PER_ROUND) await delay(2)
      service.kill('SIGSTOP')
      await delay(ARRIVAL_MILLISECONDS)
      await disk.keep()
      service.kill('SIGKILL')
      await Promise.all([service.exited, writing])
      await disk.restore()
      console.log(`cut ${round + 1}: ${ledger.count} writes acknowledged, ${problems.length} problems`)
    } else {
      service.kill('SIGKILL')
      await service.exited
    }
  }
  return problems
}

interface Disk {
  readonly folder: string
  /** Keeps what is on it now. */
  keep(): Promise<void>
  /** Puts back what was kept. */
  restore(): Promise<void>
}

/** Undefined where none can be made. Nothing is written to it before somebody asks for that. */
async function createDisk(owner: Owner): Promise<Disk | undefined> {
  const place = await createTestFolder(owner)
  const [image, kept, folder] = [join(place, 'disk'), join(place, 'kept'), join(place, 'mounted')]
  const mount = () => execFileSync('mount', ['-o', 'loop,commit=600', image, folder], { stdio: 'ignore' })
  const unmount = () => execFileSync('umount', [folder], { stdio: 'ignore' })
  await mkdir(folder)
  try {
    execFileSync('truncate', ['-s', `${DISK_MEGABYTES}M`, image])
    execFileSync('mkfs.ext4', ['-q', '-F', image], { stdio: 'ignore' })
    mount()
  } catch {
    return undefined
  }
  owner.teardown(async () => void unmount())
  return {
    folder,
    async keep() {
      await copyFile(image, kept)
    },
    async restore() {
      unmount()
      await rename(kept, image)
      mount()
    },
  }
}
