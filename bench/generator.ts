import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, Seen } from './load.ts'
import { hasWrk, isForWrk, loadWithWrk } from './wrk.ts'

/** The load generator, which runs in a process of its own. */
export interface Generator {
  /** Loads a server as ordered; one order at a time. */
  load(order: Order): Promise<Seen>
  stop(): void
}

/**
 * Starts the load generator: wrk where it is installed, otherwise ours, which also sends the scenarios that
 * depend on earlier responses.
 */
export async function startGenerator(): Promise<Generator> {
  const child = fork(fileURLToPath(new URL('./load.js', import.meta.url)))
  const usesWrk = await hasWrk()
  console.error(usesWrk ? 'Load generator: wrk' : 'Load generator: ours; wrk is not installed')
  return {
    async load(order) {
      if (usesWrk && isForWrk(order.scenario)) return loadWithWrk(order)
      child.send(order)
      const [seen] = await once(child, 'message')
      return seen as Seen
    },
    stop: () => child.disconnect(),
  }
}
