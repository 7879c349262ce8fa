// The engine of a process of tests, in a thread of its own: a server goes on while a test keeps its process busy.
import { parentPort, workerData } from 'node:worker_threads'
import { createRestrictedEngine } from './engine.ts'
import type { FaultRates } from './faults.ts'
import { RESTRICTIONS } from './restrictions.ts'

/** What the thread is given. */
export interface ThreadData {
  readonly server: string
  /** The names of restrictions to leave out. */
  readonly allowed: readonly string[]
  readonly faults: FaultRates
  readonly faultsSince: RegExp
}

/** What it tells: first its address, then each refused statement and each fault. */
export interface ThreadMessage {
  readonly address?: string
  readonly noted?: string
}

const { server, allowed, ...options } = workerData as ThreadData
const tell = (message: ThreadMessage) => parentPort?.postMessage(message)
const { address } = await createRestrictedEngine({ teardown: () => {} }, server, {
  ...options,
  restrictions: RESTRICTIONS.filter(({ name }) => !allowed.includes(name)),
  note: (noted) => tell({ noted }),
})
// Keeps the thread: its sockets do not.
parentPort?.on('message', () => {})
tell({ address })
