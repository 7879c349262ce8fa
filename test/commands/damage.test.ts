import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { createServerDatabase, openTestDatabase, serverTemplate } from '../helpers/database/database.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { environmentFor, runCommand as run } from '../helpers/service/commands.ts'

const server = findServer((reason) => console.log(`claims about a server: ${reason}`))

/** The tables that migrations make, and their triggers, constraints, indexes, columns, sequences and functions. */
const CATALOGUE = `CREATE TEMPORARY VIEW tables AS SELECT oid, relname AS "table", oid::regclass AS name FROM pg_class
    WHERE relnamespace IN ('public'::regnamespace, 'public_internal'::regnamespace) AND relkind = 'r'
      AND relname <> '_prisma_migrations';
  CREATE TEMPORARY VIEW triggers AS
    SELECT tables.*, tgname, pg_get_triggerdef(pg_trigger.oid) AS definition, format('trigger %s of %s', tgname, "table") AS part
    FROM pg_trigger JOIN tables ON tgrelid = tables.oid WHERE NOT tgisinternal;
  CREATE TEMPORARY VIEW constraints AS
    SELECT tables.*, contype, conname, pg_get_constraintdef(pg_constraint.oid) AS definition,
      format('constraint %s of %s', conname, "table") AS part
    FROM pg_constraint JOIN tables ON conrelid = tables.oid WHERE contype IN ('c', 'f', 'p', 'u');
  CREATE TEMPORARY VIEW indexes AS
    SELECT tables.*, indexrelid, indexrelid::regclass AS index, pg_get_indexdef(indexrelid) AS definition,
      format('index %s of %s', relname, "table") AS part
    FROM pg_index JOIN tables ON indrelid = tables.oid JOIN pg_class ON pg_class.oid = indexrelid
    WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = tables.oid AND conindid = indexrelid AND contype IN ('p', 'u'));
  CREATE TEMPORARY VIEW columns AS
    SELECT tables.*, attname, attnotnull, attidentity, format('column %s of %s', attname, "table") AS part
    FROM pg_attribute JOIN tables ON attrelid = tables.oid WHERE attnum > 0 AND NOT attisdropped;
  CREATE TEMPORARY VIEW functions AS
    SELECT oid::regprocedure AS name, format('function %s(%s)', proname, pg_get_function_identity_arguments(oid)) AS part
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')`

/**
 * Each part once: the statement that damages it, what doctor says of it, and whether --repair mends it. In an order in which the
 * statements can be executed.
 */
const DAMAGE: Readonly<Record<string, string>> = {
  missing: `SELECT 1 AS step, format('DROP TRIGGER %I ON %s', tgname, name) AS statement, part || ' is missing' AS said FROM triggers
    UNION ALL SELECT 2 + (contype <> 'f')::int, format('ALTER TABLE %s DROP CONSTRAINT %I', name, conname), part || ' is missing'
      FROM constraints
    UNION ALL SELECT 4, format('DROP INDEX %s', index), part || ' is missing' FROM indexes
    UNION ALL SELECT 5, format('ALTER TABLE %s ALTER %I DROP IDENTITY', name, attname), said FROM columns, unnest(ARRAY[
      part || ' is different', format('sequence %s_%s_seq is missing', "table", attname)]) AS said WHERE attidentity <> ''
    UNION ALL SELECT 6, format('DROP FUNCTION %s', name), part || ' is missing' FROM functions`,
  different: `SELECT 1 AS step, format('DROP TRIGGER %I ON %s;', tgname, name)
      || regexp_replace(definition, '( WHEN \\(.*\\))? EXECUTE', ' WHEN (FALSE) EXECUTE') AS statement,
      part || ' is different' AS said FROM triggers
    UNION ALL SELECT 2, format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I %s', name, conname,
      CASE contype WHEN 'c' THEN 'CHECK (TRUE)' ELSE definition || ' DEFERRABLE' END), part || ' is different'
      FROM constraints WHERE contype IN ('c', 'f')
    UNION ALL SELECT 3, format('DROP INDEX %s; %s', index, regexp_replace(definition, ' USING .*', ' ((1))')),
      part || ' is different' FROM indexes
    UNION ALL SELECT 4, format('ALTER FUNCTION %s COST 7', name), part || ' is different' FROM functions
    UNION ALL SELECT 5, format('ALTER SEQUENCE %s_%s_seq INCREMENT 2', name, attname),
      format('sequence %s_%s_seq is different', "table", attname) FROM columns WHERE attidentity <> ''
    UNION ALL SELECT 6, format('ALTER TABLE %s ALTER %I %s NOT NULL', name, attname,
      CASE WHEN attnotnull THEN 'DROP' ELSE 'SET' END), part || ' is different' FROM columns
      WHERE NOT EXISTS (SELECT FROM pg_index WHERE indrelid = oid AND indisprimary AND attname = ANY(
        SELECT key.attname FROM pg_attribute AS key WHERE key.attrelid = indexrelid)) AND attidentity = ''`,
  idle: `SELECT 1 AS step, format('ALTER TABLE %s DISABLE TRIGGER ALL', name) AS statement, part || ' is disabled' AS said
      FROM triggers
    UNION ALL SELECT 1, format('ALTER TABLE %s DISABLE TRIGGER ALL', name), part || ' is disabled' FROM constraints
      WHERE contype = 'f'
    UNION ALL SELECT 3, format('UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = %L::regclass', index),
      part || ' is invalid' FROM indexes
    UNION ALL SELECT 2, format('ALTER TABLE %s SET UNLOGGED', name), format('table %s is unlogged', "table")
      FROM tables WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE confrelid = tables.oid)`,
}

/** A database on the server, the environment of commands for it, and a session of another program. */
async function createDatabase(t: ExecutionContext, template?: string) {
  const address = server as string
  const databaseUrl = await createServerDatabase(address, t, template ?? (await serverTemplate(address)))
  const client = new pg.Client(databaseUrl)
  await client.connect()
  t.teardown(() => client.end())
  // The server accepts a hundred connections.
  const environment = { ...environmentFor({ databaseUrl, dataDir: '' }), DATABASE_POOL_SIZE: '2' }
  return { databaseUrl, environment, client }
}

for (const [state, damage] of Object.entries(DAMAGE))
  test(`doctor names each part that is ${state}, and nothing else, and mends it with --repair`, async (t) => {
    if (!server) return t.pass('there is no PostgreSQL server')
    const { environment, client } = await createDatabase(t)
    await client.query(`SET search_path TO public, public_internal; ${CATALOGUE}`)
    const { rows } = await client.query<Record<'statement' | 'said', string>>(`${damage} ORDER BY 1, 2`)
    await client.query([...new Set(rows.map(({ statement }) => statement))].join(';'))
    const expected = rows.map(({ said }) => said).sort()
    t.true(expected.length > 40)
    const named = async () => {
      const { output, errors } = await run('doctor', environment)
      t.is(errors, '')
      const lines = output.match(/(?<=^ {8})\w+ .* is (?:missing|different|disabled|invalid|unlogged)(?=;)/gm)
      return { output, lines: lines?.sort() ?? [] }
    }
    t.deepEqual((await named()).lines, expected)
    await run('doctor', environment, '--repair')
    const repaired = await named()
    // Rows may depend on what these were.
    t.deepEqual(
      repaired.lines,
      expected.filter((said) => state === 'different' && /^(?:column|sequence) /.test(said)),
    )
    if (repaired.lines.length === 0) t.notRegex(repaired.output, /^(?:FAIL|warn)/m)
  })

test('doctor names rows that were written or removed without triggers, and the service does not start', async (t) => {
  if (!server) return t.pass('there is no PostgreSQL server')
  const { environment, client } = await createDatabase(t)
  await client.query(`SET search_path TO public, public_internal;
    DROP INDEX species_scientific_name_key; DROP TABLE idempotency_keys; DELETE FROM change_feed;
    ALTER TABLE moons DISABLE TRIGGER ALL; INSERT INTO moons (id, planet_id, name) VALUES ('left', 'none', 'Left');
    INSERT INTO species (id, scientific_name) VALUES ('one', 'Same name'), ('two', 'same NAME ')`)
  const started = await run('start', { ...environment, PORT: '0' })
  t.regex(started.errors, /moons has disabled triggers \(\w+.*\): ALTER TABLE moons ENABLE TRIGGER ALL/)
  t.regex(started.errors, /change_feed has no row/)
  const { output } = await run('doctor', environment)
  for (const said of [
    'table idempotency_keys is missing',
    'change_feed has no row',
    'moons_planet_id_fkey: left of moons refer to no row of planets',
    'species.scientific_name: one, two are equal',
  ])
    t.true(output.includes(said), `${said}\n${output}`)
  await client.query("DELETE FROM species WHERE id = 'two'; DELETE FROM moons")
  await run('doctor', environment, '--repair')
  await run('restored', environment)
  t.notRegex((await run('doctor', environment)).output, /^(?:FAIL|warn)/m)
})

test('doctor names a record that lacks its first changes, or all', async (t) => {
  if (!server) return t.pass('there is no PostgreSQL server')
  const { environment, client } = await createDatabase(t)
  await client.query(`SET search_path TO public, public_internal; SET session_replication_role = replica;
    INSERT INTO recorded_changes (collection, parent_id, id, version, position, changed_date)
      SELECT 'species', '', n, 1, n, now() FROM generate_series(1, 9) AS n;
    UPDATE change_feed SET last_position = 9, highest_version = 9`)
  const feed = async () =>
    (await run('doctor', environment)).output.match(/^\w+ +feed of changes(?:\n .*)?/m)?.[0]
  t.is(await feed(), 'ok    feed of changes')
  for (const lost of ['position = 1', 'TRUE']) {
    await client.query(`DELETE FROM recorded_changes WHERE ${lost}`)
    const [, remedy] =
      /changes are missing, which readers would not notice; run (.*)/.exec((await feed()) ?? '') ?? []
    t.truthy(remedy, lost)
    await client.query(remedy as string)
    t.is(await feed(), 'ok    feed of changes')
    await client.query('UPDATE change_feed SET purged_position = 1')
  }
})

test('the service does not start with schemas that were renamed, or a feed behind its record', async (t) => {
  if (!server) return t.pass('there is no PostgreSQL server')
  const { databaseUrl, environment, client } = await createDatabase(t)
  const start = (parameters = '') =>
    run('start', { ...environment, DATABASE_URL: databaseUrl + parameters, PORT: '0' })
  await client.query(`INSERT INTO public_internal.recorded_changes (collection, parent_id, id, version, position, changed_date)
    VALUES ('species', '', 'one', 1, 5, now())`)
  t.regex((await start()).errors, /change_feed would give positions again: npx halgraph restored/)
  await client.query(`ALTER SCHEMA public RENAME TO app; ALTER SCHEMA public_internal RENAME TO app_internal;
    SET halgraph.purging = 'on'; DELETE FROM app_internal.recorded_changes`)
  const { errors, status } = await start('?schema=app')
  t.is(status, 1)
  t.regex(
    errors,
    /^The database is not as the migrations made it: .*does not exist. `npx halgraph doctor` names what differs.\n$/,
  )
})

test('rows that came back without triggers get versions above those of their tombstones', async (t) => {
  if (!server) return t.pass('there is no PostgreSQL server')
  const { environment, client } = await createDatabase(t)
  await client.query(`SET search_path TO public;
    INSERT INTO planets (id, name) SELECT n, 'Planet ' || n FROM generate_series(1, 3) AS n;
    INSERT INTO moons (id, planet_id, name) SELECT n, 1, 'Moon ' || n FROM generate_series(1, 1200) AS n;
    CREATE TABLE planets_backup AS TABLE planets;
    CREATE TABLE moons_backup AS TABLE moons;
    UPDATE planets SET name = name || ' again';
    DELETE FROM planets;
    SET session_replication_role = replica;
    INSERT INTO planets SELECT * FROM planets_backup;
    INSERT INTO moons SELECT * FROM moons_backup;
    RESET session_replication_role;
    DROP TABLE planets_backup, moons_backup`)
  const { output } = await run('doctor', environment)
  t.regex(
    output,
    /FAIL {2}tombstones\n +moons: 1200 rows were deleted once, such as 1, 10, .*\n +planets: 3 rows .* 1, 2, 3;/,
  )
  await run('doctor', environment, '--repair')
  t.regex((await run('doctor', environment)).output, /^ok {4}tombstones$/m)
  const versions = 'SELECT version FROM planets UNION SELECT version FROM moons ORDER BY 1'
  t.deepEqual((await client.query(versions)).rows, [{ version: 2 }, { version: 3 }])
  await client.query("UPDATE planets SET name = 'Other' WHERE id = '1'")
  t.is((await client.query("SELECT version FROM planets WHERE id = '1'")).rows[0].version, 4)
})

test('triggers fire whatever role of replication a database gives to sessions, and doctor names the setting', async (t) => {
  if (!server) return t.pass('there is no PostgreSQL server')
  const { databaseUrl, environment, client } = await createDatabase(t)
  const { rows } = await client.query('SELECT current_database() AS name')
  await client.query(`ALTER DATABASE ${rows[0].name} SET session_replication_role = replica`)
  const database = await openTestDatabase({
    databaseUrl,
    dataDir: '',
    databasePoolSize: 2,
    migrateOnStart: false,
  })
  t.teardown(database.close)
  await database.client.prisma.planet.create({ data: { id: 'one', name: 'One' } })
  t.is((await client.query('SELECT FROM public_internal.recorded_changes')).rowCount, 1)
  const forRole = `ALTER ROLE ${client.user} IN DATABASE ${rows[0].name}`
  await client.query(`ALTER DATABASE ${rows[0].name} SET halgraph.purging = 'on';
    ${forRole} SET session_replication_role = 'Replica'`)
  const named = async (parameters = '') => {
    const { output } = await run('doctor', { ...environment, DATABASE_URL: databaseUrl + parameters })
    return output.match(/(?<= suspends triggers; run ).*/g)
  }
  t.deepEqual((await named())?.sort(), [
    `ALTER DATABASE ${rows[0].name} RESET halgraph.purging`,
    `ALTER DATABASE ${rows[0].name} RESET session_replication_role`,
    `${forRole} RESET session_replication_role`,
  ])
  await client.query(`ALTER DATABASE ${rows[0].name} RESET ALL; ${forRole} RESET ALL`)
  t.is(await named(), null)
  // As that of the server.
  t.deepEqual(await named('?options=-csession_replication_role%3Dreplica'), [
    'ALTER SYSTEM RESET session_replication_role',
  ])
})

test('doctor does not call ok what it cannot compare, unless its role may not', async (t) => {
  if (!server) return t.pass('there is no PostgreSQL server')
  const { databaseUrl, environment, client } = await createDatabase(t)
  await client.query('BEGIN; LOCK TABLE public.planets')
  const { output, errors, status } = await run('doctor', { ...environment, DATABASE_TIMEOUT: '3000' })
  t.is(status, 1)
  t.is(errors, 'The database is not responding; try again.\n')
  t.notRegex(output, /cannot be checked/)
  t.regex(output, /^FAIL {2}triggers.*\n +not checked: The database refuses a statement \(55P03\)/m)
  // As another doctor does meanwhile.
  await client.query(
    'ROLLBACK; BEGIN; CREATE SCHEMA halgraph_expected; CREATE SCHEMA halgraph_expected_internal',
  )
  t.notRegex((await run('doctor', environment)).output, /^(?:FAIL|warn)/m)
  await client.query('ROLLBACK')
  const role = `halgraph_test_${randomBytes(8).toString('hex')}`
  await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'unused';
    GRANT SELECT ON ALL TABLES IN SCHEMA public, public_internal TO ${role}; GRANT USAGE ON SCHEMA public, public_internal TO ${role}`)
  t.teardown(() => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
  const url = new URL(databaseUrl)
  url.username = role
  url.password = 'unused'
  const served = () => run('doctor', { ...environment, DATABASE_URL: url.href })
  const whole = await served()
  t.is(whole.status, 0, whole.output)
  t.regex(
    whole.output,
    /^warn {2}triggers.*: not checked: The role \w+ lacks a privilege .* as the owner of the tables\.$/m,
  )
  await client.query('ALTER TABLE public.moons DISABLE TRIGGER ALL')
  t.regex((await served()).output, /^FAIL {2}disabled triggers\n.* moons has disabled triggers/m)
})

test('doctor names indexes that another version of the collation built, and knows that ICU folds all letters', async (t) => {
  if (!server) return t.pass('there is no PostgreSQL server')
  const icu = "template0 LOCALE_PROVIDER icu ICU_LOCALE 'en' LC_CTYPE 'C' LC_COLLATE 'C'"
  const { environment, client } = await createDatabase(t, icu)
  await run('migrate', environment)
  t.regex((await run('doctor', environment)).output, /^ok {4}server: .*LC_CTYPE C$/m)
  await client.query("UPDATE pg_database SET datcollversion = '1' WHERE datname = current_database()")
  const { output, errors } = await run('doctor', environment)
  t.regex(
    output,
    /The collation has version \S+, and the indexes were built with 1; run REINDEX DATABASE \w+, and then/,
  )
  t.is(errors.match(/collation version mismatch/g)?.length, 1)
})
