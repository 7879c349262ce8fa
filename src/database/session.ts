import { defaults, escapeIdentifier, escapeLiteral } from 'pg'

// The default is the time zone of the process, whose historical offsets include seconds.
defaults.parseInputDatesAsUTC = true

/** Settings that affect the meaning of values and statements. A database or a role can have other defaults. */
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
  // With `replica`, triggers do not fire.
  session_replication_role: 'origin',
} as const

/** Only some roles may set it, even to the value that it has. */
const RESTRICTED = 'session_replication_role'

/** The schema of the tables if DATABASE_URL names none; Prisma's statements include it. */
export const DEFAULT_SCHEMA = 'public'

const INTERNAL_SUFFIX = '_internal'

/** The schema of the internal tables. PostgreSQL shortens names above 63 bytes. */
export function internalSchema(schema = DEFAULT_SCHEMA): string {
  return schema.slice(0, 63 - INTERNAL_SUFFIX.length) + INTERNAL_SUFFIX
}

/**
 * Temporary tables come last in the search path, so that they never hide a table.
 *
 * @param timeout of statements in milliseconds; 0 for none
 */
export function sessionSettings(schema = DEFAULT_SCHEMA, timeout = 0): Readonly<Record<string, string>> {
  return {
    statement_timeout: String(timeout),
    ...SETTINGS,
    search_path: searchPath(schema),
    idle_in_transaction_session_timeout: String(4 * timeout),
  }
}

function searchPath(schema = DEFAULT_SCHEMA): string {
  return [schema, internalSchema(schema), 'pg_temp'].map(escapeIdentifier).join(', ')
}

/** Changes the schema of a session. */
export function searchPathStatement(schema?: string): string {
  return `SET search_path TO ${searchPath(schema)}`
}

/** READ COMMITTED, because a standby refuses SELECT in a session whose default isolation is serializable. */
export const READ_COMMITTED = `SET transaction_isolation TO 'read committed'`
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/** Sets up a session. The settings are not start-up parameters, because PgBouncer refuses most of these. */
export function sessionStatement(schema?: string, timeout?: number): string {
  return [BEGIN, settingStatement(schema, timeout, false), 'COMMIT'].join(';')
}

/** Begins a transaction with these settings, in any session. */
export function transactionStatement(schema?: string, timeout?: number): string {
  return [BEGIN, settingStatement(schema, timeout, true)].join(';')
}

/** Give these settings to their transaction, even without BEGIN. */
export function localStatements(schema?: string, timeout?: number): readonly string[] {
  return [READ_COMMITTED, settingStatement(schema, timeout, true)]
}

function settingStatement(schema: string | undefined, timeout: number | undefined, isLocal: boolean): string {
  const calls = Object.entries(sessionSettings(schema, timeout)).map(([name, value]) => {
    const call = `pg_catalog.set_config(${escapeLiteral(name)}, ${escapeLiteral(value)}, ${isLocal})`
    return name === RESTRICTED
      ? `CASE WHEN pg_catalog.current_setting('${name}', TRUE) <> ${escapeLiteral(value)} THEN ${call} END`
      : call
  })
  return `SELECT ${calls.join(', ')}`
}

/** Selects the `name` of each setting that differs from that of a new session; of the search path, the first schema. */
export function settingsCheck(schema = DEFAULT_SCHEMA): string {
  const expected = Object.entries(SETTINGS).map(
    ([name, value]) => `(${escapeLiteral(name)}, ${escapeLiteral(value)})`,
  )
  return `SELECT name FROM (VALUES ${expected.join(', ')}) AS expected (name, value)
    WHERE pg_catalog.current_setting(name, TRUE) <> value
    UNION ALL SELECT 'search_path'
    WHERE pg_catalog.current_schema() IS DISTINCT FROM ${escapeLiteral(schema)}`
}
