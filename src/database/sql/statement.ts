import { kindOf } from '../../model/definition/fields.ts'
import { type Resource, tableName } from '../../model/definition/resource.ts'
import { KEPT_COLUMNS } from '../../model/rows/row.ts'

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** Planned for its values each time, instead of prepared. */
  readonly isPlannedEachTime?: boolean
  /** A write that has time: it is left out, without a result, while commits wait for a standby that does not respond. */
  readonly isDeferrable?: boolean
}

export function quotedTable({ path }: Resource): string {
  return quoted(tableName(path))
}

/** The quoted columns of a row. A prepared statement must not use `*`, which changes with a migration. */
export function columnsOf({ leaves }: Resource): string {
  return [...leaves.map(({ column }) => column), ...KEPT_COLUMNS].map(quoted).join(', ')
}

/** The columns whose numbers the driver returns as texts, because JSON would not keep them exactly. */
export function exactColumns({ leaves }: Resource): string[] {
  return leaves.filter(({ field }) => kindOf(field).isExact).map(({ column }) => column)
}

/**
 * A row that is stored as JSON, with its decimal numbers as texts, because JSON in the process would lose digits; NULL for
 * none. The columns of the numbers are those of a parameter.
 */
export function exactRow(row: string, columns: string): string {
  return `CASE WHEN jsonb_typeof(${row}) = 'object' THEN ${row} || COALESCE(
    (SELECT jsonb_object_agg(key, value #>> '{}') FROM jsonb_each(${row}) WHERE key = ANY(${columns})), '{}') END`
}

export function quoted(name: string): string {
  return `"${name}"`
}

export class Parameters {
  readonly values: unknown[]

  constructor(values: readonly unknown[] = []) {
    this.values = [...values]
  }

  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** For each connection. Filters and sorts make any number of statements; those above the maximum are not prepared. */
const MAXIMUM_STATEMENTS = 500

const names = new Map<string, string>()

/** The name of a prepared statement, the same for all connections; empty for a statement that is not prepared. */
export function statementName({ sql }: { readonly sql: string }): string {
  const known = names.get(sql)
  if (known !== undefined) return known
  if (names.size >= MAXIMUM_STATEMENTS) return ''
  const name = `halgraph_${names.size + 1}`
  names.set(sql, name)
  return name
}
