import { DatabaseError } from 'pg'
import type { Database } from '../../database/database.ts'
import type { DatabaseClient } from '../../database/database-client.ts'
import { type WrongPart, wrongParts } from '../../database/migrations/parts.ts'
import { NAMED } from './named.ts'

/** Tables, columns, functions, constraints, indexes and triggers that are not as the migrations make them. */
export async function partProblems(database: Database, migrations: string): Promise<string[]> {
  const wrong = await wrongParts(database.connection, migrations)
  const { rows } = await database.pool.query<{ remedy: string }>(REPLICA)
  return [
    ...rows.map(({ remedy }) => `no trigger fires in the sessions of other programs; run ${remedy}`),
    ...wrong.map((part) => `${part.part} is ${part.state}; ${adviceFor(part)}`),
  ]
}

/** A setting for bulk loads, which was left. The sessions of the service set their own. */
const REPLICA = `SELECT concat(
    CASE WHEN setrole = 0 THEN 'ALTER DATABASE ' || quote_ident(current_database())
      ELSE concat('ALTER ROLE ', setrole::regrole, ' IN DATABASE ' || quote_ident(datname)) END,
    ' RESET session_replication_role') AS remedy
  FROM pg_db_role_setting LEFT JOIN pg_database ON pg_database.oid = setdatabase
  WHERE 'session_replication_role=replica' = ANY(setconfig) AND COALESCE(datname, current_database()) = current_database()`

/** A function is too long for a line. */
function adviceFor({ part, remedy }: WrongPart): string {
  if (remedy === undefined) return 'compare it with the migrations, and restore it'
  const statement = part.startsWith('function ') || remedy.length > 300 ? '' : `, or ${remedy}`
  return `run npx halgraph doctor --repair${statement}`
}

/** What rows contradict cannot be made. */
export async function repairParts(database: Database, migrations: string) {
  const done: string[] = []
  const refused: string[] = []
  for (const { part, state, remedy } of await wrongParts(database.connection, migrations)) {
    if (remedy === undefined) continue
    await database.pool.query(remedy).then(
      () => done.push(`${state === 'disabled' ? 'enabled' : 'made'} ${part}`),
      (error) => {
        if (!(error instanceof DatabaseError)) throw error
        refused.push(`${part} cannot be made: ${[error.message, error.detail].filter(Boolean).join('. ')}`)
      },
    )
  }
  return { done, refused }
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
