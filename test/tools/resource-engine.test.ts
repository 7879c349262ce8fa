import { readFile } from 'node:fs/promises'
import { PGlite, type Transaction } from '@electric-sql/pglite'
import test from 'ava'
import { EXTENSIONS } from '../../src/database/embedded/durability.ts'
import { baselineFile, readBaseline, readMigrations } from '../../src/database/migrations/migration-files.ts'
import { domainFolder, loadDefinitions } from '../../src/service/settings/domain-folder.ts'
import { ENGINE } from '../../tools/resource/location.ts'
import { planUpdate } from '../../tools/resource/migrate.ts'
import { withShadow } from '../../tools/resource/tables/shadow.ts'

const folder = domainFolder()
const engine = PGlite.create({ extensions: EXTENSIONS })

/** Everything that defines the functions and the tables of the engine, by name. */
const OBJECTS = `
  SELECT 'function ' || proname AS name, pg_get_functiondef(oid) AS definition FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT relname || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull,
      attidentity, attstorage, collname, pg_get_expr(adbin, adrelid))
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    LEFT JOIN pg_collation ON pg_collation.oid = attcollation
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0
  UNION ALL SELECT relname || ' options', array_to_string(reloptions, ',') FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
  UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND conrelid <> 0
  UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  ORDER BY 1, 2`

/** The objects that these migrations make. They are rolled back. */
async function objectsOf(migrations: readonly string[]): Promise<Map<string, string>> {
  const read = async (session: Transaction) => {
    for (const sql of migrations) await session.exec(sql)
    const { rows } = await session.query<{ name: string; definition: string }>(OBJECTS)
    await session.rollback()
    return new Map(rows.map(({ name, definition }) => [name, definition]))
  }
  return (await engine).transaction(read) as Promise<Map<string, string>>
}

test.serial(
  'a new domain begins with exactly the functions and tables that the migrations of the built-in one made',
  async (t) => {
    const files = [ENGINE.migration, ...Object.values(ENGINE.additions)]
    const made = await objectsOf(await Promise.all(files.map((file) => readFile(file, 'utf8'))))
    const migrations = await readMigrations(folder.migrations)
    const built = await objectsOf(migrations.map(({ sql }) => sql))
    t.true(made.size > 50)
    for (const [name, definition] of made) t.is(built.get(name), definition, name)
    const served = [...built.keys()].filter((name) =>
      /^(tombstones|tombstone_sets|row_counts|idempotency_keys|recorded_changes|change_feed)\b/.test(name),
    )
    t.deepEqual(
      served.filter((name) => !made.has(name)),
      [],
    )
  },
)

test.serial('the baseline makes exactly what the migrations make', async (t) => {
  const migrations = await readMigrations(folder.migrations)
  const baseline = await readBaseline(folder.migrations, migrations)
  t.deepEqual(
    baseline?.covered.map(({ name }) => name),
    migrations.map(({ name }) => name),
  )
  const made = await objectsOf([baseline?.sql ?? ''])
  t.true(made.size > 300, String(made.size))
  t.deepEqual(made, await objectsOf(migrations.map(({ sql }) => sql)))
  const written = await withShadow(migrations, (shadow) => shadow.baseline(migrations), await engine)
  t.is(written, await readFile(baselineFile(folder.migrations), 'utf8'), 'run npx halgraph resource baseline')
})

test.serial('a baseline is ignored after a migration that it covers was edited', async (t) => {
  const migrations = await readMigrations(folder.migrations)
  const [first, ...others] = migrations
  const edited = [{ ...first, checksum: 'other' } as (typeof migrations)[number], ...others]
  t.is(await readBaseline(folder.migrations, edited), undefined)
  t.is(await readBaseline(folder.migrations, others), undefined)
  const later = { name: '29990101000000_later', sql: '', checksum: '' }
  t.is((await readBaseline(folder.migrations, [...migrations, later]))?.covered.length, migrations.length)
})

test.serial('migrations that add rows have no baseline', async (t) => {
  const migrations = await readMigrations(folder.migrations)
  const sql = "INSERT INTO planets (id, name) VALUES ('added', 'Added')"
  const added = [...migrations, { name: '29990101000000_rows', sql, checksum: '' }]
  const described = withShadow(added, (shadow) => shadow.baseline(added), await engine)
  await t.throwsAsync(described, { message: /add rows to planets/ })
})

test.serial(
  'the schema and the migrations of the built-in domain are those of its definitions',
  async (t) => {
    const { resources } = await loadDefinitions(folder)
    const decisions = { defaults: new Map(), allowDataLoss: false, allowInvalidRows: false }
    const { files, explanation } = await planUpdate(resources, folder, decisions, { engine: await engine })
    t.is(explanation, '')
    t.deepEqual([...files.keys()], [])
  },
)
