import type { ResourceKey } from '../../model/identifiers.ts'
import type { Resource } from '../../model/resource.ts'
import type { Columns } from '../../model/row.ts'
import { columnsOf, keyColumns, Parameters, quoted, type Statement, tableOf } from './statement.ts'

/** Reads the rows whose columns have these values, or one of the values of an array. */
export function lookUpStatement(resource: Resource, columns: Columns): Statement {
  const parameters = new Parameters()
  const conditions = Object.entries(columns).map(([column, value]) => {
    const parameter = parameters.add(value)
    return `${quoted(column)} = ${Array.isArray(value) ? `ANY(${parameter})` : parameter}`
  })
  const text = `SELECT ${columnsOf(resource)} FROM ${tableOf(resource)} WHERE ${conditions.join(' AND ')}`
  return { text, values: parameters.values }
}

/** Reads the resources with these keys. */
export function keysStatement(resource: Resource, resourceKeys: readonly ResourceKey[]): Statement {
  const parameters = new Parameters()
  const keys = resourceKeys.map((key): Columns => keyColumns(resource, key))
  const columns = Object.keys(keys[0] ?? {})
  const values = columns.map((column) => `${parameters.add(keys.map((key) => key[column]))}::text[]`)
  const text = `SELECT ${columnsOf(resource)} FROM ${tableOf(resource)}
    WHERE (${columns.map(quoted).join(', ')}) IN (SELECT * FROM unnest(${values.join(', ')}))`
  return { text, values: parameters.values }
}

/** Replaces columns of a row if it still has a version, and returns the row if so. */
export function replaceStatement(
  resource: Resource,
  key: ResourceKey,
  version: number,
  columns: Columns,
): Statement {
  const parameters = new Parameters()
  const equal = ([column, value]: [string, unknown]) => `${quoted(column)} = ${parameters.add(value)}`
  const assignments = Object.entries(columns).map(equal)
  const conditions = Object.entries({ ...keyColumns(resource, key), version }).map(equal)
  const text = `UPDATE ${tableOf(resource)} SET ${assignments.join(', ')} WHERE ${conditions.join(' AND ')}
    RETURNING ${columnsOf(resource)}`
  return { text, values: parameters.values }
}

/** Inserts a row and returns it, with the values that the database has set. */
export function insertStatement(resource: Resource, key: ResourceKey, columns: Columns): Statement {
  const parameters = new Parameters()
  const entries = Object.entries({ ...columns, ...keyColumns(resource, key) })
  const names = entries.map(([column]) => quoted(column))
  const placeholders = entries.map(([, value]) => parameters.add(value))
  const text = `INSERT INTO ${tableOf(resource)} (${names.join(', ')}) VALUES (${placeholders.join(', ')})
    RETURNING ${columnsOf(resource)}`
  return { text, values: parameters.values }
}
