// @ts-check
import { readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** Seconds of processor that the children of this process took which have ended: Linux tells it, elsewhere it is 0. */
export function childrenSeconds() {
  if (process.platform !== 'linux') return 0
  // After the name of the program, which may contain blanks, fields 3 and later (proc(5)).
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const [user = 0, system = 0] = fields.slice(13, 15).map(Number)
  return (user + system) / TICKS_PER_SECOND
}
