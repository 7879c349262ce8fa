import { type Client, DatabaseError } from 'pg'
import { MIGRATION_LOCK } from './migration-state.ts'
import { createSchemas } from './schemas.ts'
import type { Transact } from './session.ts'

const ADVISORY_LOCKS = `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK});
  SELECT 1 / count(*) FROM pg_locks
    WHERE locktype = 'advisory' AND objid = ${MIGRATION_LOCK} AND pid = pg_backend_pid()`

/**
 * What the migrations and the statements of the service need beyond advisory locks and standard SQL, each with
 * statements that fail without it. Some engines accept a statement and ignore it, so these also check its effect: they
 * divide by the number of rows that show it. They run in this order.
 */
const FEATURES: Readonly<Record<string, string>> = {
  'isolation level read committed': `
    SELECT 1 / count(*) FROM (SELECT) AS one WHERE current_setting('transaction_isolation') = 'read committed'`,
  'tables with identity columns, arrays, jsonb and COLLATE "C"': `CREATE TABLE halgraph_probe (
      id text COLLATE "C" PRIMARY KEY, number bigint GENERATED ALWAYS AS IDENTITY, names text[] COLLATE "C", value jsonb,
      moment timestamptz(3) NOT NULL DEFAULT statement_timestamp()) WITH (fillfactor = 20);
    SELECT 1 / count(*) FROM (SELECT) AS one WHERE 'B' < 'a' COLLATE "C"`,
  'foreign keys with ON DELETE CASCADE': `CREATE TABLE halgraph_probe_owned (
      id text COLLATE "C" PRIMARY KEY REFERENCES halgraph_probe ON DELETE CASCADE);
    INSERT INTO halgraph_probe (id) VALUES ('parent');
    INSERT INTO halgraph_probe_owned VALUES ('parent');
    DELETE FROM halgraph_probe;
    SELECT 1 / (1 - count(*)) FROM halgraph_probe_owned`,
  'SQL functions, and unique indexes on them': `CREATE FUNCTION halgraph_probe_folded(name text) RETURNS text
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT lower(btrim(name) COLLATE "default") $$;
    CREATE UNIQUE INDEX ON halgraph_probe (halgraph_probe_folded(id))`,
  'CHECK constraints that are NOT VALID': `
    ALTER TABLE halgraph_probe ADD CHECK (id ~ '^[A-Za-z0-9._~-]{1,64}$' AND halgraph_probe_folded(id) <> '') NOT VALID`,
  'PL/pgSQL with EXECUTE, PERFORM, FOUND and GET DIAGNOSTICS': `DO $$ DECLARE changed bigint; BEGIN
      EXECUTE format('UPDATE %I SET value = NULL', 'halgraph_probe');
      PERFORM 1 WHERE NOT FOUND;
      GET DIAGNOSTICS changed = ROW_COUNT;
    END $$`,
  'row triggers, with arguments from 0': `CREATE FUNCTION halgraph_probe_before() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.value := to_jsonb(TG_ARGV[0]); RETURN NEW; END $$;
    CREATE TRIGGER probe_before BEFORE INSERT ON halgraph_probe FOR EACH ROW WHEN (pg_trigger_depth() = 0)
      EXECUTE FUNCTION halgraph_probe_before('argument');
    INSERT INTO halgraph_probe (id) VALUES ('row');
    SELECT 1 / count(*) FROM halgraph_probe WHERE value = '"argument"'`,
  'triggers of TRUNCATE': `CREATE FUNCTION halgraph_probe_truncate() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RETURN NULL; END $$;
    CREATE TRIGGER probe_truncate BEFORE TRUNCATE ON halgraph_probe FOR EACH STATEMENT
      EXECUTE FUNCTION halgraph_probe_truncate()`,
  'row locks, with SKIP LOCKED': `SELECT id FROM halgraph_probe FOR SHARE;
    SELECT id FROM halgraph_probe LIMIT 1 FOR UPDATE SKIP LOCKED`,
  'ON CONFLICT DO UPDATE': `INSERT INTO halgraph_probe (id) VALUES ('row')
    ON CONFLICT (id) DO UPDATE SET moment = EXCLUDED.moment RETURNING id`,
  'lateral joins and date_trunc in a time zone': `SELECT 1 FROM halgraph_probe AS parent LEFT JOIN LATERAL
      (SELECT id FROM halgraph_probe_owned WHERE id = parent.id LIMIT 1) AS listed ON TRUE
    WHERE date_trunc('day', parent.moment, 'UTC') > '2000-01-01' AND parent.id = ANY(ARRAY['row'])`,
}

/**
 * PostgreSQL, appendix A. A missing privilege, a read-only server, a conflict, or one that has no resources or stops, is not a
 * missing feature. Engines answer anything else for what they lack, also an internal error.
 */
const DIVISION_BY_ZERO = '22012'
const OTHER_CAUSES = /^(?:42501|08|25|40|53|57)/

/**
 * Lists the features that a server lacks, each with a reason. Each is tried in a transaction of its own, after those that the
 * server has, and undone: savepoints between definitions are a feature that distributed engines lack, and that nothing else needs.
 *
 * @throws {DatabaseError} if the role may not create tables, or the server is read-only, for instance
 */
export async function missingFeatures(transact: Transact, schema: string): Promise<string[]> {
  const missing: string[] = []
  const present: string[] = []
  const attempt = (work: (client: Client) => Promise<unknown>) =>
    transact(work, 'ROLLBACK').then(() => undefined, reasonOf)
  const unlocked = await attempt((client) => client.query(ADVISORY_LOCKS))
  if (unlocked !== undefined) missing.push(`advisory locks (${unlocked})`)
  for (const [feature, statements] of Object.entries(FEATURES)) {
    const reason = await attempt(async (client) => {
      // First the lock of migrations, since another process may be creating the same schemas.
      if (unlocked === undefined) await client.query(ADVISORY_LOCKS)
      await createSchemas(client, schema)
      await client.query([...present, statements].join(';\n'))
    })
    if (reason === undefined) present.push(statements)
    else missing.push(`${feature} (${reason})`)
  }
  return missing
}

function reasonOf(error: unknown): string {
  if (!(error instanceof DatabaseError)) throw error
  const { code = '', message } = error
  if (code === DIVISION_BY_ZERO) return 'it has no effect'
  if (OTHER_CAUSES.test(code)) throw error
  return message
}
