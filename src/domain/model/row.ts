/** A row of a resource's table: its columns, flat. Every table has these. */
export interface Row {
  readonly [column: string]: unknown
  readonly id: string
  readonly version: number
  readonly last_updated: Date
}

/** Values by column. */
export type Columns = Readonly<Record<string, unknown>>
