import { scannedBytes, type TableSizes } from '../../domain/table-sizes.ts'
import type { Abortable, Limiter } from '../../http/limiter.ts'
import type { Scan } from '../../model/query/list.ts'
import { SharedReads } from './shared-reads.ts'

interface ConnectionLimits {
  readonly connections: Limiter
  /** The connections for scans of large tables, among the others. */
  readonly scans: Limiter
  readonly sizes: TableSizes
  /** Told how many seconds each statement waited for a connection. */
  readonly waited: (seconds: number) => void
}

interface Read<Result> {
  readonly scans: readonly Scan[]
  readonly run: () => Promise<Result>
}

/** Two reads are equal if database and key are. */
interface Identity {
  readonly client: object
  readonly key: string
}

export interface Connections {
  /** Runs statements one after the other when a connection is free for the caller. */
  use<Result>(work: () => Promise<Result>): Promise<Result>
  /** Runs a statement that reads a resource. Equal statements run one at a time, each for all that wait. */
  read<Result>(read: Read<Result>, identity?: Identity): Promise<Result>
}

/**
 * In bytes. Scanning a smaller table takes ten milliseconds at most. While one caller sorts such a table on 16
 * connections, a GET of another takes 40 ms (10 while the first reads pages without a scan); at 16 MB it took 100.
 */
const LARGE_TABLE = 6 * 1024 * 1024

/**
 * Shares the connections among callers, in rotation, so that many or locked statements of one caller leave
 * connections to the others. Look-ups of single resources do not count, because those of all callers are combined.
 *
 * Scans of large tables get a few connections, and each caller a part of these: a scan takes as long as a hundred
 * other reads.
 */
export class ConnectionShares {
  readonly #shared = new SharedReads()

  constructor(private readonly limits: ConnectionLimits) {}

  /** What an operation of a caller uses; `until` withdraws statements that wait. */
  of(caller: string, until: Abortable | undefined): Connections {
    const { connections, scans, sizes, waited } = this.limits
    const use: Connections['use'] = async (work) => {
      const started = performance.now()
      const release = connections.take(caller, 1) ?? (await connections.acquire(caller, 1, until))
      waited((performance.now() - started) / 1_000)
      try {
        return await work()
      } finally {
        release()
      }
    }
    const read = async <Result>({ scans: needed, run }: Read<Result>, sent?: () => void) => {
      const send = () => {
        sent?.()
        return run()
      }
      const isLarge = needed.length > 0 && (await scannedBytes(sizes, needed)) >= LARGE_TABLE
      if (!isLarge) return use(send)
      const release = await scans.acquire(caller, 1, until)
      try {
        return await use(send)
      } finally {
        release()
      }
    }
    return {
      use,
      read: (statement, identity) =>
        identity
          ? this.#shared.read(identity.client, identity.key, (sent) => read(statement, sent))
          : read(statement),
    }
  }
}
