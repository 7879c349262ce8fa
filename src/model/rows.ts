import { isDeepStrictEqual } from 'node:util'
import { kindOf } from './fields.ts'
import { inYears } from './kinds/timestamp.ts'
import type { Leaf, Resource, Values } from './resource.ts'
import type { Columns, Row } from './row.ts'

/** Undefined if the leaf or its group is unset. */
export function valueAt(values: Values, leaf: Leaf): unknown {
  const [outer, inner] = leaf.path
  const value = values[outer as string]
  if (inner === undefined) return value ?? undefined
  return (value as Values | null | undefined)?.[inner] ?? undefined
}

/**
 * Converts nested values to the writable columns, with null for unset leaves. An unset field with an initial
 * value keeps its stored value, or gets the initial one.
 */
export function toColumns(resource: Resource, values: Values, before?: Row): Record<string, unknown> {
  const otherwise = ({ column, field }: Leaf) =>
    field.initially === undefined ? null : (before?.[column] ?? field.initially)
  return Object.fromEntries(
    resource.writable.map((leaf) => [leaf.column, valueAt(values, leaf) ?? otherwise(leaf)]),
  )
}

/** Includes the initial values of fields that only the service sets. */
export function newColumns(resource: Resource, values: Values): Record<string, unknown> {
  const started = resource.leaves.filter(({ field }) => field.initially !== undefined)
  const initial = Object.fromEntries(started.map(({ column, field }) => [column, field.initially]))
  return { ...initial, ...toColumns(resource, values) }
}

/**
 * Completes the values of a view: writable fields outside the view keep their stored values, or get their initial
 * values in a new resource.
 */
export function completeValues(resource: Resource, view: Resource, values: Values, before?: Row): Values {
  if (view === resource) return values
  const inside = toColumns(view, values, before)
  const outside = resource.writable
    .filter(({ column }) => !(column in inside))
    .map(({ column, field }) => [column, before?.[column] ?? field.initially])
  return toValues(resource, { ...Object.fromEntries(outside), ...inside })
}

/** Converts columns to nested values in the order of the definition, without nulls. */
export function toValues(resource: Resource, row: Columns): Values {
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

export function changedColumns(row: Row, columns: Columns): Columns {
  return Object.fromEntries(
    Object.entries(columns).filter(([column, value]) => !isDeepStrictEqual(row[column], value)),
  )
}

/**
 * The columns of a resource that is stored as JSON, with the values that statements return.
 *
 * @param exact the decimal numbers among them, whose digits JSON would lose
 */
export function rowOf(resource: Resource, columns: Columns, exact: Columns | null): Columns {
  const converted = resource.leaves.map(({ column, field }) => {
    const { isExact, toJson } = kindOf(field)
    const value = (isExact ? exact : columns)?.[column] ?? null
    return [column, value !== null && toJson ? new Date(inYears(value as string)) : value]
  })
  return Object.fromEntries(converted)
}

/** The shown fields of a row as JSON. */
export function jsonValues(resource: Resource, row: Columns): Values {
  const converted = resource.shownLeaves.map(({ column, field }) => {
    const { toJson } = kindOf(field)
    return [column, row[column] !== null && toJson ? toJson(row[column] as never) : row[column]]
  })
  return toValues(resource, Object.fromEntries(converted))
}
