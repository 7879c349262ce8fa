import type { DatabaseClient } from '../../database/client.ts'
import { isAlwaysSet, kindOf } from '../../model/fields.ts'
import { type Resource, tableName } from '../../model/resource.ts'

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly nullable: boolean
}

const COLUMNS = `SELECT table_name::text AS table, column_name::text AS name, data_type::text AS type,
    is_nullable = 'YES' AS nullable
  FROM information_schema.columns WHERE table_schema = current_schema()`

/** Differences between the columns of the tables and the definitions: name, type and nullability. */
export async function tableDrift(client: DatabaseClient, resources: readonly Resource[]): Promise<string[]> {
  const rows = await client.$rows<Column>({ text: COLUMNS, values: [] })
  return resources.flatMap(({ path, leaves }) => {
    const table = tableName(path)
    const expected = leaves.map(({ column: name, field }) => {
      return { name, type: kindOf(field).dataType, nullable: !isAlwaysSet(field) }
    })
    expected.push({ name: 'version', type: 'integer', nullable: false })
    const actual = rows.filter((row) => row.table === table)
    const unknown = actual.filter(({ name }) => !expected.some((column) => column.name === name))
    const problems = expected.flatMap(({ name, type, nullable }) => {
      const found = actual.find((column) => column.name === name)
      if (!found) return [` lacks ${name}`]
      return [
        ...(found.type === type ? [] : [`: ${name} is ${found.type}, expected ${type}`]),
        ...(found.nullable === nullable ? [] : [`: ${name} must ${nullable ? '' : 'not '}be nullable`]),
      ]
    })
    return [...problems, ...unknown.map(({ name }) => ` has unknown ${name}`)].map(
      (problem) => `table ${table}${problem}`,
    )
  })
}
