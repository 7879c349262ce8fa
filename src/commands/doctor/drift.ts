import type { DatabaseClient } from '../../database/client.ts'
import { isAlwaysSet, kindOf } from '../../model/fields.ts'
import { type Resource, tableName } from '../../model/resource.ts'

/** A column, expected or found in information_schema. */
interface Column {
  readonly type: string
  readonly nullable: boolean
}

/** The columns of a definition; every table also has `version`. */
function columnsOf({ leaves }: Resource): Map<string, Column> {
  const columns = leaves.map(({ column, field }): [string, Column] => [
    column,
    { type: kindOf(field).dataType, nullable: !isAlwaysSet(field) },
  ])
  return new Map([...columns, ['version', { type: 'integer', nullable: false }]])
}

interface ColumnRow {
  readonly table_name: string
  readonly column_name: string
  readonly data_type: string
  readonly is_nullable: string
}

const COLUMNS = `SELECT table_name::text, column_name::text, data_type::text, is_nullable::text
  FROM information_schema.columns WHERE table_schema = current_schema()`

/** Differences between the columns of the tables and the definitions, in name, type and nullability. */
export async function tableDrift(client: DatabaseClient, resources: readonly Resource[]): Promise<string[]> {
  const rows = await client.$rows<ColumnRow>({ text: COLUMNS, values: [] })
  return resources.flatMap((resource) => {
    const table = tableName(resource.path)
    const actual = new Map(
      rows
        .filter((row) => row.table_name === table)
        .map((row): [string, Column] => [
          row.column_name,
          { type: row.data_type, nullable: row.is_nullable === 'YES' },
        ]),
    )
    return [
      ...differences(`table ${table}`, new Set(columnsOf(resource).keys()), new Set(actual.keys())),
      ...otherColumns(table, columnsOf(resource), actual),
    ]
  })
}

function otherColumns(
  table: string,
  expected: ReadonlyMap<string, Column>,
  actual: ReadonlyMap<string, Column>,
): string[] {
  return [...expected].flatMap(([name, { type, nullable }]) => {
    const found = actual.get(name)
    if (!found) return []
    return [
      ...(found.type === type ? [] : [`table ${table}: ${name} is ${found.type}, expected ${type}`]),
      ...(found.nullable === nullable
        ? []
        : [`table ${table}: ${name} must ${nullable ? '' : 'not '}be nullable`]),
    ]
  })
}

function differences(subject: string, expected: ReadonlySet<string>, actual: ReadonlySet<string>): string[] {
  const missing = [...expected].filter((name) => !actual.has(name))
  const unknown = [...actual].filter((name) => !expected.has(name))
  return [
    ...missing.map((name) => `${subject} lacks ${name}`),
    ...unknown.map((name) => `${subject} has unknown ${name}`),
  ]
}
