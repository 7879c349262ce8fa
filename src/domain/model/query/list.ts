import type { Row } from '../row.ts'
import type { Position } from './keyset.ts'
import type { Filter, Sort } from './query.ts'

/** A request for a part of a list (SPEC §4.1). */
export interface ListRequest {
  readonly sorts: readonly Sort[]
  readonly filter?: Filter | undefined
  /** Number of rows before the first. */
  readonly skip?: number
  /** Maximum number of rows. */
  readonly take: number
  /** Only rows after this position. */
  readonly after?: Position | undefined
  /** Only rows before this position. */
  readonly before?: Position | undefined
  /** The last rows instead of the first, in the same order. */
  readonly fromEnd?: boolean
  /** Whether to read the identifier of the last row of the whole list, to see whether the part reaches the end. */
  readonly namesLast?: boolean
  /** Whether to count the whole list, which may cost more than reading a part of it. */
  readonly counted: boolean
}

/** PostgreSQL skips this many rows in a few milliseconds: 1.5 in an index alone. */
const SHORT_SKIP = 20_000

/** Whether the database may have to scan the whole list: not for the first rows in the order of creation. */
export function isScan({ sorts, filter, skip = 0 }: ListRequest): boolean {
  return filter !== undefined || sorts.length > 0 || skip > SHORT_SKIP
}

/** A part of a list, and the count of the whole list in the same snapshot. */
export interface List {
  readonly rows: readonly Row[]
  /** Zero if the request did not ask for it. */
  readonly totalCount: number
  /** The identifier of the last of the whole list, where it was asked for and there is one. */
  readonly lastId?: string | undefined
}
