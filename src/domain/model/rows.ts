import { isDeepStrictEqual } from 'node:util'
import type { Leaf, Resource, Values } from './resource.ts'
import type { Columns, Row } from './row.ts'

/** The value at a leaf of nested values; undefined where it, or a group above it, is not set. */
function valueAt(values: Values, leaf: Leaf): unknown {
  const [outer, inner] = leaf.path
  const value = values[outer as string]
  if (inner === undefined) return value ?? undefined
  return (value as Values | null | undefined)?.[inner] ?? undefined
}

/**
 * The writable columns for nested values: a column for every leaf, null where it is not set. A field
 * that starts with a value keeps it, or what it has become, where the values do not say otherwise.
 */
export function toColumns(resource: Resource, values: Values, before?: Row): Record<string, unknown> {
  const otherwise = ({ column, field }: Leaf) =>
    field.initially === undefined ? null : (before?.[column] ?? field.initially)
  return Object.fromEntries(
    resource.writable.map((leaf) => [leaf.column, valueAt(values, leaf) ?? otherwise(leaf)]),
  )
}

/** The columns that a new resource starts with, unless it is given others. */
export function initialColumns({ leaves }: Resource): Record<string, unknown> {
  const started = leaves.filter(({ field }) => field.initially !== undefined)
  return Object.fromEntries(started.map(({ column, field }) => [column, field.initially]))
}

/** The nested values of a row, in the order of the definition; what is null in the row is absent. */
export function toValues(resource: Resource, row: Row): Values {
  const values: Record<string, unknown> = {}
  for (const { path, column } of resource.leaves) {
    const value = row[column]
    if (value === null || value === undefined) continue
    const [outer, inner] = path as [string, string?]
    if (inner === undefined) values[outer] = value
    else values[outer] = { ...(values[outer] as object | undefined), [inner]: value }
  }
  return values
}

/** Whether writing these columns would leave the row as it is. */
export function isUnchanged(row: Row, columns: Columns): boolean {
  return Object.entries(columns).every(([column, value]) => isDeepStrictEqual(row[column], value))
}
