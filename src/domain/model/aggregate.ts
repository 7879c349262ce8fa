import type { Filter } from './query.ts'
import type { Leaf, Resource } from './resource.ts'
import type { Columns } from './row.ts'

/** What is computed of the numbers of a group. */
export type Measure = 'minimum' | 'maximum' | 'average' | 'sum'

/** What is asked of a collection as a whole. */
export interface AggregateRequest {
  readonly filter?: Filter | undefined
  /** Dotted wire names of the fields whose values make the groups; without any, all is one group. */
  readonly groupBy: readonly string[]
  readonly measures: ReadonlySet<Measure>
  /** The largest groups first, or the groups in the order of their keys; nulls last. */
  readonly order: 'count' | 'key'
  readonly limit: number
}

/** The resources that have the same values in the fields that make the groups. */
export interface Group {
  readonly key: Columns
  readonly count: number
  /** The measures that were asked for, by the columns that hold numbers; null where none has a value. */
  readonly measures: Readonly<Partial<Record<Measure, Columns>>>
}

/** The leaves whose values can make groups: those of which many resources may have the same. */
export function groupable(leaves: readonly Leaf[]): Leaf[] {
  return leaves.filter(
    ({ name, field }) => name !== 'id' && field.type !== 'fractions' && field.type !== 'timestamp',
  )
}

/** The leaves that hold numbers, of which measures are computed. */
export function measurable({ leaves }: Resource): Leaf[] {
  return leaves.filter(({ field }) => field.type === 'number' || field.type === 'integer')
}
