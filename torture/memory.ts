import { readFile } from 'node:fs/promises'
import type { ServiceProcess } from '../test/helpers/service/service-process.ts'

/** What a process holds in memory, in megabytes (Linux). */
export async function memory({ child }: ServiceProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
