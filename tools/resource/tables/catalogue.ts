import type { Transaction } from '@electric-sql/pglite'

/** An existing table, as PostgreSQL describes it. */
export interface StoredTable {
  readonly name: string
  readonly columns: ReadonlyMap<string, StoredColumn>
  /** Definitions by name, without `NOT VALID`: either way, PostgreSQL checks later writes. */
  readonly constraints: ReadonlyMap<string, string>
  /** The names of the constraints that existing rows may violate. */
  readonly unchecked: ReadonlySet<string>
  /** Without those of constraints. */
  readonly indexes: ReadonlyMap<string, string>
  readonly triggers: ReadonlyMap<string, string>
}

interface StoredColumn {
  /** The type with its collation. */
  readonly type: string
  readonly notNull: boolean
  /** The default, or the expression of a generated column. */
  readonly default: string | null
  readonly isGenerated: boolean
}

/** Tables by name. */
export type Catalogue = ReadonlyMap<string, StoredTable>

type Session = Pick<Transaction, 'query'>

const COLUMNS = `
  SELECT relname AS table, attname AS name,
    format_type(atttypid, atttypmod) || COALESCE(' COLLATE ' || quote_ident(NULLIF(collname, 'default')), '') AS type,
    attnotnull AS "notNull", pg_get_expr(adbin, adrelid) AS default, attgenerated <> '' AS "isGenerated"
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  LEFT JOIN pg_collation ON pg_collation.oid = attcollation
  WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
  ORDER BY relname, attnum`

const CONSTRAINTS = `
  SELECT relname AS table, conname AS name,
    replace(pg_get_constraintdef(pg_constraint.oid, true), ' NOT VALID', '') AS text, convalidated AS "isChecked"
  FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
  WHERE relnamespace = $1::regnamespace AND contype IN ('p', 'u', 'f', 'c')`

const INDEXES = `
  SELECT pg_class.relname AS table, index.relname AS name, pg_get_indexdef(indexrelid, 0, true) AS text
  FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid JOIN pg_class ON pg_class.oid = indrelid
  WHERE pg_class.relnamespace = $1::regnamespace
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))`

const TRIGGERS = `
  SELECT relname AS table, tgname AS name, pg_get_triggerdef(pg_trigger.oid, true) AS text
  FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
  WHERE relnamespace = $1::regnamespace AND NOT tgisinternal`

interface Named {
  readonly table: string
  readonly name: string
  readonly text: string
}

/**
 * Reads the tables of a schema. The schema must come first in the search path, so that the same table in two
 * schemas has the same description.
 */
export async function readCatalogue(session: Session, schema: string): Promise<Catalogue> {
  const read = async <Row>(text: string) => (await session.query<Row>(text, [schema])).rows
  const columns = await read<StoredColumn & Pick<Named, 'table' | 'name'>>(COLUMNS)
  const found = await read<Named & { readonly isChecked: boolean }>(CONSTRAINTS)
  const indexes = await read<Named>(INDEXES)
  const triggers = await read<Named>(TRIGGERS)
  const tables = [...new Set(columns.map(({ table }) => table))].map((name): StoredTable => {
    const constraints = found.filter(({ table }) => table === name)
    return {
      name,
      columns: new Map(columns.filter(({ table }) => table === name).map((column) => [column.name, column])),
      constraints: new Map(constraints.map((constraint) => [constraint.name, constraint.text])),
      unchecked: new Set(constraints.filter(({ isChecked }) => !isChecked).map((one) => one.name)),
      indexes: textsOf(name, indexes),
      triggers: textsOf(name, triggers),
    }
  })
  return new Map(tables.map((table) => [table.name, table]))
}

function textsOf(name: string, objects: readonly Named[]): ReadonlyMap<string, string> {
  return new Map(objects.flatMap(({ table, name: of, text }) => (table === name ? [[of, text]] : [])))
}

/** A table is served if `serve_resource` made its triggers. */
export function isServed({ triggers }: StoredTable): boolean {
  return [...triggers.values()].some((text) => text.includes('resource_before_insert('))
}

/** The tables to which foreign keys among these constraints refer. */
export function targetsOf(definitions: readonly string[]): string[] {
  const targets = definitions.map((text) => /^FOREIGN KEY .* REFERENCES "?(\w+)"?\(/.exec(text)?.[1])
  return [...new Set(targets.filter((target) => target !== undefined))]
}
