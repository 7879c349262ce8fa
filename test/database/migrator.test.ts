import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Client, type ClientConfig } from 'pg'
import { DatabaseRefusedError } from '../../src/database/connection.ts'
import { readMigrations } from '../../src/database/migrations/migration-files.ts'
import { lackingFeatures, migrate, migrationState } from '../../src/database/migrations/migrator.ts'
import {
  createEmptyDatabase,
  createServerDatabase,
  createTestFolder,
  openTestDatabase,
} from '../helpers/database/database.ts'
import { runCommand } from '../helpers/service/commands.ts'

const server = process.env['TEST_DATABASE_URL']

async function folderOf(
  t: ExecutionContext,
  migrations: Record<string, string> | readonly (readonly [name: string, sql: string])[],
): Promise<string> {
  const folder = await createTestFolder(t)
  const all = Array.isArray(migrations) ? migrations : Object.entries(migrations)
  for (const [name, sql] of all) await writeMigration(folder, name, sql)
  return folder
}

/** The migrations of the built-in domain, oldest first. */
async function landedMigrations() {
  const landed = await readMigrations('prisma/migrations')
  return landed.map(({ name, sql }) => [name, sql] as const)
}

async function writeMigration(folder: string, name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, 'migration.sql'), sql)
}

async function query(connection: ClientConfig, sql: string): Promise<unknown[]> {
  const client = new Client(connection)
  await client.connect()
  await client.query('SET search_path TO public, public_internal')
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const one = 'CREATE TABLE one (id int); INSERT INTO one VALUES (1);'
const two = 'ALTER TABLE one ADD COLUMN name text;'
const record =
  'SELECT migration_name, length(checksum) AS length, applied_steps_count FROM _prisma_migrations'

test.serial(
  'pending migrations are applied once in order, and recorded in the format of Prisma',
  async (t) => {
    const connection = await createEmptyDatabase(t)
    const folder = await folderOf(t, { '2_two': two, '1_one': one })
    t.deepEqual((await migrationState(connection, folder)).pending, ['1_one', '2_two'])
    t.deepEqual(await migrate(connection, folder), ['1_one', '2_two'])
    t.deepEqual(await migrate(connection, folder), [])
    t.deepEqual(await query(connection, record), [
      { migration_name: '1_one', length: 64, applied_steps_count: 1 },
      { migration_name: '2_two', length: 64, applied_steps_count: 1 },
    ])
    t.deepEqual((await migrationState(connection, folder)).applied, ['1_one', '2_two'])
  },
)

test.serial('several migrators at once apply each migration once', async (t) => {
  const connection = await createEmptyDatabase(t)
  const folder = await folderOf(t, { '1_one': one, '2_two': two })
  const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(connection, folder)))
  t.deepEqual(applied.flat().sort(), ['1_one', '2_two'])
  t.is((await query(connection, 'SELECT id FROM one')).length, 1)
})

test.serial('a failed migration leaves nothing, and the previous ones remain', async (t) => {
  const connection = await createEmptyDatabase(t)
  const folder = await folderOf(t, { '1_one': one, '2_two': 'CREATE TABLE half (id int); SELECT 1 / 0;' })
  const error = await t.throwsAsync(migrate(connection, folder), { instanceOf: DatabaseRefusedError })
  t.regex(error?.message ?? '', /2_two failed.*division by zero/)
  t.deepEqual(await query(connection, "SELECT to_regclass('half') AS half"), [{ half: null }])
  await writeMigration(folder, '2_two', two)
  t.deepEqual(await migrate(connection, folder), ['2_two'])
})

test.serial('an applied migration that was edited or is unknown is refused', async (t) => {
  const connection = await createEmptyDatabase(t)
  const folder = await folderOf(t, { '1_one': one, '2_two': two })
  await migrate(connection, folder)
  await writeMigration(folder, '1_one', `${one} `)
  await rm(join(folder, '2_two'), { recursive: true })
  const state = await migrationState(connection, folder)
  t.deepEqual([state.edited, state.unknown], [['1_one'], ['2_two']])
  const error = await t.throwsAsync(migrate(connection, folder), { instanceOf: DatabaseRefusedError })
  t.regex(error?.message ?? '', /2_two is applied but unknown.*1_one was edited.*npx halgraph migrate/)
})

test.serial(
  'a migration that another tool did not finish is refused until it is marked as rolled back',
  async (t) => {
    const connection = await createEmptyDatabase(t)
    const folder = await folderOf(t, { '1_one': one })
    await migrate(connection, folder)
    await query(connection, 'UPDATE _prisma_migrations SET finished_at = NULL')
    await t.throwsAsync(migrate(connection, folder), { message: /1_one was started by another tool/ })
    await query(connection, 'UPDATE _prisma_migrations SET rolled_back_at = now(); DROP TABLE one')
    t.deepEqual(await migrate(connection, folder), ['1_one'])
    await query(connection, 'UPDATE _prisma_migrations SET rolled_back_at = NULL')
    t.deepEqual((await migrationState(connection, folder)).failed, [], 'it was finished later')
  },
)

test.serial(
  'an index that was built before its migration is kept, and refused while it is invalid',
  async (t) => {
    const connection = await createEmptyDatabase(t)
    const landed = await landedMigrations()
    const before = await folderOf(
      t,
      landed.filter(([name]) => name < '20261123000000_search_index'),
    )
    await migrate(connection, before)
    const guide = await readFile('docs/guides/upgrading.md', 'utf8')
    for (const [, statement = ''] of guide.matchAll(/```sql\n(.+?)```/gs))
      for (const part of statement.split(';\n')) if (part) await query(connection, part)
    const built = "SELECT indexrelid FROM pg_index WHERE indexrelid = 'species_search_idx'::regclass"
    const [index] = await query(connection, built)
    const definition = "SELECT pg_get_indexdef('species_search_idx'::regclass) AS text"
    const byHand = await query(connection, definition)
    const folder = await folderOf(t, landed)
    await query(
      connection,
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'species_search_idx'::regclass",
    )
    await t.throwsAsync(migrate(connection, folder), {
      message: /^The index species_search_idx is invalid: wait/,
    })
    await query(
      connection,
      "UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'species_search_idx'::regclass",
    )
    await migrate(connection, folder)
    t.deepEqual(await query(connection, built), [index])
    const other = await createEmptyDatabase(t)
    await migrate(other, folder)
    t.deepEqual(byHand, await query(other, definition), 'the guide has the definition of the migration')
  },
)

test.serial('a server that does not answer is refused without showing its password', async (t) => {
  const databaseUrl = 'postgresql://someone:hush@127.0.0.1:1/none'
  const options = {
    databaseUrl,
    dataDir: '',
    migrateOnStart: false,
    databasePoolSize: 1,
    patience: { seconds: 0, report: () => {} },
  }
  const error = await t.throwsAsync(openTestDatabase(options), { instanceOf: DatabaseRefusedError })
  t.regex(error?.message ?? '', /127\.0\.0\.1:1 cannot be reached/)
  t.notRegex(error?.message ?? '', /hush/)
})

if (server) {
  test.serial(
    'an unmigrated server is refused by name of the command, and migrated on request',
    async (t) => {
      const databaseUrl = await createServerDatabase(server, t)
      const options = { databaseUrl, dataDir: '', migrateOnStart: false, databasePoolSize: 1 }
      await t.throwsAsync(openTestDatabase(options), {
        instanceOf: DatabaseRefusedError,
        message: /npx halgraph migrate/,
      })
      for (const migrateOnStart of [true, false]) {
        const database = await openTestDatabase({ ...options, migrateOnStart })
        t.is(await database.client.prisma.species.count(), 0)
        await database.close()
      }
    },
  )

  test.serial('the schema of DATABASE_URL holds every table, also for the triggers', async (t) => {
    const databaseUrl = `${await createServerDatabase(server, t)}?schema=Catalogue`
    const database = await openTestDatabase({
      databaseUrl,
      dataDir: '',
      migrateOnStart: true,
      databasePoolSize: 1,
    })
    t.teardown(() => database.close())
    await database.client.prisma.planet.create({ data: { id: 'x', name: 'X' } })
    await database.client.prisma.planet.delete({ where: { id: 'x' } })
    const rows = await query(
      { connectionString: databaseUrl },
      'SELECT id FROM "Catalogue_internal".tombstones',
    )
    t.deepEqual(rows, [{ id: 'x' }])
  })
} else {
  test.skip('claims about a PostgreSQL server (skipped: TEST_DATABASE_URL is not set)', (t) => t.pass())
}

/** Makes PostgreSQL refuse statements with a word, as an engine does that lacks what they need. */
const lacking = (word: string, code = 'feature_not_supported') => `
  CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF strpos(current_query(), '${word}') > 0 THEN
      RAISE EXCEPTION '${word} is not supported yet' USING ERRCODE = '${code}';
    END IF;
  END $$;
  CREATE EVENT TRIGGER refuse ON ddl_command_start EXECUTE FUNCTION public.refuse()`

const onServer = server ? test.serial : test.serial.skip

onServer('a server that lacks a feature is refused by its name, and nothing remains in it', async (t) => {
  const connection = { connectionString: await createServerDatabase(server as string, t) }
  await query(connection, lacking('NOT VALID'))
  const folder = await folderOf(t, { '1_one': one })
  const { message } = (await t.throwsAsync(migrate(connection, folder), {
    instanceOf: DatabaseRefusedError,
  })) as Error
  t.is(
    message,
    'The server lacks features that the service needs: CHECK constraints that are NOT VALID ' +
      '(NOT VALID is not supported yet). See docs/ENGINES.md.',
  )
  t.deepEqual(await query(connection, "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace"), [])
})

onServer('a feature that fails behind another one is not blamed on it', async (t) => {
  const connection = { connectionString: await createServerDatabase(server as string, t) }
  // Engines have codes of their own.
  await query(connection, lacking('TRUNCATE', 'XX000'))
  t.deepEqual(await lackingFeatures(connection), ['triggers of TRUNCATE (TRUNCATE is not supported yet)'])
})

onServer('a server that cannot be tried now is refused in one sentence', async (t) => {
  const connection = { connectionString: await createServerDatabase(server as string, t) }
  await query(connection, lacking('CREATE', '53100'))
  const { message } = (await t.throwsAsync(lackingFeatures(connection), {
    instanceOf: DatabaseRefusedError,
  })) as Error
  t.is(message, 'The database refuses a statement (53100): CREATE is not supported yet')
})

onServer('doctor names the features that a server lacks', async (t) => {
  const databaseUrl = await createServerDatabase(server as string, t)
  await query({ connectionString: databaseUrl }, lacking('CHECK'))
  const { output, status } = await runCommand('doctor', { DATABASE_URL: databaseUrl })
  t.is(status, 1)
  t.regex(
    output,
    /FAIL {2}features of the server\n +The server lacks CHECK constraints that are NOT VALID \(CHECK is not/,
  )
})
