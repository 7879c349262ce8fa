import { type Client, DatabaseError, escapeIdentifier, escapeLiteral } from 'pg'
import { DatabaseRefusedError } from '../connection.ts'
import { isDistributed, sendBy } from '../namespaces/citus.ts'
import { internalSchema } from '../session.ts'

export const RECORD = '_prisma_migrations'

/** Migrations name them without a schema, like all tables. */
const ENGINE_TABLES = 'tombstones|tombstone_sets|row_counts|idempotency_keys|recorded_changes|change_feed'

const INTERNAL_TABLES = [RECORD, ...ENGINE_TABLES.split('|')]

/** The schema of the internal tables of a schema of resources: that of the resources if an engine keeps it on one node. */
export async function internalOf(client: Client, schema: string): Promise<string> {
  return (await isDistributed(sendBy(client), schema)) ? schema : internalSchema(schema)
}

/** The internal tables that are in the schema of the resources, where earlier versions and migrations create them. */
export async function readMisplaced(client: Client, schema: string, internal: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name
     WHERE to_regclass(format('%I.%I', $2::text, name)) IS NOT NULL
       AND to_regclass(format('%I.%I', $3::text, name)) IS NULL`,
    [INTERNAL_TABLES, schema, internal],
  )
  return rows.map(({ name }) => name)
}

/**
 * Moves internal tables out of the schema of the resources, and names their new schema in the functions that use them.
 * Then Prisma Studio lists only the resources. Triggers work with every search path, as that of postgres_fdw or of a role.
 * Send it in the transaction of each migration.
 */
export function moveStatement(schema: string, internalName = internalSchema(schema)): string {
  const resources = escapeLiteral(schema)
  const internal = escapeLiteral(internalName)
  return `DO $move$
DECLARE
  name text;
  definition text;
BEGIN
  FOREACH name IN ARRAY ARRAY[${INTERNAL_TABLES.map(escapeLiteral).join(', ')}] LOOP
    IF to_regclass(format('%I.%I', ${resources}, name)) IS NOT NULL
        AND to_regclass(format('%I.%I', ${internal}, name)) IS NULL THEN
      EXECUTE format('ALTER TABLE %I.%I SET SCHEMA %I', ${resources}, name, ${internal});
    END IF;
  END LOOP;
  FOR definition IN
    SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident(${resources}))
      AND prokind = 'f' AND prosrc ~ '\\m(FROM|INTO|UPDATE|TABLE) (${ENGINE_TABLES})\\M'
  LOOP
    EXECUTE regexp_replace(definition, '\\m(FROM|INTO|UPDATE|TABLE) (${ENGINE_TABLES})\\M',
      format('\\1 %I.\\2', ${internal}), 'g');
  END LOOP;
  FOR definition IN
    SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident(${resources}))
      AND prorettype = 'trigger'::regtype AND array_to_string(proconfig, ' ') !~ 'search_path=' IS NOT FALSE
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path TO %I, %I, pg_temp', definition, ${resources}, ${internal});
  END LOOP;
END $move$`
}

/** PostgreSQL, appendix A. */
export const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * Creates the schemas of the resources and of the internal tables. The roles that can use the first can use the second.
 *
 * @throws DatabaseRefusedError if the role may not create one that is missing
 */
export async function createSchemas(client: Client, schema: string): Promise<void> {
  await createSchema(client, schema)
  const internal = await internalOf(client, schema)
  await createSchema(client, internal)
  const { rows } = await client.query<{ role: string }>(
    `SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role
     FROM pg_namespace AS resources, pg_namespace AS internal, aclexplode(resources.nspacl)
     WHERE resources.nspname = $1 AND internal.nspname = $2
       AND privilege_type = 'USAGE' AND pg_has_role(internal.nspowner, 'USAGE')`,
    [schema, internal],
  )
  for (const { role } of rows)
    await client.query(`GRANT USAGE ON SCHEMA ${escapeIdentifier(internal)} TO ${role}`)
}

/** IF NOT EXISTS would require the right to create a schema that exists. */
async function createSchema(client: Client, schema: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
  if (rowCount) return
  const name = escapeIdentifier(schema)
  try {
    await client.query(`CREATE SCHEMA ${name}`)
  } catch (cause) {
    if (!(cause instanceof DatabaseError && cause.code === INSUFFICIENT_PRIVILEGE)) throw cause
    throw new DatabaseRefusedError(
      `The schema ${name} is missing, and the role ${client.user} may not create it. Migrate as the role that owns ` +
        `the tables (docs/guides/deployment.md). If ${client.user} should own them, run as an administrator of the ` +
        `database: CREATE SCHEMA ${name} AUTHORIZATION ${escapeIdentifier(client.user ?? '')}`,
      { cause },
    )
  }
}
