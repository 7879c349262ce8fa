import type { Resource } from '../../domain/model/resource.ts'
import type { Columns } from '../../domain/model/row.ts'
import { columnsOf, Parameters, quoted, type Statement, tableOf } from './statement.ts'

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
