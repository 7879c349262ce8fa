import type { Catalogue, StoredTable } from '../tables/catalogue.ts'
import type { Table } from '../tables/table.ts'
import type { Step } from './step.ts'

/** An existing table and its definition. */
export interface Pair {
  readonly table: Table
  readonly stored: StoredTable
  /** The definition, as PostgreSQL describes it. */
  readonly wanted: StoredTable
}

/** Options of the command. */
export interface Decisions {
  /** Values for existing rows as SQL, by `{path}.{dotted name of the field}`. */
  readonly defaults: ReadonlyMap<string, string>
  readonly allowDataLoss: boolean
}

export interface Difference {
  readonly steps: readonly Step[]
  /** Rows that need a new version because their representation changes although their columns do not. */
  readonly raises: readonly { readonly table: string; readonly condition: string }[]
  /** Changes that a migration cannot or must not make. */
  readonly problems: readonly string[]
}

export const NOTHING: Difference = { steps: [], raises: [], problems: [] }

export function together(differences: readonly Difference[]): Difference {
  return {
    steps: differences.flatMap(({ steps }) => steps),
    raises: differences.flatMap(({ raises }) => raises),
    problems: differences.flatMap(({ problems }) => problems),
  }
}

export function pairs(tables: readonly Table[], current: Catalogue, desired: Catalogue): Pair[] {
  return tables.flatMap((table) => {
    const [stored, wanted] = [current.get(table.name), desired.get(table.name)]
    return stored && wanted ? [{ table, stored, wanted }] : []
  })
}
