/** Defaults that an administrator may give a database, and that change what values and statements mean. */
const HOSTILE = {
  timezone: "'America/New_York'",
  datestyle: "'German, DMY'",
  intervalstyle: "'sql_standard'",
  extra_float_digits: '0',
  bytea_output: "'escape'",
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  client_encoding: "'LATIN1'",
  default_transaction_isolation: "'serializable'",
  search_path: 'nowhere',
}

/** The statements that give them to a database. */
export function hostileDefaults(database: string): string {
  return Object.entries(HOSTILE)
    .map(([name, value]) => `ALTER DATABASE ${database} SET ${name} TO ${value}`)
    .join(';')
}
