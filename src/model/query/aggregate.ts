import { kindOf } from '../fields.ts'
import type { Leaf, Resource } from '../resource.ts'
import type { Columns } from '../row.ts'
import type { Filter } from './query.ts'

export const MEASURES = ['minimum', 'maximum', 'average', 'sum', 'median', 'distinctCount'] as const

export type Measure = (typeof MEASURES)[number]

/** How many times as long as a scan it takes to measure a column: a median and a distinct count sort its values. */
export function measurePasses(measure: Measure): number {
  return measure === 'median' || measure === 'distinctCount' ? 4 : 0
}

export function forMeasures<Value>(make: (measure: Measure) => Value): Readonly<Record<Measure, Value>> {
  return Object.fromEntries(MEASURES.map((measure) => [measure, make(measure)])) as Record<Measure, Value>
}

/** A period of UTC; a week begins on Monday (ISO 8601). */
export const TIME_UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour'] as const

export type TimeUnit = (typeof TIME_UNITS)[number]

export interface AggregateRequest {
  readonly filter?: Filter | undefined
  /** Dotted wire names of the fields to group by; without any, the collection is one group. */
  readonly groupBy: readonly string[]
  /** A timestamp whose period makes the groups, beside the fields to group by. */
  readonly groupByTime?: { readonly field: string; readonly unit: TimeUnit } | undefined
  /** A number whose range makes the groups. Each range is from one bound up to the next; the last includes its end. */
  readonly groupByRange?: { readonly field: string; readonly bounds: readonly number[] } | undefined
  /** The columns of each measure. */
  readonly measures: Readonly<Record<Measure, readonly string[]>>
  /** Whether to add numbers exactly. That is slower, and has no overflow. */
  readonly exact?: boolean
  /** Largest groups first, or by key with nulls last. */
  readonly order: 'count' | 'key'
  readonly limit: number
}

/** The resources with the same values in the fields of `groupBy`. */
export interface Group {
  readonly key: Columns
  /** The beginning of the period; null for those without the timestamp, undefined if not grouped by time. */
  readonly time?: Date | null
  /** The index of the range; null beyond the bounds and without the number, undefined if not grouped by range. */
  readonly range?: number | null
  readonly count: number
  /** The requested columns; null if no resource of the group has a value, infinite if no double holds it. */
  readonly measures: Readonly<Record<Measure, Columns>>
}

/** The leaves to group by: those whose values many resources can share. */
export function groupable(leaves: readonly Leaf[]): Leaf[] {
  return leaves.filter(({ name, field }) => name !== 'id' && !kindOf(field).isRarelyShared)
}

export function timed(leaves: readonly Leaf[]): Leaf[] {
  return leaves.filter(({ field }) => kindOf(field).isTimed)
}

/** The leaves with a measure: numbers, and those to group by for the distinct count. */
export function measuredBy(measure: Measure, resource: Resource): Leaf[] {
  return measure === 'distinctCount' ? groupable(resource.leaves) : measurable(resource)
}

export function measurable({ leaves }: Resource): Leaf[] {
  return leaves.filter(({ field }) => kindOf(field).isMeasurable)
}
