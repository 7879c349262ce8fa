import { existsSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'
const PERIOD_MICROSECONDS = 20_000

/**
 * Lets each of these processes have no more than a share of a processor, by control groups (Linux, as root).
 * More processes than there are processors can so be compared as if each had one.
 *
 * @param share 1 is a whole processor
 * @returns what takes the limits away again, once the processes have ended
 */
export async function limitProcessors(pids: readonly number[], share: number): Promise<() => Promise<void>> {
  const folders: string[] = []
  for (const pid of pids) {
    const folder = join(existsSync(join(ROOT, 'cpu')) ? join(ROOT, 'cpu') : ROOT, `halgraph-bench-${pid}`)
    await mkdir(folder)
    folders.push(folder)
    const quota = Math.round(PERIOD_MICROSECONDS * share)
    if (existsSync(join(folder, 'cpu.max'))) {
      await writeFile(join(folder, 'cpu.max'), `${quota} ${PERIOD_MICROSECONDS}`)
    } else {
      await writeFile(join(folder, 'cpu.cfs_period_us'), String(PERIOD_MICROSECONDS))
      await writeFile(join(folder, 'cpu.cfs_quota_us'), String(quota))
    }
    await writeFile(join(folder, 'cgroup.procs'), String(pid))
  }
  return async () => {
    for (const folder of folders) await rmdir(folder).catch(() => {})
  }
}

/** The processes that a process has started. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}
