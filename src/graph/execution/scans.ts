import type { Resource } from '../../domain/model/resource.ts'
import type { TableSizes } from '../../domain/table-sizes.ts'
import type { Limiter } from './limiter.ts'

/** Runs a read of a resource; `mayReadAll` says whether it may have to look at every row. */
export type Scan = <Result>(
  resource: Resource,
  mayReadAll: boolean,
  read: () => Promise<Result>,
) => Promise<Result>

/** In bytes; a smaller table is read in a few milliseconds. */
const LARGE_TABLE = 4 * 1024 * 1024

/**
 * Keeps reads of whole large tables to a few connections at once, of which one caller has a part: they take as
 * long as a hundred others, which would wait for a connection behind them.
 */
export class Scans {
  constructor(
    private readonly sizes: TableSizes,
    private readonly limiter: Limiter,
  ) {}

  /** What a caller's operation reads with. The signal takes back a read that has not been started. */
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
