import type { Owner } from '../database/database.ts'

/**
 * Tests of a process that may have databases of their own at the same time. All tests of a suite begin at once; with all
 * databases at once, the server refuses connections, and timers expire that no single test would notice.
 */
const MAXIMUM = 4

let holding = 0
const waiting: (() => void)[] = []
const holders = new WeakSet<Owner>()

/** Resolves when this test may open databases; its teardown lets the next one go on. Owners of whole files do not wait. */
export async function takeTurn(owner: Owner): Promise<void> {
  if (!('title' in owner) || holders.has(owner)) return
  holders.add(owner)
  if (holding < MAXIMUM) holding++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  owner.teardown(async () => {
    const next = waiting.shift()
    if (next) next()
    else holding--
  })
}
