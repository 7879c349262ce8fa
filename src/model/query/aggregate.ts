import type { ReadableRows } from '../access/access.ts'
import { kindOf } from '../definition/fields.ts'
import type { Leaf, Resource } from '../definition/resource.ts'
import type { Columns } from '../rows/row.ts'

export const MEASURES = ['minimum', 'maximum', 'average', 'sum', 'median', 'distinctCount'] as const

export type Measure = (typeof MEASURES)[number]

/** The cost of measuring a column, in scans: a median and a distinct count sort the values. */
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
  readonly rows: ReadableRows
  /** Dotted wire names of the fields to group by; without any, the collection is one group. */
  readonly groupBy: readonly string[]
  /** Groups by the periods of a timestamp, in addition to the fields. */
  readonly groupByTime?: { readonly field: string; readonly unit: TimeUnit } | undefined
  /** Groups by ranges of a number, each from one bound up to the next. The last one includes its end. */
  readonly groupByRange?: { readonly field: string; readonly bounds: readonly number[] } | undefined
  readonly measures: Readonly<Record<Measure, readonly string[]>>
  /** Adds numbers exactly, which is slower and cannot overflow. */
  readonly exact?: boolean
  /** Largest groups first, or by key with nulls last. */
  readonly order: 'count' | 'key'
  readonly limit: number
}

export interface Group {
  readonly key: Columns
  /** The start of the period; null for an unset timestamp, undefined if not grouped by time. */
  readonly time?: Date | null
  /** The index of the range; null for numbers beyond the bounds or unset, undefined if not grouped by range. */
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
