/** The columns of every table that are no fields of its resource. */
export const KEPT_COLUMNS = ['version', 'changed_by'] as const

/** A row of the table of a resource. Every table has these columns. */
export interface Row {
  readonly [column: string]: unknown
  readonly id: string
  readonly version: number
  readonly last_updated: Date
  /** Who made the last change: the identity of a caller, or a role of the database; null if it is not known. */
  readonly changed_by: string | null
}

export type Columns = Readonly<Record<string, unknown>>
