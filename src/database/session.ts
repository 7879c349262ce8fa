import { defaults, escapeIdentifier, escapeLiteral } from 'pg'

// The default is the time zone of the process, whose historical offsets include seconds.
defaults.parseInputDatesAsUTC = true

/**
 * The settings that affect the meaning of values and statements. Every session sets them, or every transaction
 * where a pooler shares sessions, because the defaults of the server, the database or the role may differ.
 */
const SETTINGS = {
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
} as const

/** The schema of the tables if DATABASE_URL names none; Prisma's statements include it. */
export const DEFAULT_SCHEMA = 'public'

const INTERNAL_SUFFIX = '_internal'

/** PostgreSQL shortens longer names. */
const LONGEST_NAME = 63

/** The schema of the tables that are not part of the catalogue, beside the schema of the catalogue. */
export function internalSchema(schema = DEFAULT_SCHEMA): string {
  return schema.slice(0, LONGEST_NAME - INTERNAL_SUFFIX.length) + INTERNAL_SUFFIX
}

/**
 * The settings of a session, by PostgreSQL's names. The timeout of statements comes first, so that it holds for the
 * statements that set the others. Temporary tables come last in the search path, so that they never hide a table.
 *
 * @param timeout of statements in milliseconds; 0 for none
 */
export function sessionSettings(schema = DEFAULT_SCHEMA, timeout = 0): Readonly<Record<string, string>> {
  return {
    statement_timeout: String(timeout),
    ...SETTINGS,
    search_path: [schema, internalSchema(schema), 'pg_temp'].map(escapeIdentifier).join(', '),
    idle_in_transaction_session_timeout: String(4 * timeout),
  }
}

/**
 * The first statement of a session. It is not a list of start-up parameters, because PgBouncer refuses most of
 * them, and it does not call set_config, because SELECT fails on a standby whose default isolation is
 * serializable.
 */
export function sessionStatement(schema?: string, timeout?: number): string {
  return assignments('SET', schema, timeout).join(';')
}

/** Begins a transaction that has these settings until it ends, in any session. */
export function transactionStatement(schema?: string, timeout?: number): string {
  return ['BEGIN ISOLATION LEVEL READ COMMITTED', ...assignments('SET LOCAL', schema, timeout)].join(';')
}

/**
 * Statements that give these settings to the transaction that they are part of, even one that no BEGIN has begun,
 * where SET LOCAL would warn. The first one needs no snapshot, so that it can change the isolation of the others.
 */
export function localStatements(schema?: string, timeout?: number): readonly string[] {
  const calls = Object.entries(sessionSettings(schema, timeout)).map(
    ([name, value]) => `pg_catalog.set_config(${escapeLiteral(name)}, ${escapeLiteral(value)}, true)`,
  )
  return [`SET transaction_isolation TO 'read committed'`, `SELECT ${calls.join(', ')}`]
}

function assignments(command: string, schema?: string, timeout?: number): string[] {
  const { search_path, ...settings } = sessionSettings(schema, timeout)
  const statements = Object.entries(settings).map(
    ([name, value]) => `${command} ${name} TO ${escapeLiteral(value)}`,
  )
  return [...statements, `${command} search_path TO ${search_path}`]
}

/**
 * Selects the `name` of each setting that differs from that of a new session. For the search path, it compares
 * the first schema, because PostgreSQL rewrites the text.
 */
export function settingsCheck(schema = DEFAULT_SCHEMA): string {
  const expected = Object.entries(SETTINGS).map(
    ([name, value]) => `(${escapeLiteral(name)}, ${escapeLiteral(value)})`,
  )
  return `SELECT name FROM (VALUES ${expected.join(', ')}) AS expected (name, value)
    WHERE pg_catalog.current_setting(name) <> value
    UNION ALL SELECT 'search_path'
    WHERE pg_catalog.current_schema() IS DISTINCT FROM ${escapeLiteral(schema)}`
}
