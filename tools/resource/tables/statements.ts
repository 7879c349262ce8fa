import { escapeLiteral as literal, escapeIdentifier as quoted } from 'pg'
import type { Column, Constraint, Index, Table } from './table.ts'

/* No statement ends with a semicolon. */

/** Without the foreign keys, whose targets may not exist yet. */
export function createTable({ name, columns, primaryKey, checks, indexes, resource }: Table): string[] {
  const parts = [
    ...columns.map(columnText),
    ...[primaryKey, ...checks].map(
      (constraint) => `CONSTRAINT ${quoted(constraint.name)} ${constraint.text}`,
    ),
  ]
  return [
    `CREATE TABLE ${quoted(name)} (\n${parts.map((part) => `  ${part}`).join(',\n')}\n)`,
    ...indexes.map((index) => createIndex(name, index)),
    // Creates the triggers, and the constraint on identifiers.
    `SELECT serve_resource('${name}'${resource.parentField ? `, '${resource.parentField}'` : ''})`,
    ...(resource.kind === 'collection' ? [keepRowCount(name)] : []),
  ]
}

/** Creates the triggers that count rows, and counts existing rows. */
export function keepRowCount(table: string): string {
  return `SELECT keep_row_count('${table}')`
}

export function createIndex(table: string, { name, text, unique, needsTrigrams }: Index): string {
  const statement = `CREATE ${unique ? 'UNIQUE INDEX' : 'INDEX IF NOT EXISTS'} ${quoted(name)} ON ${quoted(table)} ${text}`
  return needsTrigrams ? whereSupported(name, statement) : statement
}

/**
 * Creates an index if the server has pg_trgm, and the role may add it. The extension may be in any schema.
 *
 * @param statement with `%s` for the schema of the extension
 */
export function whereSupported(name: string, statement: string): string {
  return `DO $index$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  EXECUTE format($create$${statement}$create$,
    (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_trgm'));
EXCEPTION WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
  RAISE WARNING 'Without pg_trgm, there is no index ${name}: searches read every row. %', SQLERRM;
END $index$`
}

export function dropIndex(name: string): string {
  return `DROP INDEX ${quoted(name)}`
}

export function dropTrigger(table: string, name: string): string {
  return `DROP TRIGGER ${quoted(name)} ON ${quoted(table)}`
}

export function addConstraint(table: string, { name, text }: Constraint, suffix = ''): string {
  return `ALTER TABLE ${quoted(table)} ADD CONSTRAINT ${quoted(name)} ${text}${suffix}`
}

export function dropConstraint(table: string, name: string): string {
  return `ALTER TABLE ${quoted(table)} DROP CONSTRAINT ${quoted(name)}`
}

/** Without NOT NULL: existing rows have no value yet. */
export function addColumn(table: string, { name, type, generated }: Column): string {
  return `ALTER TABLE ${quoted(table)} ADD COLUMN ${quoted(name)} ${type}${generation(generated)}`
}

function generation(expression: string | undefined): string {
  return expression === undefined ? '' : ` GENERATED ALWAYS AS (${expression}) STORED`
}

/** @param change `SET NOT NULL`, `DROP DEFAULT`, `TYPE …` */
export function alterColumn(table: string, column: string, change: string): string {
  return `ALTER TABLE ${quoted(table)} ALTER COLUMN ${quoted(column)} ${change}`
}

export function dropColumn(table: string, column: string): string {
  return `ALTER TABLE ${quoted(table)} DROP COLUMN ${quoted(column)}`
}

/** Raises the versions of rows. The trigger is disabled, because it raises them only when a column changes. */
export function raiseVersions(table: string, condition: string): string[] {
  const trigger = quoted(`${table}_before_update`)
  return [
    `ALTER TABLE ${quoted(table)} DISABLE TRIGGER ${trigger}`,
    `UPDATE ${quoted(table)} SET "version" = "version" + 1, "last_updated" = GREATEST(statement_timestamp(), "last_updated"), "changed_by" = current_user WHERE ${condition}`,
    `ALTER TABLE ${quoted(table)} ENABLE TRIGGER ${trigger}`,
  ]
}

function columnText({ name, type, notNull, generated, default: initial }: Column): string {
  const [given, always] = [initial ? ` DEFAULT ${initial}` : '', notNull ? ' NOT NULL' : '']
  return `${quoted(name)} ${type}${generation(generated)}${always}${given}`
}

/** A value in a stored response. Decimal numbers are texts there. */
export function answered(type: string, value: string): string {
  return `to_jsonb(${value}${/^numeric/i.test(type) ? '::text' : ''})`
}

/**
 * Changes a member of the recorded states before changes: a row, or an array of the rows of a large deletion.
 *
 * @param change makes the SQL expression of a state that has the member
 */
export function changeStates(path: string, member: string, change: (state: string) => string): string {
  const changed = (state: string) =>
    `CASE WHEN ${state} ? ${literal(member)} THEN ${change(state)} ELSE ${state} END`
  const rows = `SELECT jsonb_agg(${changed('one.state')} ORDER BY one.place) FROM jsonb_array_elements("before") WITH ORDINALITY AS one (state, place)`
  return `UPDATE "recorded_changes" SET "before" = CASE WHEN jsonb_typeof("before") = 'array' THEN (${rows}) ELSE ${changed('"before"')} END WHERE "collection" = ${literal(path)} AND jsonb_typeof("before") IN ('object', 'array')`
}
