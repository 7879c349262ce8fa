import type { DatabaseClient } from '../../database/client.ts'
import { isAlwaysSet, kindOf } from '../../model/fields.ts'
import { type Resource, tableName } from '../../model/resource.ts'

interface Column {
  readonly type: string
  readonly nullable: boolean
}

/** The columns that a definition needs; every table also has `version`. */
function columnsOf({ leaves }: Resource): Map<string, Column> {
  const columns = leaves.map(({ column, field }): [string, Column] => [
    column,
    { type: kindOf(field).dataType, nullable: !isAlwaysSet(field) },
  ])
  return new Map([...columns, ['version', { type: 'integer', nullable: false }]])
}

interface ColumnRow extends Column {
  readonly table: string
  readonly name: string
}

const COLUMNS = `SELECT table_name::text AS table, column_name::text AS name, data_type::text AS type,
    is_nullable = 'YES' AS nullable
  FROM information_schema.columns WHERE table_schema = current_schema()`

/** Differences between the columns of the tables and the definitions: name, type and nullability. */
export async function tableDrift(client: DatabaseClient, resources: readonly Resource[]): Promise<string[]> {
  const rows = await client.$rows<ColumnRow>({ text: COLUMNS, values: [] })
  return resources.flatMap((resource) => {
    const table = tableName(resource.path)
    const expected = columnsOf(resource)
    const actual = new Map(rows.filter((row) => row.table === table).map((row) => [row.name, row]))
    const problems = [
      ...[...expected.keys()].filter((name) => !actual.has(name)).map((name) => ` lacks ${name}`),
      ...[...actual.keys()].filter((name) => !expected.has(name)).map((name) => ` has unknown ${name}`),
    ]
    for (const [name, { type, nullable }] of expected) {
      const found = actual.get(name)
      if (found && found.type !== type) problems.push(`: ${name} is ${found.type}, expected ${type}`)
      if (found && found.nullable !== nullable)
        problems.push(`: ${name} must ${nullable ? '' : 'not '}be nullable`)
    }
    return problems.map((problem) => `table ${table}${problem}`)
  })
}
