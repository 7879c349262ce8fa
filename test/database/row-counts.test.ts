import test from 'ava'
import type pg from 'pg'
import { readList } from '../../src/domain/read.ts'
import { planets } from '../../src/domain/resources/planets.ts'
import { tableName } from '../../src/model/resource.ts'
import { createTestDatabase, type Owner, openTestDatabase, type TestDatabase } from '../helpers/database.ts'
import { resources } from '../helpers/domain.ts'

async function open(owner: Owner): Promise<TestDatabase> {
  const database = await openTestDatabase(await createTestDatabase(owner))
  owner.teardown(() => database.close())
  return database
}

/** The count that a list returns, and the actual one. */
async function counts({ client }: TestDatabase): Promise<[number, number]> {
  const { totalCount } = await readList(client, planets, { sorts: [], take: 1, counted: true })
  return [totalCount, await client.planet.count()]
}

const insert = (client: pg.ClientBase | TestDatabase['pool'], ids: string) =>
  client.query(`INSERT INTO planets (id, name) SELECT id, id FROM unnest('{${ids}}'::text[]) AS id`)

test('every collection has its rows counted', async (t) => {
  const database = await open(t)
  const { rows } = await database.pool.query(
    "SELECT tgrelid::regclass::text AS name, count(*)::int FROM pg_trigger WHERE tgname LIKE '%\\_row\\_count\\_%' GROUP BY 1",
  )
  const counted = resources.filter(({ kind }) => kind === 'collection').map(({ path }) => tableName(path))
  t.deepEqual(
    rows.sort((one, other) => (one.name < other.name ? -1 : 1)),
    counted.sort().map((name) => ({ name, count: 2 })),
  )
})

test('the count includes inserts, deletes and rollbacks by any client', async (t) => {
  const database = await open(t)
  t.deepEqual(await counts(database), [0, 0])
  await insert(database.pool, 'a,b,c,d')
  t.deepEqual(await counts(database), [4, 4])
  await database.pool.query("INSERT INTO planets (id, name) VALUES ('a', 'a') ON CONFLICT DO NOTHING")
  await database.pool.query("DELETE FROM planets WHERE id IN ('a', 'b', 'none')")
  t.deepEqual(await counts(database), [2, 2])
  const one = await database.pool.connect()
  await one.query('BEGIN')
  await insert(one, 'e,f')
  await one.query('SAVEPOINT here')
  await insert(one, 'g')
  await one.query('ROLLBACK TO here')
  await one.query('ROLLBACK')
  one.release()
  t.deepEqual(await counts(database), [2, 2])
  await database.pool.query('DELETE FROM planets')
  t.deepEqual(await counts(database), [0, 0])
  await insert(database.pool, 'h')
  t.deepEqual(await counts(database), [1, 1])
})

test('a repeatable read transaction can write after others have written', async (t) => {
  const database = await open(t)
  await insert(database.pool, 'a')
  const one = await database.pool.connect()
  for (const [level, id] of [
    ['REPEATABLE READ', 'b'],
    ['SERIALIZABLE', 'c'],
  ]) {
    await one.query(`BEGIN ISOLATION LEVEL ${level}`)
    await one.query('SELECT count(*) FROM planets')
    await insert(one, id as string)
    await one.query('COMMIT')
  }
  one.release()
  t.deepEqual(await counts(database), [3, 3])
})

const server = process.env['TEST_DATABASE_URL']
const onServer = server ? test : test.skip

onServer(
  'writers do not wait for each other to count (needs TEST_DATABASE_URL: the embedded database has one session)',
  async (t) => {
    const database = await open(t)
    const writers = await Promise.all(Array.from({ length: 4 }, () => database.pool.connect()))
    // With a single count, the second writer would wait for the COMMIT of the first.
    for (const [index, writer] of writers.entries()) {
      await writer.query('BEGIN')
      await insert(writer, `w${index}`)
    }
    t.deepEqual(await counts(database), [0, 0])
    for (const [index, writer] of writers.entries()) await writer.query(index === 1 ? 'ROLLBACK' : 'COMMIT')
    for (const writer of writers) writer.release()
    t.deepEqual(await counts(database), [3, 3])
    await Promise.all(Array.from({ length: 100 }, (_, index) => insert(database.pool, `p${index}`)))
    t.deepEqual(await counts(database), [103, 103])
    const { rows } = await database.pool.query(
      "SELECT count(*)::int AS slots FROM row_counts WHERE collection = 'planets'",
    )
    t.true(rows[0].slots <= 6)
  },
)
