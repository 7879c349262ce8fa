import type { Database } from '../../database/database.ts'
import { usesPooler } from '../../database/pool.ts'
import { readServerFacts, type ServerFacts } from '../../database/server-facts.ts'
import { sessionSettings } from '../../database/session.ts'

/** Values of LC_CTYPE that fold the case of ASCII letters only. */
const ASCII_ONLY = /^(?:C|POSIX)$/

/** Two checks: the server and the effective session settings, each as a description with its problems. */
export async function inspectSession({ pool, check }: Database): Promise<[string, readonly string[]][]> {
  const facts = await readServerFacts(pool)
  const { rows } = await pool.query<{ name: string; value: string }>(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS setting (name)',
    [Object.keys(sessionSettings())],
  )
  const settings = rows.map(({ name, value }) => `${name} ${value}`).join('; ')
  const holder = (await usesPooler(pool)) ? 'each transaction, through a pooler' : 'session'
  const wrong = await check().then(
    () => [],
    (error: Error) => [error.message],
  )
  return [
    [`server: ${describe(facts)}`, facts.isStandby ? ['The server is a standby and accepts no writes'] : []],
    [`${holder}: ${settings}`, wrong],
  ]
}

function describe({ version, encoding, collation, ctype }: ServerFacts): string {
  const limit = ASCII_ONLY.test(ctype) ? ' (unique names ignore case for A to Z only)' : ''
  return `PostgreSQL ${version}, encoding ${encoding}, collation ${collation}, LC_CTYPE ${ctype}${limit}`
}
