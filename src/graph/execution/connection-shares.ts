import type { TableSizes } from '../../domain/table-sizes.ts'
import type { Abortable, Limiter } from '../../http/limiter.ts'
import type { Resource } from '../../model/resource.ts'
import { SharedReads } from './shared-reads.ts'

/** What shares the database connections among callers. */
interface ConnectionLimits {
  /** The connections that statements use. */
  readonly connections: Limiter
  /** Those of them that scans of large tables use. */
  readonly scans: Limiter
  readonly sizes: TableSizes
  /** Told how long each statement that waited for a connection did, in seconds. */
  readonly waited: (seconds: number) => void
}

/** A statement that reads a resource. */
interface Read<Result> {
  readonly resource: Resource
  /** How many times as long as a scan of the whole table it may take; 0 if it is none. */
  readonly passes: number
  readonly run: () => Promise<Result>
}

/** What makes two reads equal: the database, and a text for what is read there. */
interface Identity {
  readonly client: object
  readonly key: string
}

/** How one operation uses the database. */
export interface Connections {
  /** Runs statements one after the other when a connection is free for the caller. */
  use<Result>(work: () => Promise<Result>): Promise<Result>
  /** Runs a statement that reads a resource. Equal ones that wait for a connection run once. */
  read<Result>(read: Read<Result>, identity?: Identity): Promise<Result>
}

/**
 * In bytes. Scanning a smaller table takes ten milliseconds at most. While one caller sorts such a table on 16
 * connections, a GET of another takes 40 ms (10 while the first reads pages without a scan); at 16 MB it took 100.
 */
const LARGE_TABLE = 6 * 1024 * 1024

/**
 * Shares the connections among callers, in rotation, so that the statements of one, which may be many or wait for
 * a lock, leave connections to the others. Look-ups of single resources belong to no caller, because those of all
 * callers are combined, and do not count.
 *
 * Limits scans of large tables to a few connections, and each caller to a part of these. A scan takes as long as
 * a hundred other reads, which would wait for its connection.
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
      return work().finally(release)
    }
    const read = async <Result>({ resource, passes, run }: Read<Result>, sent?: () => void) => {
      const send = () => {
        sent?.()
        return run()
      }
      const isLarge = passes > 0 && passes * (await sizes.of(resource)) >= LARGE_TABLE
      if (!isLarge) return use(send)
      const release = await scans.acquire(caller, 1, until)
      return use(send).finally(release)
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
