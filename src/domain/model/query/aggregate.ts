import type { Leaf, Resource } from '../resource.ts'
import type { Columns } from '../row.ts'
import type { Filter } from './query.ts'

/** An aggregate function of the numbers of a group. */
export type Measure = 'minimum' | 'maximum' | 'average' | 'sum'

/** A period of UTC; a week begins on Monday (ISO 8601). */
export const TIME_UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour'] as const

export type TimeUnit = (typeof TIME_UNITS)[number]

/** A request to group and measure a collection. */
export interface AggregateRequest {
  readonly filter?: Filter | undefined
  /** Dotted wire names of the fields to group by; without any, the collection is one group. */
  readonly groupBy: readonly string[]
  /** A timestamp whose period makes the groups, beside the fields to group by. */
  readonly groupByTime?: { readonly field: string; readonly unit: TimeUnit } | undefined
  readonly measures: ReadonlySet<Measure>
  /** Largest groups first, or by key with nulls last. */
  readonly order: 'count' | 'key'
  readonly limit: number
}

/** The resources with the same values in the fields of `groupBy`. */
export interface Group {
  readonly key: Columns
  /** The beginning of the period; null for those without the timestamp, undefined if not grouped by time. */
  readonly time?: Date | null
  readonly count: number
  /** The requested measures by numeric column; null if no resource of the group has a value. */
  readonly measures: Readonly<Partial<Record<Measure, Columns>>>
}

/** The leaves to group by: those whose values many resources can share. */
export function groupable(leaves: readonly Leaf[]): Leaf[] {
  return leaves.filter(
    ({ name, field }) => name !== 'id' && field.type !== 'fractions' && field.type !== 'timestamp',
  )
}

/** The leaves with timestamps, to group by their periods. */
export function timed(leaves: readonly Leaf[]): Leaf[] {
  return leaves.filter(({ field }) => field.type === 'timestamp')
}

/** The numeric leaves, which have measures. */
export function measurable({ leaves }: Resource): Leaf[] {
  return leaves.filter(({ field }) => field.type === 'number' || field.type === 'integer')
}
