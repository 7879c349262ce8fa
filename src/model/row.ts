/** A row of the table of a resource. Every table has these columns. */
export interface Row {
  readonly [column: string]: unknown
  readonly id: string
  readonly version: number
  readonly last_updated: Date
}

export type Columns = Readonly<Record<string, unknown>>
