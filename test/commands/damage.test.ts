import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { createServerDatabase, openTestDatabase, serverTemplate } from '../helpers/database/database.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { environmentFor, runCommand as run } from '../helpers/service/commands.ts'

const server = findServer((reason) => console.log(`claims about a server: ${reason}`))

/** What tools and hands do to a database, and what doctor says of it. */
const DAMAGE: Readonly<Record<string, readonly string[]>> = {
  'DROP TRIGGER species_after_update ON species': ['trigger species_after_update of species is missing'],
  'ALTER TABLE species DISABLE TRIGGER species_before_update': [
    'trigger species_before_update of species is disabled',
  ],
  'ALTER TABLE astronauts ENABLE REPLICA TRIGGER astronauts_after_insert': [
    'trigger astronauts_after_insert of astronauts is disabled',
  ],
  'ALTER TABLE planets DISABLE TRIGGER ALL': [
    'trigger planets_before_delete of planets is disabled',
    'constraint missions_destination_planet_id_fkey of missions is disabled',
  ],
  'ALTER TABLE atmosphere DROP CONSTRAINT atmosphere_planet_id_fkey': [
    'constraint atmosphere_planet_id_fkey of atmosphere is missing',
  ],
  [`ALTER TABLE crew DROP CONSTRAINT crew_mission_id_fkey, ADD CONSTRAINT crew_mission_id_fkey
    FOREIGN KEY (mission_id) REFERENCES missions`]: ['constraint crew_mission_id_fkey of crew is different'],
  'ALTER TABLE species DROP CONSTRAINT species_id_check': [
    'constraint species_id_check of species is missing',
  ],
  'ALTER TABLE data DROP CONSTRAINT data_pkey': ['constraint data_pkey of data is missing'],
  'DROP INDEX species_scientific_name_key': ['index species_scientific_name_key of species is missing'],
  'DROP INDEX recorded_changes_position_serial_idx; CREATE INDEX recorded_changes_position_serial_idx ON recorded_changes (serial)':
    ['index recorded_changes_position_serial_idx of recorded_changes is different'],
  "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'spacecraft_name_key'::regclass": [
    'index spacecraft_name_key of spacecraft is invalid',
  ],
  'DROP FUNCTION begin_timeline': ['function begin_timeline() is missing'],
  "CREATE OR REPLACE FUNCTION change_writer() RETURNS text LANGUAGE sql STABLE AS 'SELECT current_user::text'":
    ['function change_writer() is different'],
  'DROP TABLE idempotency_keys': ['table idempotency_keys is missing'],
  'DELETE FROM change_feed': ['change_feed has no row'],
  "ALTER TABLE moons DISABLE TRIGGER ALL; INSERT INTO moons (id, planet_id, name) VALUES ('left', 'none', 'Left')":
    ['moons_planet_id_fkey: left of moons refer to no row of planets'],
  "INSERT INTO species (id, scientific_name) VALUES ('one', 'Same name'), ('two', 'same NAME ')": [
    'species.scientific_name: one, two are equal',
  ],
}

/** A database on the server, the environment of commands for it, and a session of another program. */
async function createDatabase(t: ExecutionContext, template?: string) {
  const address = server as string
  const databaseUrl = await createServerDatabase(address, t, template ?? (await serverTemplate(address)))
  const client = new pg.Client(databaseUrl)
  await client.connect()
  t.teardown(() => client.end())
  return { databaseUrl, environment: environmentFor({ databaseUrl, dataDir: '' }), client }
}

test('doctor names each part that a database lacks, and makes it with --repair', async (t) => {
  if (!server) return t.pass('there is no PostgreSQL server')
  const { environment, client } = await createDatabase(t)
  await client.query('SET search_path TO public, public_internal')
  for (const statement of Object.keys(DAMAGE))
    await client.query(statement).catch((error) => t.fail(`${statement}: ${error.message}`))
  const started = await run('start', { ...environment, PORT: '0' })
  t.regex(
    started.errors,
    /species has disabled triggers \(species_before_update\): ALTER TABLE species ENABLE TRIGGER ALL/,
  )
  t.regex(started.errors, /change_feed has no row/)
  const { output } = await run('doctor', environment)
  for (const sentence of Object.values(DAMAGE).flat())
    t.true(output.includes(sentence), `${sentence}\n${output}`)
  await client.query("DELETE FROM species WHERE id = 'two'; DELETE FROM moons")
  await run('doctor', environment, '--repair')
  await run('restored', environment)
  const repaired = await run('doctor', environment)
  t.deepEqual(repaired.output.match(/^FAIL.*\n.*/gm), null)
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
  const { output, status } = await run('doctor', environment)
  t.is(status, 1)
  t.regex(
    output,
    /no trigger fires in the sessions of other programs; run ALTER DATABASE \w+ RESET session_replication_role/,
  )
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
