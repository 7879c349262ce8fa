import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { Client, type ClientConfig, type QueryResult } from 'pg'
import { DatabaseRefusedError, parseConnection } from '../../src/database/connection.ts'
import { migrate, migrationState } from '../../src/database/migrations/migrator.ts'
import { sessionStatement } from '../../src/database/session.ts'
import { numberChanges } from '../../src/features/history/feed/upkeep.ts'
import { tableName } from '../../src/model/definition/resource.ts'
import {
  createEmptyDatabase,
  createServerDatabase,
  createTestDatabase,
  openTestDatabase,
} from '../helpers/database/database.ts'
import { makeFormerDatabase } from '../helpers/database/former-database.ts'
import { purgeChanges } from '../helpers/database/purge-changes.ts'
import { resources, tables } from '../helpers/domain/domain.ts'

const { migrations } = tables
const server = process.env['TEST_DATABASE_URL']
const claim = server ? test : test.skip
if (!server) console.log('internal schema: TEST_DATABASE_URL is not set, so half of the claims are skipped')

const INTERNAL = [
  '_prisma_migrations',
  'change_feed',
  'idempotency_keys',
  'recorded_changes',
  'row_counts',
  'tombstone_sets',
  'tombstones',
]

async function connect(t: ExecutionContext, connection: ClientConfig, schema?: string): Promise<Client> {
  const client = new Client(connection)
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  await client.query(sessionStatement(schema))
  return client
}

/** A database as a version left it that had all tables in one schema, with a deleted planet. */
async function formerDatabase(t: ExecutionContext) {
  const connection = await createEmptyDatabase(t)
  const client = await connect(t, connection)
  await makeFormerDatabase(client, migrations)
  await client.query(`
    INSERT INTO planets (id, name) VALUES ('one', 'One'), ('gone', 'Gone');
    UPDATE planets SET name = 'Gone again' WHERE id = 'gone';
    DELETE FROM planets WHERE id = 'gone';`)
  return { connection, client }
}

async function tablesIn(client: Pick<Client, 'query'>, schema: string): Promise<string[]> {
  const text = 'SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY 1'
  const { rows } = await client.query<{ tablename: string }>(text, [schema])
  return rows.map(({ tablename }) => tablename)
}

const resourceTables = () => resources.map(({ path }) => tableName(path)).sort()

test('the schema of the resources has the tables of the resources and no others', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  t.deepEqual(await tablesIn(database.pool, 'public'), resourceTables())
  t.deepEqual(await tablesIn(database.pool, 'public_internal'), INTERNAL)
})

test('no function depends on the search path to find an internal table', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  const using = async (pattern: string) => {
    const { rows } = await database.pool.query<{ proname: string }>(
      'SELECT proname FROM pg_proc WHERE prosrc ~ $1 AND pronamespace = $2::regnamespace ORDER BY 1',
      [pattern, 'public'],
    )
    return rows.map(({ proname }) => proname)
  }
  const names = '(tombstones|tombstone_sets|row_counts|idempotency_keys|recorded_changes|change_feed)'
  t.deepEqual(await using(`(?<!public_internal\\.)\\m${names}\\M`), [])
  t.true((await using(`public_internal\\.${names}`)).length >= 5)
})

test('rows can be written with any search path', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  const { rows } = await database.pool
    .query(`BEGIN; SET LOCAL search_path TO pg_catalog;
    INSERT INTO public.planets (id, name) VALUES ('one', 'One');
    INSERT INTO public.species (id, scientific_name, planet_origin) VALUES ('two', 'Two', 'one');
    UPDATE public.species SET habitat = 'cave';
    DELETE FROM public.species;
    COMMIT; SELECT array_agg(event ORDER BY serial) AS events FROM recorded_changes`)
    .then((results) => (results as unknown as QueryResult[]).at(-1) as QueryResult)
  t.deepEqual(rows[0].events.slice(0, 4), ['created', 'created', 'changed', 'deleted'])
})

test('the record of changes cannot be emptied by hand, which readers of the feed would not notice', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await database.client.prisma.planet.create({ data: { id: 'one', name: 'One' } })
  for (const statement of ['DELETE FROM recorded_changes', 'TRUNCATE recorded_changes'])
    await t.throwsAsync(database.pool.query(statement), { message: /would hide changes from the readers/ })
  await purgeChanges(database)
  t.is((await database.pool.query('SELECT FROM recorded_changes')).rowCount, 0)
})

test('where a sequence is far behind its record, changes follow those of before, and each has a position', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  const { pool } = database
  const far = 3_000_000_000
  const moveTo = (number: number) =>
    pool.query(`SELECT setval(pg_get_serial_sequence('recorded_changes', 'serial'), ${number})`)
  await moveTo(far)
  await pool.query("INSERT INTO planets (id, name) VALUES ('one', 'One'), ('two', 'Two')")
  await moveTo(1)
  await pool.query("UPDATE planets SET name = name || ' again'")
  const { rows } = await pool.query('SELECT serial::float8 FROM recorded_changes ORDER BY 1')
  t.true(rows.every(({ serial }) => serial >= far && serial < far + 10))
  await numberChanges(database.client)
  const numbered = await pool.query('SELECT count(DISTINCT position)::int AS positions FROM recorded_changes')
  t.is(numbered.rows[0].positions, 4)
  for (const sequence of ['recorded_changes_serial_seq', 'row_counts_slot_seq'])
    await pool.query(`SELECT setval('public_internal.${sequence}', 1)`)
  await pool.query('SELECT follow_rows()')
  await pool.query("INSERT INTO planets (id, name) VALUES ('three', 'Three')")
  t.is((await pool.query(`SELECT FROM recorded_changes WHERE serial > ${far + 4}`)).rowCount, 1)
})

test('several processes at once move the internal tables of a former version, and lose nothing', async (t) => {
  const { connection, client } = await formerDatabase(t)
  const record = 'SELECT * FROM _prisma_migrations ORDER BY migration_name'
  const before = await client.query(record)
  const { misplaced } = await migrationState(connection, migrations)
  t.deepEqual(misplaced.sort(), INTERNAL)
  t.deepEqual((await Promise.all([1, 2, 3].map(() => migrate(connection, migrations)))).flat(), [])
  t.deepEqual((await migrationState(connection, migrations)).misplaced, [])
  t.deepEqual((await client.query(record)).rows, before.rows)
  t.deepEqual(await tablesIn(client, 'public'), resourceTables())
  t.deepEqual(await tablesIn(client, 'public_internal'), INTERNAL)
  // As psql does, whose search path is the default.
  await client.query('SET search_path TO public')
  const inserted = await client.query(
    "INSERT INTO planets (id, name) VALUES ('gone', 'Gone') RETURNING version",
  )
  t.deepEqual(inserted.rows, [{ version: 3 }])
  await client.query('DELETE FROM planets')
  await client.query('SELECT recount_rows($1)', ['planets'])
  const counts =
    "SELECT COALESCE(sum(rows), 0)::int AS rows FROM public_internal.row_counts WHERE collection = 'planets'"
  t.deepEqual((await client.query(counts)).rows, [{ rows: 0 }])
})

claim('a process that is killed while it moves them leaves the database as it was', async (t) => {
  const { connection, client } = await formerDatabase(t)
  await client.query('BEGIN; LOCK TABLE row_counts')
  const killed = t.throwsAsync(migrate(connection, migrations))
  const observer = await connect(t, connection)
  const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DO $move$%'`
  while ((await observer.query(kill)).rows.length === 0) await delay(20)
  await killed
  await client.query('ROLLBACK')
  t.deepEqual((await migrationState(connection, migrations)).misplaced.sort(), INTERNAL)
  t.deepEqual(await tablesIn(observer, 'public_internal'), [])
  await migrate(connection, migrations)
  t.deepEqual(await tablesIn(observer, 'public_internal'), INTERNAL)
})

claim('a service that must not migrate refuses a database of a former version', async (t) => {
  const { connection } = await formerDatabase(t)
  const { connectionString: databaseUrl } = connection
  const options = { databaseUrl, dataDir: '', databasePoolSize: 1 }
  await t.throwsAsync(openTestDatabase({ ...options, migrateOnStart: false }), {
    instanceOf: DatabaseRefusedError,
    message: /tombstones.* in the schema of the resources.*npx halgraph migrate/,
  })
  for (const migrateOnStart of [true, false])
    await (await openTestDatabase({ ...options, migrateOnStart })).close()
})

claim('a role that may not create the internal schema is told how an administrator does it', async (t) => {
  const { connection, client } = await formerDatabase(t)
  const owner = `halgraph_test_${randomBytes(8).toString('hex')}`
  const [reader, stranger] = [`${owner}_reader`, `${owner}_stranger`]
  const roles = [owner, reader, stranger].join(', ')
  t.teardown(() => client.query(`DROP OWNED BY ${roles}; DROP ROLE ${roles}`))
  await client.query(`
    CREATE ROLE ${owner} LOGIN PASSWORD 'unused'; CREATE ROLE ${reader}; CREATE ROLE ${stranger};
    REVOKE USAGE ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO ${reader};
    GRANT ALL ON SCHEMA public TO ${owner}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${reader}`)
  for (const table of await tablesIn(client, 'public'))
    await client.query(`ALTER TABLE ${table} OWNER TO ${owner}`)
  await client.query(`DO $$ DECLARE one regprocedure; BEGIN
    FOR one IN SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e') LOOP
      EXECUTE format('ALTER FUNCTION %s OWNER TO ${owner}', one);
    END LOOP; END $$`)
  const url = new URL(connection.connectionString ?? '')
  url.username = owner
  url.password = 'unused'
  const error = await t.throwsAsync(migrate(parseConnection(url.href), migrations), {
    instanceOf: DatabaseRefusedError,
    message: /The schema "public_internal" is missing, and the role \w+ may not create it/,
  })
  const [advice = ''] = /CREATE SCHEMA .*/.exec(error?.message ?? '') ?? []
  await client.query(advice)
  await migrate(parseConnection(url.href), migrations)
  t.deepEqual(await tablesIn(client, 'public_internal'), INTERNAL)
  const { rows } = await client.query(
    `SELECT has_schema_privilege($1, 'public_internal', 'USAGE') AS usage,
       has_table_privilege($1, 'public_internal.row_counts', 'SELECT') AS select`,
    [reader],
  )
  t.deepEqual(rows, [{ usage: true, select: true }])
  const usage = `SELECT has_schema_privilege('${stranger}', 'public_internal', 'USAGE') AS usage`
  t.deepEqual((await client.query(usage)).rows, [{ usage: false }])
})

claim('services with different schemas in one database have internal tables of their own', async (t) => {
  const databaseUrl = await createServerDatabase(server as string, t)
  const open = async (schema: string) => {
    const url = `${databaseUrl}?schema=${schema}`
    const database = await openTestDatabase({
      databaseUrl: url,
      dataDir: '',
      migrateOnStart: true,
      databasePoolSize: 1,
    })
    t.teardown(() => database.close())
    return database
  }
  const long = 'L'.repeat(63)
  const [first, second] = [await open('First'), await open(long)]
  await first.client.prisma.planet.create({ data: { id: 'x', name: 'X' } })
  await first.client.prisma.planet.delete({ where: { id: 'x' } })
  const counted = 'SELECT count(*)::int AS count FROM tombstones'
  t.deepEqual((await first.pool.query(counted)).rows, [{ count: 1 }])
  t.deepEqual((await second.pool.query(counted)).rows, [{ count: 0 }])
  t.deepEqual(await tablesIn(first.pool, 'First_internal'), INTERNAL)
  t.deepEqual(await tablesIn(second.pool, `${'L'.repeat(54)}_internal`), INTERNAL)
})
