import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type { QueryResult } from 'pg'
import type { Database } from '../../src/database/database.ts'
import type { StatementClient } from '../../src/database/database-client.ts'
import type { Statement } from '../../src/database/sql/statement.ts'
import { keepChanges } from '../../src/domain/recording.ts'
import { readFeed } from '../../src/features/history/feed/read-feed.ts'
import { numberChanges, startFeedUpkeep } from '../../src/features/history/feed/upkeep.ts'
import { unrestricted } from '../../src/model/access/access.ts'
import { createTestDatabase, openTestDatabase } from '../helpers/database/database.ts'
import { resources } from '../helpers/domain/domain.ts'
import { withAccess } from '../helpers/domain/with-access.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const access = unrestricted('all changes are read')

const service = shareTestService(test, { databasePoolSize: 2 })

interface Recorded {
  readonly collection: string
  readonly id: string
  readonly version: number
  readonly event: string | null
  readonly by: string | null
  readonly name: string | null
}

async function query<Row>(
  { pool }: Pick<Database, 'pool'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await pool.query(text, values)).rows
}

/** The record of a resource, oldest first. */
function recorded(database: Pick<Database, 'pool'>, id: string): Promise<Recorded[]> {
  const text = `SELECT collection, id, version, event, changed_by AS by, resource ->> 'name' AS name
    FROM recorded_changes WHERE id = $1 ORDER BY serial`
  return query(database, text, [id])
}

const events = async (database: Pick<Database, 'pool'>, id: string) =>
  (await recorded(database, id)).map(({ event, version, by }) => `${event} ${version} ${by}`)

test('each real change is recorded with its version, its author and the resource, and nothing else is', async (t) => {
  const { withSubject, database } = service()
  const [ada, ben] = [withSubject('ada'), withSubject('ben')]
  await ada.put('/planets/vesta', { id: 'vesta', name: 'Vesta' })
  await ada.put('/planets/vesta', { name: 'Vesta' })
  await ben.patch('/planets/vesta', { name: 'Ceres' })
  await ben.patch('/planets/vesta', { name: ' ' })
  await ada.put('/planets/vesta/moons/luna', { id: 'luna', name: 'Luna' })
  await ben.delete('/planets/vesta')
  await ada.delete('/planets/vesta')
  await ada.put('/planets/vesta', { id: 'vesta', name: 'Again' })
  const planet = (version: number, event: string, by: string, name: string) => {
    return { collection: 'planets', id: 'vesta', version, event, by, name }
  }
  const moon = { collection: 'moons', id: 'luna', version: 1, name: 'Luna' }
  t.deepEqual(await recorded(database, 'vesta'), [
    planet(1, 'created', 'ada', 'Vesta'),
    planet(2, 'changed', 'ben', 'Ceres'),
    planet(2, 'deleted', 'ben', 'Ceres'),
    planet(3, 'created', 'ada', 'Again'),
  ])
  t.deepEqual(await recorded(database, 'luna'), [
    { ...moon, event: 'created', by: 'ada' },
    { ...moon, event: 'deleted', by: 'ben' },
  ])
})

test('what a write changes besides, in its transaction, has the same author', async (t) => {
  const { withSubject, database } = service()
  const ada = withSubject('ada')
  await ada.put('/species/one', { id: 'one', scientific_name: 'Una', planet_origin: 'pallas' })
  t.deepEqual(await events(database, 'pallas'), ['created 1 ada'])
  t.deepEqual(await events(database, 'one'), ['created 1 ada'])
  const created = await ada.post('/missions', { name: 'Away' }, { 'Idempotency-Key': 'away' })
  t.deepEqual(await events(database, created.body.id), ['created 1 ada'])
  const joined = { ...(await ada.post('/astronauts', { name: 'Ada' })).body }
  await withSubject('ben').post(`/missions/${created.body.id}/crew`, {
    astronaut_id: joined.id,
    role: 'pilot',
  })
  t.deepEqual(await events(database, joined.id), ['created 1 ada', 'changed 2 ben'])
  await withSubject('dee').patch(`/missions/${created.body.id}`, { status: 'aborted' })
  t.deepEqual((await events(database, joined.id)).slice(2), ['changed 3 dee'])
  const atomic = `mutation @atomic {
    createSpecies(input: { scientificName: "Dua", planetOrigin: "juno" }) { species { id } }
    deletePlanet(id: "pallas-2") { outcome }
  }`
  await ada.put('/planets/pallas-2', { id: 'pallas-2', name: 'Second' })
  const { errors } = await withSubject('cy').graphql(atomic)
  t.is(errors, undefined)
  t.deepEqual(await events(database, 'juno'), ['created 1 cy'])
  t.deepEqual(await events(database, 'pallas-2'), ['created 1 ada', 'deleted 1 cy'])
})

test('a subject may have any characters, and a caller without one is its digest', async (t) => {
  const { withSubject, writer, database } = service()
  const subject = `o'Brien "β" \\ $1`
  await withSubject(subject).put('/planets/named', { id: 'named', name: 'Named' })
  t.deepEqual(await events(database, 'named'), [`created 1 ${subject}`])
  await writer.put('/planets/digested', { id: 'digested', name: 'Digested' })
  const [change] = await recorded(database, 'digested')
  t.regex(change?.by ?? '', /^sha256 token /)
})

test('an edit in the database, also on a connection that callers use, has the name of the role', async (t) => {
  const { withSubject, database } = service()
  const [{ role } = { role: '' }] = await query<{ role: string }>(database, 'SELECT current_user AS role')
  const callers = Array.from({ length: 30 }, async (_, index) => {
    const id = `shared-${index}`
    const body = { id, name: id }
    await withSubject(id).put(`/planets/${id}`, body)
    await query(database, 'UPDATE planets SET habitable = TRUE WHERE id = $1', [id])
    await withSubject(`${id}-heir`).delete(`/planets/${id}`)
    t.deepEqual(await events(database, id), [`created 1 ${id}`, `changed 2 ${role}`, `deleted 2 ${id}-heir`])
  })
  await Promise.all(callers)
})

test('changed_by has the last author of a row, as the record does: a caller, or the role of an edit', async (t) => {
  const { withSubject, database } = service()
  const [ada, ben] = [withSubject('ada'), withSubject('ben')]
  const [{ role } = { role: '' }] = await query<{ role: string }>(database, 'SELECT current_user AS role')
  const is = async (author: string, version: number) => {
    const rows = await query(database, "SELECT version, changed_by AS author FROM planets WHERE id = 'owned'")
    t.deepEqual(rows, [{ version, author }])
    t.regex((await events(database, 'owned')).at(-1) ?? '', new RegExp(` ${version} ${author}$`))
  }
  const edit = (assignments: string) =>
    query(database, `UPDATE planets SET ${assignments} WHERE id = 'owned'`)
  await ada.put('/planets/owned', { id: 'owned', name: 'Owned' })
  await is('ada', 1)
  await ben.put('/planets/owned', { name: 'Owned' })
  await is('ada', 1)
  await edit('habitable = TRUE')
  await is(role, 2)
  await ada.patch('/planets/owned', { name: 'By Ada' })
  await is('ada', 3)
  await ada.put('/planets/owned', { name: 'By Ada again' })
  await is('ada', 4)
  await edit("changed_by = 'cy'")
  await is('ada', 4)
  await edit("name = 'By Cy', changed_by = 'cy'")
  await is('cy', 5)
  await edit("name = 'By the role', changed_by = NULL")
  await is(role, 6)
  await ben.patch('/planets/owned', { habitable: false })
  await is('ben', 7)
})

test('rows that are added without an author have the role, those with one keep it', async (t) => {
  const { database } = service()
  const [{ role } = { role: '' }] = await query<{ role: string }>(database, 'SELECT current_user AS role')
  const insert = `INSERT INTO planets (id, name, changed_by)
    VALUES ('plain', 'Plain', NULL), ('by-dee', 'Dee', 'dee'), ('by-eve', 'Eve', 'eve') RETURNING changed_by AS by`
  t.deepEqual(await query(database, insert), [{ by: role }, { by: 'dee' }, { by: 'eve' }])
  for (const [id, by] of [
    ['plain', role],
    ['by-dee', 'dee'],
    ['by-eve', 'eve'],
  ] as const)
    t.deepEqual(await events(database, id), [`created 1 ${by}`])
})

test('each of several batches at the same time has its caller as the author of all that it writes and deletes', async (t) => {
  const { withSubject, database } = service()
  const write = async (name: string) => {
    const client = withSubject(name)
    await client.put(`/planets/${name}`, { id: name, name })
    await client.put(`/planets/${name}/moons/${name}-moon`, { id: `${name}-moon`, name })
    const operations = [
      { method: 'PUT', path: `/planets/${name}-new`, body: { id: `${name}-new`, name: `${name} new` } },
      { method: 'PATCH', path: `/planets/${name}`, body: { host_star: 'Sol' } },
      { method: 'POST', path: '/species', body: { scientific_name: name, planet_origin: `${name} origin` } },
      { method: 'DELETE', path: `/planets/${name}` },
    ]
    t.is((await client.post('/batch', { operations })).status, 200)
  }
  const names = Array.from({ length: 12 }, (_, index) => `batch-${index}`)
  await Promise.all(names.map(write))
  const changes = `SELECT changed_by AS by, collection, event, count(*)::int FROM recorded_changes
    WHERE changed_by LIKE 'batch-%' AND (id LIKE changed_by || '%' OR resource ->> 'scientific_name' = changed_by)
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
  const of = (by: string) => [
    { by, collection: 'moons', event: 'created', count: 1 },
    { by, collection: 'moons', event: 'deleted', count: 1 },
    { by, collection: 'planets', event: 'changed', count: 1 },
    { by, collection: 'planets', event: 'created', count: 3 },
    { by, collection: 'planets', event: 'deleted', count: 1 },
    { by, collection: 'species', event: 'created', count: 1 },
  ]
  t.deepEqual(await query(database, changes), names.toSorted().flatMap(of))
})

test('a refused or rolled back write leaves no record', async (t) => {
  const { writer, database } = service()
  t.is((await writer.put('/planets/no', { id: 'no', name: ' ' })).status, 400)
  const client = await database.pool.connect()
  await client.query('BEGIN')
  await client.query("INSERT INTO planets (id, name) VALUES ('no', 'No')")
  await client.query('ROLLBACK')
  client.release()
  t.deepEqual(await recorded(database, 'no'), [])
})

const FEED = 'SELECT last_position::int AS last, purged_position::int AS purged FROM change_feed'

/** Waits for the upkeep, which has no end that could be awaited. */
async function untilPurged(database: Database, last: number): Promise<void> {
  for (let wait = 0; wait < 600; wait++) {
    const [feed] = await query<{ purged: number }>(database, FEED)
    if (feed?.purged === last) return
    await delay(50)
  }
}

test('changes get positions in the order in which they were made, and a mass deletion one for each child', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await query(database, "INSERT INTO planets (id, name) VALUES ('full', 'Full')")
  await query(
    database,
    "INSERT INTO moons (planet_id, id, name) SELECT 'full', 'moon-' || n, 'Moon' FROM generate_series(1, 2500) AS n",
  )
  await query(database, "DELETE FROM planets WHERE id = 'full'")
  await numberChanges(database.client)
  t.deepEqual(await query(database, FEED), [{ last: 5_002, purged: 0 }])
  const sets = `SELECT position::int, cardinality(ids) AS children, cardinality(versions) AS versions
    FROM recorded_changes WHERE ids IS NOT NULL ORDER BY position`
  t.deepEqual(await query(database, sets), [
    { position: 3_501, children: 1_000, versions: 1_000 },
    { position: 4_501, children: 1_000, versions: 1_000 },
    { position: 5_001, children: 500, versions: 500 },
  ])
  const unordered = `SELECT count(*)::int AS count FROM (SELECT serial < lag(serial) OVER (ORDER BY position) AS wrong
    FROM recorded_changes) AS changes WHERE wrong`
  t.deepEqual(await query(database, unordered), [{ count: 0 }])
})

test('the changes of a resource keep their order if their sessions took serial numbers in advance', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  const takenBefore = () => query(database, "SELECT setval('public_internal.recorded_changes_serial_seq', 1)")
  await query(
    database,
    "INSERT INTO planets (id, name) VALUES ('early', 'Early'), ('ordered', 'Ordered'), ('unchanged', 'Unchanged')",
  )
  await takenBefore()
  await query(database, "DELETE FROM planets WHERE id = 'unchanged'")
  for (const name of ['Second', 'Third']) {
    await takenBefore()
    await query(database, "UPDATE planets SET name = $1 WHERE id = 'ordered'", [name])
  }
  await query(
    database,
    "INSERT INTO moons (planet_id, id, name) SELECT 'ordered', 'moon-' || n, 'Moon' FROM generate_series(1, 1001) AS n",
  )
  await takenBefore()
  await query(database, "DELETE FROM planets WHERE id = 'ordered'")
  await numberChanges(database.client)
  const text = `SELECT version, event FROM recorded_changes WHERE id = 'ordered' ORDER BY position`
  t.deepEqual(await query(database, text), [
    { version: 1, event: 'created' },
    { version: 2, event: 'changed' },
    { version: 3, event: 'changed' },
    { version: 3, event: 'deleted' },
  ])
  const unchanged = `SELECT event FROM recorded_changes WHERE id = 'unchanged' ORDER BY position`
  t.deepEqual(await query(database, unchanged), [{ event: 'created' }, { event: 'deleted' }])
  const last = `SELECT collection, ids IS NOT NULL AS "isSet" FROM recorded_changes ORDER BY position DESC LIMIT 3`
  const planet = { collection: 'planets', isSet: false }
  const set = { collection: 'moons', isSet: true }
  t.deepEqual(await query(database, last), [planet, set, set])
})

test('timelines of one state begin at positions of the clock and a million versions later, and each elsewhere', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  const microseconds = (Date.now() - Date.UTC(2026, 0)) * 1_000
  const begun = async (end: string) => {
    const text = `BEGIN; SELECT FROM begin_timeline();
      SELECT last_position::float8 AS last, lowest_version AS lowest, highest_version AS highest FROM change_feed; ${end}`
    return ((await database.pool.query(text)) as unknown as QueryResult[])[2]?.rows[0]
  }
  const lives = []
  for (let life = 0; life < 10; life++) lives.push(await begun('ROLLBACK'))
  t.is(new Set(lives.map(({ last }) => last)).size, 10)
  t.is(new Set(lives.map(({ lowest }) => lowest)).size, 10)
  for (const { last, lowest, highest } of lives) {
    t.true(Math.abs(last - microseconds) < 120_000_000, `${last}`)
    t.true(lowest >= 65_536 + 1_048_576 && lowest < 65_536 + 1_048_576 + 2 ** 24, `${lowest}`)
    t.is(highest, lowest + 65_536)
  }
  let former = await begun('COMMIT')
  for (let life = 0; life < 500; life++) {
    const next = await begun('COMMIT')
    const least = former.highest + Math.min(1_048_576, Math.trunc((2 ** 31 - 1 - former.highest) / 1024))
    if (next.lowest < least || next.last < former.last + 1_000_000_000) t.fail(`${life}`)
    former = next
  }
  t.true(former.highest < 2 ** 31 - 2 ** 26, `${former.highest}`)
})

test('states before changes are complete above the last change that was made without them', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  const states = () =>
    query(database, 'SELECT states_position::int AS states, last_position::int AS last FROM change_feed')
  await query(database, "INSERT INTO planets (id, name) VALUES ('unseen', 'Unseen')")
  await query(database, "SELECT record_states_before('{planets}')")
  await query(database, "INSERT INTO planets (id, name) VALUES ('seen', 'Seen')")
  await query(database, "INSERT INTO spacecraft (id, name, kind) VALUES ('other', 'Other', 'rover')")
  await numberChanges(database.client)
  t.deepEqual(await states(), [{ states: 1, last: 3 }])
})

test('a page has all changes from before its request, although another process numbers them meanwhile', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await query(database, "INSERT INTO planets (id, name) VALUES ('awaited', 'Awaited')")
  const $rows: StatementClient['$rows'] = async <Result>(statement: Statement) => {
    if (statement.text.includes('number_changes')) await numberChanges(database.client)
    return database.client.$rows<Result>(statement)
  }
  const source = { client: { $rows }, changesDays: 30 }
  const page = await readFeed(source, { resources, access, since: undefined, limit: 10 })
  t.deepEqual(
    page.changes.map(({ key }) => key.id),
    ['awaited'],
  )
})

test('changes older than CHANGES_DAYS are deleted in steps, in their order, and the others stay', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await query(
    database,
    `INSERT INTO planets (id, name, last_updated)
      SELECT 'planet-' || n, 'Planet ' || n, now() - interval '31 days' FROM generate_series(1, 2503) AS n`,
  )
  await query(database, "UPDATE recorded_changes SET changed_date = changed_date - interval '31 days'")
  await query(database, "UPDATE planets SET habitable = TRUE WHERE id = 'planet-1'")
  const counts: number[] = []
  const $rows: StatementClient['$rows'] = async <Result>(statement: Statement) => {
    const rows = await database.client.$rows<Result>(statement)
    if (statement.text.includes('purge_changes')) counts.push((rows[0] as { count: number }).count)
    return rows
  }
  const stop = startFeedUpkeep(
    {
      source: { client: { $rows }, changesDays: 30 },
      refresh: async () => void (await numberChanges(database.client)),
    },
    0,
  )
  await untilPurged(database, 2_503)
  for (let wait = 0; counts.length < 3 && wait < 200; wait++) await delay(10)
  stop()
  t.deepEqual(counts, [1_000, 1_000, 503])
  t.deepEqual(await events(database, 'planet-1'), ['null 1 null', 'changed 2 postgres'])
  t.deepEqual(await events(database, 'planet-2'), [])

  // The state before, which was purged, would be missing otherwise.
  await query(database, "UPDATE planets SET habitable = FALSE WHERE id = 'planet-2'")
  t.deepEqual(await events(database, 'planet-2'), ['null 1 null', 'changed 2 postgres'])
})

test('a service gives positions to changes that no client reads', async (t) => {
  const { database, writer } = await startTestService(t)
  await writer.put('/planets/unread', { id: 'unread', name: 'Unread' })
  const unnumbered = "SELECT id FROM recorded_changes WHERE position IS NULL AND id = 'unread'"
  // At the latest after ten seconds.
  for (let wait = 0; wait < 300 && (await query(database, unnumbered)).length > 0; wait++) await delay(100)
  t.deepEqual(await query(database, unnumbered), [])
})

test('with CHANGES_DAYS=0 nothing is recorded, and later positions continue beyond those of before', async (t) => {
  const { database, writer } = await startTestService(t, { changesDays: 0 })
  await writer.put('/planets/quiet', { id: 'quiet', name: 'Quiet' })
  await writer.patch('/planets/quiet', { name: 'Silent' })
  await query(
    database,
    "INSERT INTO moons (planet_id, id, name) SELECT 'quiet', 'moon-' || n, 'Moon' FROM generate_series(1, 1500) AS n",
  )
  await writer.delete('/planets/quiet')
  t.deepEqual(await query(database, 'SELECT FROM recorded_changes'), [])
  t.true(await keepChanges(database.client, 30, resources))
  t.deepEqual(await query(database, FEED), [{ last: 1, purged: 1 }])
  await writer.put('/planets/quiet', { id: 'quiet', name: 'Loud' })
  await numberChanges(database.client)
  t.deepEqual(await query(database, FEED), [{ last: 2, purged: 1 }])
  t.true(await keepChanges(database.client, 7, resources))
  t.deepEqual(await query(database, FEED), [{ last: 2, purged: 1 }])
})

test('changes from before the record was off are purged too, and a purge continues behind what it has deleted', async (t) => {
  const { database, writer } = await startTestService(t)
  await writer.put('/planets/early', { id: 'early', name: 'Early' })
  await numberChanges(database.client)
  t.false(await keepChanges(database.client, 0, resources))
  t.true(await keepChanges(database.client, 30, resources))
  for (const id of ['late', 'later']) await writer.put(`/planets/${id}`, { id, name: id })
  await numberChanges(database.client)
  const purge = "SELECT purge_changes(now() + interval '1 hour', 1) AS rows"
  const left = async () => (await query<{ id: string }>(database, LEFT)).map(({ id }) => id)
  for (const ids of [['late', 'later'], ['later'], []]) {
    t.deepEqual(await query(database, purge), [{ rows: 1 }])
    t.deepEqual(await left(), ids)
  }
  t.deepEqual(await query(database, purge), [{ rows: 0 }])
  t.deepEqual(await query(database, 'SELECT emptied_position::int AS emptied FROM change_feed'), [
    { emptied: 4 },
  ])
})

test('a state from while the record was off is kept when it changes, also after a purge of what was before', async (t) => {
  const { database, writer } = await startTestService(t)
  const name = (text: string) => writer.put('/planets/early', { id: 'early', name: text })
  await name('Recorded')
  await numberChanges(database.client)
  await query(database, "UPDATE recorded_changes SET changed_date = changed_date - interval '1 day'")
  await keepChanges(database.client, 0, resources)
  await name('Not recorded')
  await keepChanges(database.client, 30, resources)
  t.deepEqual(
    await query(
      database,
      "SELECT purge_changes(begin_date - interval '1 hour', 10) AS rows FROM change_feed",
    ),
    [{ rows: 1 }],
  )
  await name('Recorded again')
  t.deepEqual(
    (await events(database, 'early')).map((event) => event.split(' ', 2).join(' ')),
    ['null 2', 'changed 3'],
  )
})

const LEFT = 'SELECT id FROM recorded_changes ORDER BY position'

// The embedded database has one session, in which transactions never overlap.
const onServer = process.env['TEST_DATABASE_URL'] ? test : test.skip

onServer(
  'a change that commits late gets a later position than those already given (needs TEST_DATABASE_URL)',
  async (t) => {
    const database = await openTestDatabase(await createTestDatabase(t))
    t.teardown(() => database.close())
    const insert = (id: string) => `INSERT INTO planets (id, name) VALUES ('${id}', '${id}')`
    const late = await database.pool.connect()
    await late.query(`BEGIN; ${insert('late')}`)
    await query(database, insert('early'))
    await numberChanges(database.client)
    await late.query('COMMIT')
    late.release()
    await query(database, insert('last'))
    await numberChanges(database.client)
    const text = 'SELECT id, position::int FROM recorded_changes ORDER BY position'
    t.deepEqual(await query(database, text), [
      { id: 'early', position: 1 },
      { id: 'late', position: 2 },
      { id: 'last', position: 3 },
    ])
  },
)

test('a domain whose access rules hide rows is refused without the migration that records states', async (t) => {
  const sent: Statement[] = []
  const $rows = async (statement: Statement) => {
    sent.push(statement)
    return [{ exists: !String(statement.values[0]).startsWith('record_states_before') }]
  }
  const client = { $rows } as unknown as StatementClient
  const rules = { planets: { read: () => false } }
  await t.throwsAsync(keepChanges(client, 30, withAccess(rules).resources), {
    name: 'DefinitionError',
    message: /the migration record_states_before: run `npx halgraph resource migrate`/,
  })
  t.true(
    await keepChanges(
      client,
      30,
      resources.filter(({ path }) => path === 'spacecraft'),
    ),
  )
})

test('states before changes are recorded of resources whose rows are hidden, and of what they own', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await keepChanges(database.client, 30, withAccess({ planets: { read: () => true } }).resources)
  await query(database, "INSERT INTO planets (id, name) VALUES ('a', 'A')")
  await query(database, "INSERT INTO moons (planet_id, id, name) VALUES ('a', 'm', 'M')")
  await query(database, "INSERT INTO spacecraft (id, name, kind) VALUES ('c', 'C', 'rover')")
  for (const table of ['planets', 'moons', 'spacecraft'])
    await query(database, `UPDATE ${table} SET name = 'New'`)
  await query(database, 'DELETE FROM planets; DELETE FROM spacecraft')
  const text = `SELECT collection, event, before ->> 'name' AS name, before IS NULL AS none FROM recorded_changes ORDER BY serial`
  const rows = await query<{ collection: string; event: string; name: string | null; none: boolean }>(
    database,
    text,
  )
  const of = (path: string) =>
    rows
      .filter(({ collection }) => collection === path)
      .map(({ event, name, none }) => [event, none ? 'none' : name])
  for (const [path, name] of [
    ['planets', 'A'],
    ['moons', 'M'],
  ] as const) {
    t.deepEqual(
      of(path),
      [
        ['created', null],
        ['changed', name],
        ['deleted', 'New'],
      ],
      path,
    )
  }
  t.deepEqual(of('spacecraft'), [
    ['created', 'none'],
    ['changed', 'none'],
    ['deleted', 'none'],
  ])
})
