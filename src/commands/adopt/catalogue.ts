import type { ClientBase } from 'pg'

/** A column of a foreign table. */
export interface Column {
  readonly name: string
  /** As PostgreSQL writes it, such as `numeric(10,2)`; of a domain, its base. */
  readonly type: string
  readonly required: boolean
  readonly generated: boolean
  readonly comment: string | null
  /** The values of an enumeration. */
  readonly values: readonly string[] | null
}

/** A primary key, a unique constraint, or a reference with its target and what a deletion does. */
export interface Constraint {
  readonly kind: 'p' | 'u' | 'f' | 'c'
  readonly name: string
  readonly columns: readonly string[]
  readonly target: string | null
  readonly targetColumns: readonly string[] | null
  readonly onDelete: 'a' | 'r' | 'c' | 'n' | 'd'
  readonly definition: string
}

export interface Table {
  readonly name: string
  readonly comment: string | null
  /** An estimate; -1 if the table was never analysed. */
  readonly rows: number
  readonly columns: readonly Column[]
  readonly constraints: readonly Constraint[]
}

/** Tables that other tools keep for themselves: Directus, Hasura, Strapi, Django, and those that migrate. */
export const OWN_TABLES =
  /^(directus_|hdb_|strapi_|up_(users|roles|permissions)|admin_(users|roles|permissions)|files_|upload_folders|i18n_locale|django_|auth_(user|group|permission)|_prisma_|knex_|flyway_|databasechangelog|schema_migrations|ar_internal_metadata|spatial_ref_sys)/

/** The tables of a schema, without views and partitions. */
export async function readTables(client: ClientBase, schema: string): Promise<Table[]> {
  const names = (keys: string, relation: string) =>
    `(SELECT json_agg(attname ORDER BY place) FROM unnest(${keys}) WITH ORDINALITY AS key (number, place)
      JOIN pg_attribute ON attrelid = ${relation} AND attnum = number)`
  const { rows } = await client.query<Table>(
    `SELECT relname AS name, obj_description(c.oid, 'pg_class') AS comment, c.reltuples::float8 AS rows,
      (SELECT coalesce(json_agg(json_build_object('name', attname, 'required', attnotnull, 'generated', attgenerated <> '',
            'type', format_type(coalesce(nullif(typbasetype, 0), atttypid), CASE WHEN typbasetype = 0 THEN atttypmod ELSE typtypmod END),
            'comment', col_description(c.oid, attnum),
            'values', (SELECT json_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = atttypid)
          ) ORDER BY attnum), '[]')
        FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns,
      (SELECT coalesce(json_agg(json_build_object('kind', contype, 'name', conname, 'columns', coalesce(${names('conkey', 'conrelid')}, '[]'),
            'target', (SELECT relname FROM pg_class WHERE oid = confrelid),
            'targetColumns', ${names('confkey', 'confrelid')}, 'onDelete', confdeltype,
            'definition', pg_get_constraintdef(pg_constraint.oid)) ORDER BY conname), '[]')
        FROM pg_constraint WHERE conrelid = c.oid AND contype IN ('p', 'u', 'f', 'c')) AS constraints
     FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`,
    [schema],
  )
  return rows
}

/** What the rows of a table show, which its types do not: by column. */
export interface Measure {
  /** The most characters of a text, or bytes of JSON. */
  readonly length: number
  readonly hasBlank: boolean
  /** The most decimal places of a number. */
  readonly scale: number
}

/** Reads all rows of a table once. */
export async function measure(
  client: ClientBase,
  table: string,
  columns: readonly Column[],
): Promise<ReadonlyMap<string, Measure>> {
  const selected = columns.map(({ name, type }, index) => {
    const column = client.escapeIdentifier(name)
    const scale = type.startsWith('numeric') ? `max(scale(${column}))` : '0'
    return `json_build_object('length', coalesce(max(length(${column}::text)), 0), 'scale', coalesce(${scale}, 0),
      'hasBlank', coalesce(bool_or(btrim(${column}::text) = ''), false)) AS c${index}`
  })
  if (selected.length === 0) return new Map()
  const { rows } = await client.query<Record<string, Measure>>(`SELECT ${selected.join(', ')} FROM ${table}`)
  return new Map(columns.map(({ name }, index) => [name, rows[0]?.[`c${index}`] as Measure]))
}
