import type { Address } from '../../domain/model/identifiers.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Columns } from '../../domain/model/row.ts'
import { columnsOf, keyOf, Parameters, quoted, type Statement, tableOf } from './statement.ts'

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
