import type { DatabaseClient } from '../../database/database-client.ts'
import { allRows } from '../../domain/read.ts'
import { isAlwaysSet, kindOf } from '../../model/definition/fields.ts'
import { type Resource, tableName } from '../../model/definition/resource.ts'
import type { Detail } from '../../model/errors.ts'
import { jsonValues } from '../../model/rows/columns.ts'
import { isIdentifier } from '../../model/rows/identifiers.ts'
import type { Row } from '../../model/rows/row.ts'
import { inspectResource } from '../../model/validate.ts'
import { NAMED } from './parts.ts'

/** Lists the first rows that would be refused as a request body. */
export async function rowProblems(client: DatabaseClient, resource: Resource): Promise<string[]> {
  const problems: string[] = []
  let invalid = 0
  for await (const row of allRows(client, resource)) {
    const details = problemsOf(resource, row)
    if (details.length === 0) continue
    invalid += 1
    if (invalid > NAMED) continue
    problems.push(`${row.id}: ${details.map(({ code, message }) => `${code} ${message}`).join(' ')}`)
  }
  return invalid > NAMED ? [...problems, `and ${invalid - NAMED} more`] : problems
}

function problemsOf(resource: Resource, row: Row): readonly Detail[] {
  const { values, details } = inspectResource(resource, jsonValues(resource, row))
  const malformed: Detail[] = isIdentifier(row.id)
    ? []
    : [{ field: 'id', code: 'INVALID_VALUE', message: 'id is not a valid identifier.' }]
  // The row is compared with itself, so rules about changes of state do not apply.
  return [...malformed, ...details, ...(resource.rules ?? []).flatMap((rule) => rule(values, values))]
}

const COLUMNS = `SELECT table_name::text AS table, column_name::text AS name, data_type::text AS type,
    is_nullable = 'YES' AS nullable
  FROM information_schema.columns WHERE table_schema = current_schema()`

/** Differences between the columns of the tables and the definitions: name, type and nullability. */
export async function tableDrift(client: DatabaseClient, resources: readonly Resource[]): Promise<string[]> {
  type Column = { table: string; name: string; type: string; nullable: boolean }
  const rows = await client.$rows<Column>({ text: COLUMNS, values: [] })
  return resources.flatMap(({ path, leaves }) => {
    const table = tableName(path)
    const expected = leaves.map(({ column: name, field }) => {
      return { name, type: kindOf(field).dataType, nullable: !isAlwaysSet(field) }
    })
    expected.push(
      { name: 'version', type: 'integer', nullable: false },
      { name: 'changed_by', type: 'text', nullable: true },
    )
    const actual = rows.filter((row) => row.table === table)
    const unknown = actual.filter(({ name }) => !expected.some((column) => column.name === name))
    const problems = expected.flatMap(({ name, type, nullable }) => {
      const found = actual.find((column) => column.name === name)
      if (!found) return [` lacks the column ${name}`]
      return [
        ...(found.type === type ? [] : [`: ${name} is ${found.type}, expected ${type}`]),
        ...(found.nullable === nullable ? [] : [`: ${name} must ${nullable ? '' : 'not '}be nullable`]),
      ]
    })
    problems.push(...unknown.map(({ name }) => ` has an unknown column ${name}`))
    return problems.map((problem) => `table ${table}${problem}`)
  })
}
