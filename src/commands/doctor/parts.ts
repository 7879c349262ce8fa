import { DatabaseError } from 'pg'
import type { Connection } from '../../database/connection.ts'
import type { Database } from '../../database/database.ts'
import type { DatabaseClient } from '../../database/database-client.ts'
import { type WrongPart, wrongParts } from '../../database/migrations/parts.ts'
import { withSession } from '../../database/migrations/session.ts'

/** The rows, or groups of them, that a problem names. */
export const NAMED = 20

/** Tables, columns, functions, constraints, indexes and triggers that are not as the migrations make them. */
export async function partProblems(database: Database, migrations: string): Promise<string[]> {
  const wrong = await wrongParts(database.connection, migrations)
  return wrong.map((part) => `${part.part} is ${part.state}; ${adviceFor(part)}`)
}

/** A function is too long for a line. */
function adviceFor({ part, remedy }: WrongPart): string {
  if (remedy === undefined) return 'compare it with the migrations, and restore it'
  const statement = part.startsWith('function ') || remedy.length > 300 ? '' : `, or ${remedy}`
  return `run npx halgraph doctor --repair${statement}`
}

/** Settings for bulk loads, which were left, and those that functions of the database set for a transaction. */
const SUSPENDED = `WITH given AS (
    SELECT setting, concat(
      CASE WHEN setrole = 0 AND setdatabase <> 0 THEN 'ALTER DATABASE ' || quote_ident(datname)
        ELSE concat('ALTER ROLE ', CASE WHEN setrole = 0 THEN 'ALL' ELSE setrole::regrole::text END,
          ' IN DATABASE ' || quote_ident(datname)) END,
      ' RESET ', split_part(setting, '=', 1)) AS remedy
    FROM pg_db_role_setting LEFT JOIN pg_database ON pg_database.oid = setdatabase, unnest(setconfig) AS setting
    WHERE setting ~* '^(session_replication_role=replica|halgraph\\.(buried|purging|unseen)=.)'
      AND COALESCE(datname, current_database()) = current_database()
  )
  SELECT setting, remedy FROM given
  UNION ALL SELECT concat(name, '=', reset_val), concat('ALTER SYSTEM RESET ', name) FROM pg_settings
    WHERE name = 'session_replication_role' AND reset_val = 'replica' AND NOT EXISTS (SELECT FROM given)`

/** Whose sessions have them, the statement says. */
export async function settingProblems({ pool }: Database): Promise<string[]> {
  const { rows } = await pool.query<Record<'setting' | 'remedy', string>>(SUSPENDED)
  return rows.map(({ setting, remedy }) => `${setting} suspends triggers; run ${remedy}`)
}

/**
 * Again as long as that helps, because parts depend on each other; in a session in which statements may be long. What rows
 * contradict cannot be made.
 */
export async function repairParts(
  connection: Connection,
  migrations: string,
  done: readonly string[] = [],
): Promise<Record<'done' | 'refused', readonly string[]>> {
  const made: string[] = []
  const refused: string[] = []
  const wrong = await wrongParts(connection, migrations)
  await withSession(connection, async (transact) => {
    for (const { part, state, remedy } of wrong) {
      if (remedy === undefined) continue
      await transact((client) => client.query(remedy)).then(
        () => made.push(`${state === 'missing' || state === 'different' ? 'made' : 'mended'} ${part}`),
        (error) => {
          if (!(error instanceof DatabaseError)) throw error
          refused.push(`${part} cannot be made: ${[error.message, error.detail].filter(Boolean).join('. ')}`)
        },
      )
    }
  })
  const all = [...done, ...made]
  if (made.length > 0 && refused.length > 0) return repairParts(connection, migrations, all)
  return { done: all, refused }
}

const FOREIGN_KEYS = `SELECT conname AS name, conrelid::regclass AS child, confrelid::regclass AS parent,
    (SELECT string_agg(format('child.%I = parent.%I', child.attname, parent.attname), ' AND ')
      FROM unnest(conkey, confkey) AS pair (child, parent)
        JOIN pg_attribute AS child ON child.attrelid = conrelid AND child.attnum = pair.child
        JOIN pg_attribute AS parent ON parent.attrelid = confrelid AND parent.attnum = pair.parent) AS equal,
    (SELECT string_agg(format('child.%I IS NOT NULL', attname), ' AND ') FROM pg_attribute
      WHERE attrelid = conrelid AND attnum = ANY(conkey)) AS present
  FROM pg_constraint WHERE contype = 'f' AND connamespace = quote_ident(current_schema())::regnamespace`

/** Rows that were written or kept while the triggers of foreign keys were disabled. */
export async function foreignKeyProblems(client: DatabaseClient): Promise<string[]> {
  type Key = Readonly<Record<'name' | 'child' | 'parent' | 'equal' | 'present', string>>
  const keys = await client.$rows<Key>({ text: FOREIGN_KEYS, values: [] })
  const problems = keys.map(async ({ name, child, parent, equal, present }) => {
    const text = `SELECT child.id FROM ${child} AS child
      WHERE ${present} AND NOT EXISTS (SELECT FROM ${parent} AS parent WHERE ${equal}) ORDER BY 1 LIMIT ${NAMED}`
    const ids = (await client.$rows<{ id: string }>({ text, values: [] })).map(({ id }) => id)
    return ids.length === 0
      ? []
      : [`${name}: ${ids.join(', ')} of ${child} refer to no row of ${parent}; restore it, or delete them`]
  })
  return (await Promise.all(problems)).flat()
}
