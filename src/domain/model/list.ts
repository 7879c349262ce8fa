import type { Position } from './keyset.ts'
import type { Filter, Sort } from './query.ts'
import type { Row } from './row.ts'

/** What is asked of a list (SPEC §4.1). */
export interface ListRequest {
  readonly sorts: readonly Sort[]
  readonly filter?: Filter | undefined
  /** How many are passed over before the first. */
  readonly skip?: number
  /** How many there may be. */
  readonly take: number
  /** Only what comes after this place in the order. */
  readonly after?: Position | undefined
  /** Only what comes before this place in the order. */
  readonly before?: Position | undefined
  /** The last ones of what there is, in the same order, and not the first ones. */
  readonly fromEnd?: boolean
  /** Whether the last resource of the whole list is named too, which shows whether the part reaches the end. */
  readonly namesLast?: boolean
  /** Whether the whole list is counted, which may cost more than reading a part of it. */
  readonly counted: boolean
}

/** So many rows are passed over in a few milliseconds. */
const SHORT_SKIP = 1_000

/** Whether reading a part of a list may look at all of it, which is so unless it is in the order of creation. */
export function isScan({ sorts, filter, skip = 0 }: ListRequest): boolean {
  return filter !== undefined || sorts.length > 0 || skip > SHORT_SKIP
}

/** A part of a list, and the count of the whole list as it was at the same moment. */
export interface List {
  readonly rows: readonly Row[]
  /** Zero when it was not asked for. */
  readonly totalCount: number
  /** The identifier of the last of the whole list, where it was asked for and there is one. */
  readonly lastId?: string | undefined
}
