import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type pg from 'pg'
import { listStatement } from '../../src/database/sql/list.ts'
import { beginTimeline } from '../../src/domain/recording.ts'
import { planets } from '../../src/domain/resources/planets.ts'
import { unrestricted } from '../../src/model/access/access.ts'
import { tableName } from '../../src/model/definition/resource.ts'
import {
  createTestDatabase,
  type Owner,
  openTestDatabase,
  type TestDatabase,
} from '../helpers/database/database.ts'
import { resources } from '../helpers/domain/domain.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

async function query(text: string, values: unknown[] = []) {
  return (await service().database.pool.query(text, values)).rows
}

const RESTRICT_VIOLATION = '23001'

test.serial(
  'TRUNCATE, which would restart versions, is refused on every table with the advice to delete',
  async (t) => {
    const { pool } = service().database
    for (const { path } of resources) {
      const table = tableName(path)
      const error = await t.throwsAsync(pool.query(`TRUNCATE ${table} CASCADE`), { code: RESTRICT_VIOLATION })
      t.is((error as { hint?: string }).hint, `Use DELETE FROM ${table}.`)
    }
  },
)

test.serial('after a refused TRUNCATE every row exists, and a DELETE continues its version', async (t) => {
  const { pool } = service().database
  const insert = "INSERT INTO planets (id, name) VALUES ('kept', 'Kept') RETURNING version"
  await pool.query(insert)
  await t.throwsAsync(pool.query('TRUNCATE planets CASCADE'))
  t.is((await pool.query('SELECT FROM planets')).rowCount, 1)
  await pool.query('DELETE FROM planets')
  t.deepEqual((await pool.query(insert)).rows, [{ version: 2 }])
})

test.serial('after a restore, versions are above all that were given, however many a row has', async (t) => {
  const { pool, client } = service().database
  const version = async (statement: string) =>
    (await pool.query(`${statement} RETURNING version`)).rows[0].version
  const insert = (id: string) => version(`INSERT INTO planets (id, name) VALUES ('${id}', '${id}')`)
  const change = (id: string) => version(`UPDATE planets SET name = name || '+' WHERE id = '${id}'`)
  await insert('busy')
  t.is(await insert('calm'), 1)
  // As after many changes.
  await pool.query(
    "ALTER TABLE planets DISABLE TRIGGER USER; UPDATE planets SET version = 5000000 WHERE id = 'busy'",
  )
  await pool.query('ALTER TABLE planets ENABLE TRIGGER USER')
  t.is(await change('busy'), 5_000_001)
  await beginTimeline(client)
  const lost = 100_000
  const calm = await change('calm')
  t.true(calm > 5_000_001 + lost, String(calm))
  t.true((await change('busy')) > 5_000_001 + lost)
  t.true((await insert('new')) >= calm)
  t.is(await change('calm'), calm + 1)
  await pool.query("DELETE FROM planets WHERE id IN ('busy', 'calm', 'new')")
  t.is(await insert('calm'), calm + 2)
  await pool.query("DELETE FROM planets WHERE id = 'calm'")
})

test.serial('a row can be added without the fields that have initial values', async (t) => {
  const { pool } = service().database
  const { rows } = await pool.query(`INSERT INTO species (id, scientific_name) VALUES ('plain', 'Acta plana')
    RETURNING discovery_status`)
  t.deepEqual(rows, [{ discovery_status: 'newly_catalogued' }])
  const initial = resources.flatMap(({ path, leaves }) =>
    leaves.flatMap(({ column, field }) =>
      field.initially === undefined ? [] : [[`${tableName(path)}.${column}`, field.initially]],
    ),
  )
  t.true(initial.length > 1)
  const defaults = await query(`SELECT table_name || '.' || column_name AS name, column_default AS value
    FROM information_schema.columns WHERE table_schema = current_schema()`)
  for (const [name, value] of initial)
    t.is(defaults.find((one) => one['name'] === name)?.['value'], `'${value}'::text`)
})

test.serial('tombstones cannot be deleted or changed', async (t) => {
  const { pool } = service().database
  await pool.query("INSERT INTO planets (id, name) VALUES ('gone', 'Gone'); DELETE FROM planets")
  for (const table of ['tombstones', 'tombstone_sets']) {
    for (const statement of [
      `DELETE FROM ${table}`,
      `UPDATE ${table} SET version = 0`,
      `TRUNCATE ${table}`,
    ]) {
      await t.throwsAsync(pool.query(statement), { code: RESTRICT_VIOLATION }, statement)
    }
  }
  t.is((await pool.query("SELECT FROM tombstones WHERE id = 'gone'")).rowCount, 1)
})

test.serial('an origin edited in the database moves the reference with it', async (t) => {
  const { writer, reader, base } = service()
  for (const name of ['Ogygia', 'Scheria']) await writer.put(`/planets/${name}`, { id: name, name })
  await writer.put('/species/wanderer', { id: 'wanderer', scientific_name: 'Vaga', planet_origin: 'Ogygia' })
  const planet = async () => (await reader.get('/species/wanderer')).body._links.planet?.href
  const before = (await reader.get('/species/wanderer')).headers.get('etag')
  t.is(await planet(), `${base}/planets/Ogygia`)

  await query("UPDATE species SET planet_origin = 'scheria' WHERE id = 'wanderer'")
  t.is(await planet(), `${base}/planets/Scheria`)
  t.not((await reader.get('/species/wanderer')).headers.get('etag'), before)

  await query("UPDATE species SET planet_origin = 'nowhere' WHERE id = 'wanderer'")
  t.is(await planet(), undefined)
  await query("UPDATE species SET planet_id = 'Ogygia' WHERE id = 'wanderer'")
  t.is(await planet(), undefined)
})

test.serial('a species added to the database refers to the planet that its origin names', async (t) => {
  const { writer } = service()
  await writer.put('/planets/ithaca', { id: 'ithaca', name: 'Ithaca' })
  const [row] = await query(
    "INSERT INTO species (id, scientific_name, planet_origin, discovery_status) VALUES ('native', 'Nativa', 'ITHACA', 'confirmed') RETURNING planet_id",
  )
  t.deepEqual(row, { planet_id: 'ithaca' })
})

test.serial('a planet that is renamed keeps the species that refer to it', async (t) => {
  const { writer, reader, base } = service()
  await writer.put('/planets/aeaea', { id: 'aeaea', name: 'Old Aeaea' })
  await writer.put('/species/resident', {
    id: 'resident',
    scientific_name: 'Fixa',
    planet_origin: 'Old Aeaea',
  })
  await writer.patch('/planets/aeaea', { name: 'New Aeaea' })
  await writer.patch('/species/resident', { habitat: 'cave' })
  t.is((await reader.get('/species/resident')).body._links.planet.href, `${base}/planets/aeaea`)
  t.deepEqual(await query('SELECT * FROM inconsistent_references()'), [])
})

test.serial('a mission edited in the database goes from status to status as the rules say', async (t) => {
  await query("INSERT INTO missions (id, name, status) VALUES ('direct', 'Direct', 'planned')")
  const move = (status: string) => query('UPDATE missions SET status = $1 WHERE id = $2', [status, 'direct'])
  await t.throwsAsync(move('completed'), { message: 'a mission that is planned cannot become completed' })
  await move('active')
  await t.throwsAsync(move('planned'), { message: 'a mission that is active cannot become planned' })
  await move('completed')
  await t.throwsAsync(move('active'), { message: 'a mission that is completed cannot become active' })
})

const server = process.env['TEST_DATABASE_URL']

// The embedded database has one session, in which statements never wait for each other.
const onServer = server ? test : test.skip

interface Conflict {
  readonly prepare: string
  readonly deletion: string
  readonly creation: string
}

const CONFLICTS: Readonly<Record<string, Conflict>> = {
  'a deletion': {
    prepare: "INSERT INTO planets (id, name) VALUES ('flicker', 'Flicker')",
    deletion: "DELETE FROM planets WHERE id = 'flicker'",
    creation: "INSERT INTO planets (id, name) VALUES ('flicker', 'Flicker') RETURNING version",
  },
  'a mass deletion': {
    prepare: `INSERT INTO planets (id, name) VALUES ('full', 'Full');
      INSERT INTO moons (planet_id, id, name) SELECT 'full', 'moon-' || n, 'Moon' FROM generate_series(1, 1500) AS n`,
    deletion: 'DELETE FROM moons',
    creation: "INSERT INTO moons (planet_id, id, name) VALUES ('full', 'moon-7', 'Moon') RETURNING version",
  },
}

for (const [what, { prepare, deletion, creation }] of Object.entries(CONFLICTS)) {
  onServer(
    `a creation that waited for ${what} fails, and has another version when repeated (needs TEST_DATABASE_URL)`,
    async (t) => {
      const database = await openTestDatabase(await createTestDatabase(t))
      t.teardown(() => database.close())
      const { pool } = database
      await pool.query(prepare)
      const one = await pool.connect()
      await one.query('BEGIN')
      await one.query(deletion)
      // The pool would repeat it.
      const other = await pool.connect()
      const created = t.throwsAsync(other.query(creation), { code: '40001' })
      // Until the creation waits for the deletion. Earlier, it would not wait, and there would be no error.
      while ((await waiting()) === 0) await delay(10)
      await one.query('COMMIT')
      one.release()
      await created
      other.release()
      t.deepEqual((await pool.query(creation)).rows, [{ version: 2 }])

      async function waiting(): Promise<number> {
        const text =
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        return (await pool.query(text)).rowCount ?? 0
      }
    },
  )
}

async function open(owner: Owner): Promise<TestDatabase> {
  const database = await openTestDatabase(await createTestDatabase(owner))
  owner.teardown(() => database.close())
  return database
}

const ALL_PLANETS = unrestricted('all rows are counted').rows(planets)

/** The count that a list returns, and the actual one. */
async function counts({ client }: TestDatabase): Promise<[number, number]> {
  const { totalCount } = await client.list(planets, { rows: ALL_PLANETS, sorts: [], take: 1, counted: true })
  return [totalCount, await client.prisma.planet.count()]
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
    counted.sort().map((name) => ({ name, count: 3 })),
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
})

test('pages by number and counts are exact while others write, from the sums of few rows', async (t) => {
  const database = await open(t)
  const { pool } = database
  const time = (n: number) => `'2031-01-01Z'::timestamptz + ${(n * 7919) % 600} * interval '1 second'`
  const add = (n: number, created: string) =>
    `INSERT INTO planets (id, name, created_date) SELECT '${n}-' || m, '${n}-' || m, ${created} FROM generate_series(1, ${(n * 31) % 200}) AS m`
  const some = (most: number) => `id IN (SELECT id FROM planets ORDER BY random() LIMIT ${most})`
  const writes = [
    (n: number) => add(n, 'clock_timestamp()'),
    (n: number) => add(n, `${time(n)} + m * interval '1 second'`),
    () => `DELETE FROM planets WHERE ${some(120)}`,
    (n: number) => `UPDATE planets SET created_date = ${time(n)} WHERE ${some(5)}`,
    () => "SELECT recount_rows('planets')",
  ]
  let writers = 3
  const write = async (first: number) => {
    for (let n = first; n < 90; n += 3) await pool.query(writes[n % 7 < 3 ? n % 2 : n % 5]?.(n) as string)
    writers--
  }
  const reader = await pool.connect()
  const compare = async () => {
    for (let n = 0; writers > 0; n++) {
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
      const direction = n % 2 === 0 ? 'asc' : 'desc'
      const sorts = [{ field: 'created_date', direction } as const]
      const page = { sorts, skip: (n * 997) % 4_000, take: 5, rows: ALL_PLANETS, counted: true }
      const { text, values } = listStatement(planets, page)
      const plain = `SELECT id, (SELECT count(*)::int FROM planets) AS "count of the list" FROM planets
        ORDER BY created_date ${direction}, id ${direction} LIMIT ${page.take} OFFSET ${page.skip}`
      const [listed, expected] = [await reader.query(text, [...values]), await reader.query(plain)]
      const shown = listed.rows.filter(({ id }) => id).map((row) => [row.id, row['count of the list']])
      t.deepEqual(shown, expected.rows.map(Object.values))
      await reader.query('COMMIT')
    }
  }
  await Promise.all([compare().finally(() => reader.release(true)), write(1), write(2), write(3)])
  await pool.query('DELETE FROM planets')
  t.deepEqual(await counts(database), [0, 0])
  const { rowCount } = await pool.query("SELECT FROM row_counts WHERE collection = 'planets'")
  t.true((rowCount as number) <= 100, String(rowCount))
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

onServer(
  'writers do not wait for each other to count (needs TEST_DATABASE_URL: the embedded database has one session)',
  async (t) => {
    const database = await open(t)
    const writers = await Promise.all(Array.from({ length: 3 }, () => database.pool.connect()))
    // With a single count, the second writer would wait for the COMMIT of the first.
    for (const [index, writer] of writers.entries()) {
      await writer.query('BEGIN')
      await insert(writer, `w${index}`)
    }
    t.deepEqual(await counts(database), [0, 0])
    for (const [index, writer] of writers.entries()) await writer.query(index === 1 ? 'ROLLBACK' : 'COMMIT')
    for (const writer of writers) writer.release()
    t.deepEqual(await counts(database), [2, 2])
    await Promise.all(Array.from({ length: 100 }, (_, index) => insert(database.pool, `p${index}`)))
    t.deepEqual(await counts(database), [102, 102])
  },
)
