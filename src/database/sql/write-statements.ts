import type { Resource } from '../../domain/model/resource.ts'
import type { Address } from '../../domain/store.ts'
import { columnsOf, Parameters, quoted, tableOf } from './columns.ts'
import type { Statement } from './list-statement.ts'

type Columns = Readonly<Record<string, unknown>>

/** The statement that adds a row and answers with it, as the database has completed it. */
export function insertStatement(resource: Resource, address: Address, columns: Columns): Statement {
  const parameters = new Parameters()
  const entries = Object.entries({ ...columns, ...keyOf(resource, address) })
  const names = entries.map(([column]) => quoted(column))
  const places = entries.map(([, value]) => parameters.add(value))
  const text = `INSERT INTO ${tableOf(resource)} (${names.join(', ')}) VALUES (${places.join(', ')})
    RETURNING ${columnsOf(resource)}`
  return { text, values: parameters.values }
}

/** The statement that changes a row if it still is of a version, and answers with it if so. */
export function updateStatement(
  resource: Resource,
  address: Address,
  version: number,
  columns: Columns,
): Statement {
  const parameters = new Parameters()
  const equal = ([column, value]: [string, unknown]) => `${quoted(column)} = ${parameters.add(value)}`
  const assignments = Object.entries(columns).map(equal)
  const conditions = Object.entries({ ...keyOf(resource, address), version }).map(equal)
  const text = `UPDATE ${tableOf(resource)} SET ${assignments.join(', ')} WHERE ${conditions.join(' AND ')}
    RETURNING ${columnsOf(resource)}`
  return { text, values: parameters.values }
}

function keyOf({ parentField }: Resource, { parentId, id }: Address): Columns {
  return parentField ? { [parentField]: parentId, id } : { id }
}
