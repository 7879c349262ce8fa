import type { Address } from '../../domain/model/identifiers.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Columns } from '../../domain/model/row.ts'
import { columnsOf, keyOf, Parameters, quoted, type Statement, tableOf } from './statement.ts'

/** The statement that reads the rows with these values, or one of a list of them, in these columns. */
export function lookUpStatement(resource: Resource, columns: Columns): Statement {
  const parameters = new Parameters()
  const conditions = Object.entries(columns).map(([column, value]) => {
    const parameter = parameters.add(value)
    return `${quoted(column)} = ${Array.isArray(value) ? `ANY(${parameter})` : parameter}`
  })
  const text = `SELECT ${columnsOf(resource)} FROM ${tableOf(resource)} WHERE ${conditions.join(' AND ')}`
  return { text, values: parameters.values }
}

/** The statement that reads the resources at these addresses. */
export function addressesStatement(resource: Resource, addresses: readonly Address[]): Statement {
  const parameters = new Parameters()
  const keys = addresses.map((address): Columns => keyOf(resource, address))
  const columns = Object.keys(keys[0] ?? {})
  const values = columns.map((column) => `${parameters.add(keys.map((key) => key[column]))}::text[]`)
  const text = `SELECT ${columnsOf(resource)} FROM ${tableOf(resource)}
    WHERE (${columns.map(quoted).join(', ')}) IN (SELECT * FROM unnest(${values.join(', ')}))`
  return { text, values: parameters.values }
}
