import { scannedBytes, type TableSizes } from '../../domain/table-sizes.ts'
import type { Abortable, Limiter } from '../../http/limiter.ts'
import { DomainError } from '../../model/errors.ts'
import type { Scan } from '../../model/query/list.ts'

interface ConnectionLimits {
  readonly connections: Limiter
  /** The part of the connections that is for scans of large tables. */
  readonly scans: Limiter
  /** The part of the connections that may write. Sessions that a write has left behind on the server use it, too. */
  readonly writes: Limiter
  /** Whether these sessions use all of it. */
  readonly isStalled: () => boolean
  readonly sizes: TableSizes
  /** Called with the seconds that each statement waited for a connection. */
  readonly waited: (seconds: number) => void
}

/** A statement that reads a resource. Reads with the same database and key are equal. */
interface Read<Result> {
  readonly client: object
  readonly key: string
  readonly scans: readonly Scan[]
  readonly run: () => Promise<Result>
}

/** {@link ConnectionShares} for one operation. */
export interface Connections {
  use<Result>(work: () => Promise<Result>): Promise<Result>
  read<Result>(read: Read<Result>): Promise<Result>
  write<Result>(work: () => Promise<Result>): Promise<Result>
}

interface SharedRead {
  isSent: boolean
  result?: Promise<unknown> | undefined
}

/**
 * In bytes. Scanning a smaller table takes at most 10 ms. While one caller sorts such a table on 16 connections, a GET of
 * another takes 40 ms (10 while the first reads pages without a scan); at 16 MB it took 100.
 */
const LARGE_TABLE = 6 * 1024 * 1024

const STALLED = new DomainError('SERVICE_UNAVAILABLE', 'The database does not complete writes; try again.')

/**
 * Shares the connections among callers, in rotation, so that many or locked statements of one caller leave
 * connections to the others. Look-ups of single resources do not count, because those of all callers are combined.
 *
 * Writes get half of the connections. Each commit waits for a synchronous standby, and if that stops, for any time: the
 * other half reads meanwhile.
 *
 * Scans of large tables get a few connections, and each caller a part of them: a scan takes as long as 100 other reads.
 *
 * Equal reads are sent once. Those that arrive while one runs share the next, so that no caller receives an older state.
 * With 16 concurrent requests for the first page of a collection, this halves the cost for the process and the database.
 */
export class ConnectionShares {
  /** The last of the equal reads, by database and key. */
  readonly #latest = new WeakMap<object, Map<string, SharedRead>>()

  constructor(private readonly limits: ConnectionLimits) {}

  /** Runs consecutive statements when a connection is free for the caller; `until` cancels the wait. */
  async use<Result>(caller: string, until: Abortable, work: () => Promise<Result>): Promise<Result> {
    const { connections, waited } = this.limits
    const started = performance.now()
    const release = connections.take(caller, 1) ?? (await connections.acquire(caller, 1, until))
    waited((performance.now() - started) / 1_000)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** As `use`, for statements that write. Throws SERVICE_UNAVAILABLE (503) at once while earlier ones do not end. */
  async write<Result>(caller: string, until: Abortable, work: () => Promise<Result>): Promise<Result> {
    const { isStalled, writes } = this.limits
    if (isStalled()) throw STALLED
    const release = await writes.acquire(caller, 1, until)
    try {
      return await this.use(caller, until, work)
    } finally {
      release()
    }
  }

  /** Equal statements run one at a time, each for all callers that wait. */
  read<Result>(caller: string, until: Abortable, read: Read<Result>): Promise<Result> {
    const reads = this.#latest.get(read.client) ?? new Map<string, SharedRead>()
    this.#latest.set(read.client, reads)
    const latest = reads.get(read.key)
    if (latest && !latest.isSent) {
      return (latest.result as Promise<Result>).catch((error) => {
        if (latest.isSent) throw error
        // The first caller stopped waiting for a connection; this one may have more time.
        return this.read(caller, until, read)
      })
    }
    const own: SharedRead = { isSent: false }
    const run = () => {
      own.isSent = true
      return read.run()
    }
    const start = () => this.#scan(caller, until, read.scans, run)
    const leave = () => {
      if (reads.get(read.key) === own) reads.delete(read.key)
      // V8 keeps deleted entries of an old map until the next major collection, and with them the rows: 60 µs per list.
      own.result = undefined
    }
    // An error of the previous read belongs to another caller.
    const result = latest?.result ? latest.result.then(start, start) : start()
    result.then(leave, leave)
    own.result = result
    reads.set(read.key, own)
    return result
  }

  async #scan<Result>(
    caller: string,
    until: Abortable,
    scans: readonly Scan[],
    run: () => Promise<Result>,
  ): Promise<Result> {
    const isLarge = scans.length > 0 && (await scannedBytes(this.limits.sizes, scans)) >= LARGE_TABLE
    if (!isLarge) return this.use(caller, until, run)
    const release = await this.limits.scans.acquire(caller, 1, until)
    try {
      return await this.use(caller, until, run)
    } finally {
      release()
    }
  }
}
