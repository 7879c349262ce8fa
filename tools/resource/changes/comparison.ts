import type { Catalogue, StoredTable } from '../tables/catalogue.ts'
import type { Table } from '../tables/table.ts'
import type { Step } from './step.ts'

/** A table that exists and that a definition describes. */
export interface Pair {
  readonly table: Table
  readonly stored: StoredTable
  /** The table that the definition describes, as PostgreSQL describes it. */
  readonly wanted: StoredTable
}

/** What the caller of the command decided. */
export interface Decisions {
  /** Values for existing rows as SQL, by `{path}.{dotted name of the field}`. */
  readonly defaults: ReadonlyMap<string, string>
  readonly allowDataLoss: boolean
}

/** What makes the tables those of the definitions. */
export interface Difference {
  readonly steps: readonly Step[]
  /** The conditions for rows whose representation changes although no column of theirs does, by table. */
  readonly raises: readonly { readonly table: string; readonly condition: string }[]
  /** What the definitions ask for and the migration cannot or must not do. */
  readonly problems: readonly string[]
}

export const NOTHING: Difference = { steps: [], raises: [], problems: [] }

/** All of several differences. */
export function together(differences: readonly Difference[]): Difference {
  return {
    steps: differences.flatMap(({ steps }) => steps),
    raises: differences.flatMap(({ raises }) => raises),
    problems: differences.flatMap(({ problems }) => problems),
  }
}

/** The tables that exist, beside those that are wanted. */
export function pairs(tables: readonly Table[], current: Catalogue, desired: Catalogue): Pair[] {
  return tables.flatMap((table) => {
    const [stored, wanted] = [current.get(table.name), desired.get(table.name)]
    return stored && wanted ? [{ table, stored, wanted }] : []
  })
}
