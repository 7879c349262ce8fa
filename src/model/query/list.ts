import type { ReadableRows } from '../access/access.ts'
import type { Resource } from '../definition/resource.ts'
import type { Row } from '../rows/row.ts'
import type { Position } from './keyset.ts'
import { countConditions, type Filter, relatedTargets, type Sort } from './query.ts'

/** SPEC §4.1. */
export interface ListRequest {
  readonly sorts: readonly Sort[]
  readonly rows: ReadableRows
  readonly skip?: number
  readonly take: number
  readonly after?: Position | undefined
  readonly before?: Position | undefined
  /** The last rows instead of the first, in the same order. */
  readonly fromEnd?: boolean
  /** Reads the key of the last row of the whole list, to see whether the part reaches the end. */
  readonly namesLast?: boolean
  /** Reads only the version and the columns of the order. */
  readonly versionsOnly?: boolean
  /** Reads the position in the feed of changes. */
  readonly positioned?: boolean
  /** Counts the whole list, which may cost more than reading a part of it. */
  readonly counted: boolean
}

/** PostgreSQL skips this many rows in a few milliseconds, in an index alone in 1.5. */
const SHORT_SKIP = 20_000

/** Checking this many conditions takes as long as sorting. Each takes 30 ns per row, and `contains` 10 times that. */
const CONDITIONS_PER_PASS = 8

/**
 * The cost for the database, in scans of the whole list: 0 for the first rows in the order of creation, and more than 1 for
 * many conditions.
 */
export function passesOf({ sorts, rows: { filter }, skip = 0 }: ListRequest): number {
  const isScan = filter !== undefined || sorts.length > 0 || skip > SHORT_SKIP
  return isScan ? filterPasses(filter) : 0
}

/** The cost of a scan with this filter, in scans without one. */
export function filterPasses(filter: Filter | undefined): number {
  return Math.max(filter ? countConditions(filter) / CONDITIONS_PER_PASS : 0, 1)
}

/** A resource whose table a statement reads, and the cost in scans of it. */
export type Scan = readonly [Resource, number]

/** The scans of a statement with this filter: those of the resource, and one of each target. */
export function scansOf(resource: Resource, passes: number, filter: Filter | undefined): readonly Scan[] {
  if (passes === 0) return []
  return [[resource, passes], ...(filter ? relatedTargets(filter) : []).map((target): Scan => [target, 1])]
}

/** A part of a list, and facts about the whole list, from one snapshot. */
export interface List {
  readonly rows: readonly Row[]
  /** Zero unless requested. */
  readonly totalCount: number
  /** The key of the last row of the whole list, as text, if requested. */
  readonly lastKey?: string | undefined
  /** The list includes all changes up to this position of the feed. Zero unless requested. */
  readonly position: number
}
