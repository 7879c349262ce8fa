import type { Owner } from '../database/database.ts'

/**
 * Makes a function that resolves when a test may go on: so many at a time, until their teardown. Owners of whole files do
 * not wait.
 */
export function createTurns(maximum: number): (owner: Owner) => Promise<void> {
  let holding = 0
  const waiting: (() => void)[] = []
  const holders = new WeakSet<Owner>()
  return async (owner) => {
    if (!('title' in owner) || holders.has(owner)) return
    holders.add(owner)
    if (holding < maximum) holding++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    owner.teardown(async () => {
      const next = waiting.shift()
      if (next) next()
      else holding--
    })
  }
}

/**
 * Resolves when this test may open databases of its own. All tests of a suite begin at once; with all databases at once,
 * the server refuses connections, and timers expire that no single test would notice.
 */
export const takeTurn = createTurns(4)
