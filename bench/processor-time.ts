import { readFileSync } from 'node:fs'

/**
 * What a process has used of the processors, in seconds; not a number where /proc does not tell. proc(5): utime and stime are
 * the 14th and 15th field, in ticks of 10 ms; the 2nd is in brackets.
 */
export function processorSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return Number.NaN
  }
}
