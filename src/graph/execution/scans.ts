import type { Resource } from '../../domain/model/resource.ts'
import type { TableSizes } from '../../domain/table-sizes.ts'
import type { Limiter } from './limiter.ts'

/** Runs a read of a resource. `mayReadAll` says whether it may scan the whole table. */
export type Scan = <Result>(
  resource: Resource,
  mayReadAll: boolean,
  read: () => Promise<Result>,
) => Promise<Result>

/** In bytes. Scanning a smaller table takes a few milliseconds. */
const LARGE_TABLE = 4 * 1024 * 1024

/**
 * Limits scans of large tables to a few connections, and each caller to a part of these. A scan takes as long as
 * a hundred other reads, which would wait for its connection.
 */
export class Scans {
  constructor(
    private readonly sizes: TableSizes,
    private readonly limiter: Limiter,
  ) {}

  /** Creates the function that an operation of a caller reads with. The signal withdraws a waiting read. */
  of(caller: string, signal: AbortSignal | undefined): Scan {
    return async (resource, mayReadAll, read) => {
      if (!mayReadAll || (await this.sizes.of(resource)) < LARGE_TABLE) return read()
      const release = await this.limiter.acquire(caller, 1, signal)
      try {
        return await read()
      } finally {
        release()
      }
    }
  }
}
