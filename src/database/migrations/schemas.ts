import { type Client, DatabaseError, escapeIdentifier } from 'pg'
import { DatabaseRefusedError } from '../refused.ts'
import { internalSchema } from '../session.ts'

/** PostgreSQL, appendix A. */
const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * Creates the schemas of the catalogue and of the internal tables, unless they exist. The roles that can use the first
 * can use the second.
 *
 * @throws DatabaseRefusedError if the role may not create one that is missing
 */
export async function createSchemas(client: Client, schema: string): Promise<void> {
  await createSchema(client, schema)
  const internal = internalSchema(schema)
  await createSchema(client, internal)
  const { rows } = await client.query<{ role: string }>(
    `SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role
     FROM pg_namespace AS catalogue, pg_namespace AS internal, aclexplode(catalogue.nspacl)
     WHERE catalogue.nspname = $1 AND internal.nspname = $2
       AND privilege_type = 'USAGE' AND pg_has_role(internal.nspowner, 'USAGE')`,
    [schema, internal],
  )
  for (const { role } of rows)
    await client.query(`GRANT USAGE ON SCHEMA ${escapeIdentifier(internal)} TO ${role}`)
}

/** IF NOT EXISTS would require the right to create a schema that exists. */
async function createSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
  if (rows.length > 0) return
  const name = escapeIdentifier(schema)
  try {
    await client.query(`CREATE SCHEMA ${name}`)
  } catch (cause) {
    if (!(cause instanceof DatabaseError && cause.code === INSUFFICIENT_PRIVILEGE)) throw cause
    throw new DatabaseRefusedError(
      `The schema ${name} is missing, and the role ${client.user} may not create it. Migrate as the role that owns ` +
        `the tables (docs/guides/deployment.md). If ${client.user} is to own them, execute as an administrator of the ` +
        `database: CREATE SCHEMA ${name} AUTHORIZATION ${escapeIdentifier(client.user ?? '')}`,
      { cause },
    )
  }
}
