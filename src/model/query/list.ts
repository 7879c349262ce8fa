import type { Resource } from '../resource.ts'
import type { Row } from '../row.ts'
import type { Position } from './keyset.ts'
import { countConditions, type Filter, relatedTargets, type Sort } from './query.ts'

/** A request for a part of a list (SPEC §4.1). */
export interface ListRequest {
  readonly sorts: readonly Sort[]
  readonly filter?: Filter | undefined
  readonly skip?: number
  readonly take: number
  readonly after?: Position | undefined
  readonly before?: Position | undefined
  /** The last rows instead of the first, in the same order. */
  readonly fromEnd?: boolean
  /** Whether to read the key of the last row of the whole list, to see whether the part reaches the end. */
  readonly namesLast?: boolean
  /** Whether to read of each row only what the order and the version of the resource need. */
  readonly versionsOnly?: boolean
  /** Whether to count the whole list, which may cost more than reading a part of it. */
  readonly counted: boolean
}

/** PostgreSQL skips this many rows in a few milliseconds: 1.5 in an index alone. */
const SHORT_SKIP = 20_000

/** Checking so many conditions takes as long as sorting. Each takes 30 ns of a row, and `contains` 10 times that. */
const CONDITIONS_PER_PASS = 8

/**
 * How many times as long as one scan of the whole list the database may take: 0 for the first rows in the order of
 * creation, and more than 1 for many conditions.
 */
export function passesOf({ sorts, filter, skip = 0 }: ListRequest): number {
  const isScan = filter !== undefined || sorts.length > 0 || skip > SHORT_SKIP
  return isScan ? filterPasses(filter) : 0
}

/** How many times as long as one scan a scan with this filter takes. */
export function filterPasses(filter: Filter | undefined): number {
  return Math.max(filter ? countConditions(filter) / CONDITIONS_PER_PASS : 0, 1)
}

/** A resource whose table a statement reads, and how many times as long as one scan of it that may take. */
export type Scan = readonly [Resource, number]

/** The scans of a statement with this filter: passes over the table of the resource, and one over that of each target. */
export function scansOf(resource: Resource, passes: number, filter: Filter | undefined): readonly Scan[] {
  if (passes === 0) return []
  return [[resource, passes], ...(filter ? relatedTargets(filter) : []).map((target): Scan => [target, 1])]
}

/** A part of a list, and the count of the whole list in the same snapshot. */
export interface List {
  readonly rows: readonly Row[]
  /** Zero if the request did not ask for it. */
  readonly totalCount: number
  /** The key of the last of the whole list, as text, where it was asked for and there is one. */
  readonly lastKey?: string | undefined
}
