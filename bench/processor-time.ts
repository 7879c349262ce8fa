import { readdirSync, readFileSync } from 'node:fs'

/**
 * What the threads of a process have used of the processors, in seconds; not a number where /proc does not tell. The
 * times in its stat are in ticks of 10 ms, too coarse for the sessions of a second.
 */
export function processorSeconds(pid: number): number {
  const tasks = `/proc/${pid}/task`
  try {
    const times = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/schedstat`, 'utf8'))
    return times.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / 1e9
  } catch {
    return Number.NaN
  }
}
