import type { Catalogue, StoredTable } from '../tables/catalogue.ts'
import type { Table } from '../tables/table.ts'
import type { Step } from './step.ts'

/** An existing table and its definition. */
export interface Pair {
  readonly table: Table
  readonly stored: StoredTable
  /** The definition, as PostgreSQL describes it. */
  readonly wanted: StoredTable
  /** Existing columns that a new expression computes, which `stored` is without. */
  readonly recomputed: readonly { readonly name: string; readonly isGenerated: boolean }[]
}

/** Options of the command. */
export interface Decisions {
  /** Values for existing rows as SQL, by `{path}.{dotted name of the field}`. */
  readonly defaults: ReadonlyMap<string, string>
  readonly allowDataLoss: boolean
  /** Existing rows may have values that their fields no longer allow. */
  readonly allowInvalidRows: boolean
}

export interface Difference {
  readonly steps: readonly Step[]
  /** Rows that need a new version because their representation changes although their columns do not. */
  readonly raises: readonly { readonly table: string; readonly condition: string }[]
  /** Changes that a migration cannot or must not make. */
  readonly problems: readonly Problem[]
}

/** Why a table is not migrated. */
export interface Problem {
  readonly table: string
  readonly text: string
  /** A condition on the rows that stand against the change, and what they have, as in `no value`. */
  readonly rows?: { readonly condition: string; readonly what: string }
}

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
    if (!stored || !wanted) return []
    const changed = [...wanted.columns].flatMap(([name, { type }]) =>
      (stored.columns.get(name)?.type ?? type) === type ? [] : [name],
    )
    const recomputed = [...wanted.columns].flatMap(([name, column]) => {
      const before = stored.columns.get(name)
      const isSame = before?.isGenerated && before.default === column.default && before.type === column.type
      // PostgreSQL does not change the type of a column that another one is computed from.
      const isKept = isSame && !naming(changed).test(before.default ?? '')
      return before && column.isGenerated && !isKept ? [{ name, isGenerated: before.isGenerated }] : []
    })
    const dropped = recomputed.map(({ name }) => name)
    return [{ table, stored: without(stored, dropped), wanted, recomputed }]
  })
}

/** Matches an expression with one of these names. */
function naming(columns: readonly string[]): RegExp {
  return new RegExp(columns.length > 0 ? `\\b(${columns.join('|')})\\b` : '$^')
}

/** A text in a constraint, which can contain the name of a column. */
const LITERAL = /'(?:[^']|'')*'/g

/** The table as dropping these columns leaves it: without their indexes and constraints. */
function without(table: StoredTable, columns: readonly string[]): StoredTable {
  if (columns.length === 0) return table
  const names = naming(columns)
  const others = (objects: ReadonlyMap<string, string>) =>
    new Map([...objects].filter(([, text]) => !names.test(text.replaceAll(LITERAL, ''))))
  return {
    ...table,
    columns: new Map([...table.columns].filter(([name]) => !columns.includes(name))),
    constraints: others(table.constraints),
    indexes: others(table.indexes),
  }
}
