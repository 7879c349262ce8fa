import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, Seen } from './load.ts'

/** The load generator, which runs in a process of its own. */
export interface Generator {
  /** Loads a server as ordered; one order at a time. */
  load(order: Order): Promise<Seen>
  stop(): void
}

export function startGenerator(): Generator {
  const child = fork(fileURLToPath(new URL('./load.js', import.meta.url)))
  return {
    async load(order) {
      child.send(order)
      const [seen] = await once(child, 'message')
      return seen as Seen
    },
    stop: () => child.disconnect(),
  }
}
