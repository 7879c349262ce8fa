import { isDeepStrictEqual } from 'node:util'
import type { AccessCaller } from '../access/access-rules.ts'
import { fixedInitial, kindOf } from '../definition/fields.ts'
import type { Leaf, Resource, Values } from '../definition/resource.ts'
import { errorAt } from '../errors.ts'
import { inYears } from '../kinds/timestamp.ts'
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
    field.initially === undefined ? null : (before?.[column] ?? fixedInitial(field) ?? null)
  return Object.fromEntries(
    resource.writable.map((leaf) => [leaf.column, valueAt(values, leaf) ?? otherwise(leaf)]),
  )
}

/**
 * Includes the initial values of fields that only the service sets, and those that depend on the caller.
 *
 * @throws {DomainError} VALIDATION_FAILED (400) for a value of the caller that the field cannot hold
 */
export function newColumns(resource: Resource, values: Values, caller: AccessCaller) {
  const columns: Record<string, unknown> = toColumns(resource, values)
  for (const leaf of resource.leaves) {
    if (leaf.field.initially !== undefined) columns[leaf.column] ??= initialValue(leaf, caller)
  }
  return columns
}

function initialValue({ name, field }: Leaf, caller: AccessCaller): unknown {
  const { initially } = field
  if (typeof initially !== 'function') return initially
  const value = initially(caller) ?? null
  if (value === null && field.required) {
    const message = `${name} is required, and your token does not determine it.`
    throw errorAt(name, 'REQUIRED_FIELD', 'VALIDATION_FAILED', message)
  }
  const checked = value === null ? { value } : kindOf(field).check(field, value)
  if ('value' in checked) return checked.value
  const message = `${name}, which your token determines, ${checked.problem}.`
  throw errorAt(name, checked.code, 'VALIDATION_FAILED', message)
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
    .map(({ column, field }) => [column, before?.[column] ?? fixedInitial(field)])
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

/** The columns of a resource that is stored as JSON, with decimal numbers as texts, with the values that statements return. */
export function rowOf(resource: Resource, columns: Columns): Columns {
  const converted = resource.leaves.map(({ column, field }) => {
    const value = columns[column] ?? null
    return [column, value !== null && kindOf(field).toJson ? new Date(inYears(value as string)) : value]
  })
  return Object.fromEntries(converted)
}

/** The shown fields of a row as JSON, or others. */
export function jsonValues(resource: Resource, row: Columns, leaves = resource.shownLeaves): Values {
  const converted = leaves.map(({ column, field }) => {
    const { toJson } = kindOf(field)
    return [column, row[column] !== null && toJson ? toJson(row[column] as never) : row[column]]
  })
  return toValues(resource, Object.fromEntries(converted))
}
