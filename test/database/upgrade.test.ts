import { readdirSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { Client, type ClientConfig } from 'pg'
import { migrate } from '../../src/database/migrations/migrator.ts'
import { wrongParts } from '../../src/database/migrations/parts.ts'
import { sessionStatement } from '../../src/database/session.ts'
import { tableName } from '../../src/model/definition/resource.ts'
import { createEmptyDatabase } from '../helpers/database/database.ts'
import { makeFormerDatabase } from '../helpers/database/former-database.ts'
import { resources, tables } from '../helpers/domain/domain.ts'

/** The last migration before sets of tombstones and constraints for every bound. */
const FORMER = '20261120000110_species_indexes'

/** Rows of every kind, some deleted, and one that later constraints refuse. */
const ROWS = `
  INSERT INTO planets (id, name, host_star) VALUES ('one', 'One', repeat('x', 600)), ('gone', 'Gone', NULL);
  INSERT INTO species (id, scientific_name, planet_origin, planet_id, discovery_status)
    VALUES ('one', 'Una', 'One', 'one', 'newly_catalogued');
  INSERT INTO moons (planet_id, id, name) VALUES ('one', 'one', U&'\\00A0'), ('gone', 'lost', 'Lost');
  INSERT INTO atmosphere (planet_id, id, composition) VALUES ('one', 'one', '{"neon": 7}');
  INSERT INTO spacecraft (id, name, kind) VALUES ('one', 'One', 'rover');
  INSERT INTO missions (id, name, status) VALUES ('one', 'One', 'planned');
  INSERT INTO astronauts (id, name) VALUES ('one', 'One');
  INSERT INTO crew (mission_id, id, astronaut_id, role) VALUES ('one', 'one', 'one', 'pilot');
  INSERT INTO data (mission_id, id, instrument, recorded_at, quantity, value)
    VALUES ('one', 'one', 'radar', '10500-01-01', 'height', 1);
  INSERT INTO training_records (astronaut_id, id, course, completed_date) VALUES ('one', 'one', 'Egress', now());
  UPDATE species SET habitat = 'reef';
  UPDATE moons SET name = 'Lost' WHERE id = 'lost';
  UPDATE moons SET tidally_locked = TRUE WHERE id = 'lost';
  DELETE FROM planets WHERE id = 'gone';`

async function connect(t: ExecutionContext, connection: ClientConfig): Promise<Client> {
  const client = new Client(connection)
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  await client.query(sessionStatement())
  return client
}

test('an upgrade keeps every row, version, timestamp, tombstone and count, also of rows that it would refuse now', async (t) => {
  const connection = await createEmptyDatabase(t)
  const client = await connect(t, connection)
  await makeFormerDatabase(client, tables.migrations, FORMER)
  await client.query(ROWS)
  const known = await resourceTables(client)
  t.true(known.length > 5)
  const before = await everything(client, known)
  t.true((await migrate(connection, tables.migrations)).length > 0)
  t.deepEqual(await everything(client, known), before)

  await client.query("INSERT INTO planets (id, name) VALUES ('gone', 'Gone')")
  const { rows } = await client.query(
    "INSERT INTO moons (planet_id, id, name) VALUES ('gone', 'lost', 'Lost') RETURNING version",
  )
  t.deepEqual(rows, [{ version: 3 }])
})

test('an upgrade gives each table the column of the author, and leaves versions and the history as they are', async (t) => {
  const connection = await createEmptyDatabase(t)
  const client = await connect(t, connection)
  await makeFormerDatabase(client, tables.migrations, '20261125200000_begin_timeline')
  const begin = "BEGIN; SELECT set_config('halgraph.subject', 'ada', true);"
  await client.query(`${begin}
    INSERT INTO planets (id, name) VALUES ('one', 'One'), ('gone', 'Gone');
    INSERT INTO moons (planet_id, id, name) VALUES ('one', 'one', 'One'), ('gone', 'lost', 'Lost');
    INSERT INTO astronauts (id, name) VALUES ('one', 'One');
    COMMIT; UPDATE planets SET name = 'None' WHERE id = 'one'; ${begin} DELETE FROM planets WHERE id = 'gone'; COMMIT`)
  const known = await resourceTables(client)
  // A later migration adds the column.
  const changes =
    "SELECT to_jsonb(change) - 'before' AS change FROM recorded_changes AS change ORDER BY serial"
  const history = async () => (await client.query(changes)).rows
  const before = { ...(await everything(client, known)), history: await history() }
  t.true(before.history.some(({ change }) => change.changed_by === 'ada'))
  t.is((await migrate(connection, tables.migrations))[0], '20261125210000_record_authors')
  t.deepEqual({ ...(await everything(client, known)), history: await history() }, before)
  for (const table of known)
    t.deepEqual((await client.query(`SELECT FROM ${table} WHERE changed_by IS NOT NULL`)).rows, [])
  // As a process of the former version, which keeps working meanwhile, names it.
  await client.query(`${begin} UPDATE planets SET host_star = 'Sol'; COMMIT`)
  t.deepEqual((await client.query('SELECT changed_by FROM planets')).rows, [{ changed_by: 'ada' }])
})

test('after an upgrade, the first change of a resource records its state before, too', async (t) => {
  const connection = await createEmptyDatabase(t)
  const client = await connect(t, connection)
  await makeFormerDatabase(client, tables.migrations, FORMER)
  await client.query(ROWS)
  await migrate(connection, tables.migrations)
  await client.query("UPDATE planets SET host_star = 'Sol'")
  await client.query("UPDATE planets SET host_star = 'Sun'")
  await client.query('DELETE FROM moons')
  const { rows } = await client.query(`SELECT collection, parent_id, id, version, event,
    left(resource ->> 'host_star', 3) AS star FROM recorded_changes ORDER BY serial`)
  const { rows: times } = await client.query(
    "SELECT changed_date = (resource ->> 'last_updated')::timestamptz AS same FROM recorded_changes WHERE event IS NULL",
  )
  t.deepEqual(times, [{ same: true }], 'the state before has the time of its last change')
  const planet = { collection: 'planets', parent_id: '', id: 'one' }
  t.deepEqual(rows, [
    { ...planet, version: 1, event: null, star: 'xxx' },
    { ...planet, version: 2, event: 'changed', star: 'Sol' },
    { ...planet, version: 3, event: 'changed', star: 'Sun' },
    { collection: 'moons', parent_id: 'one', id: 'one', version: 1, event: 'deleted', star: null },
  ])
})

test('texts that an upgrade makes equal or blank stay, are named, and admit no further ones', async (t) => {
  const connection = await createEmptyDatabase(t)
  const client = await connect(t, connection)
  await makeFormerDatabase(client, tables.migrations, '20261124125939_species_sort_indexes')
  await client.query(`
    INSERT INTO planets (id, name) VALUES ('mars', 'Mars'), ('mars-2', U&'Mars\\00A0'), ('mars-3', U&'\\200BMARS'),
      ('blank', U&'\\2800'), ('io', 'Io');
    INSERT INTO species (id, scientific_name, planet_origin, discovery_status)
      VALUES ('one', 'Una', U&'Mars\\00A0', 'newly_catalogued'), ('two', U&'\\00ADUna', U&'\\2800', 'newly_catalogued');
    INSERT INTO astronauts (id, name, call_sign) VALUES ('one', 'One', NULL), ('two', 'Two', NULL);
    CREATE INDEX by_hand ON planets (folded(name)) WHERE id <> 'io'`)
  const known = await resourceTables(client)
  const before = await everything(client, known)
  const warnings: string[] = []
  // Other tests migrate moons at the same time.
  const record = ({ name, message }: Error) =>
    void (name === 'DatabaseWarning' && !message.startsWith('moons') && warnings.push(message))
  process.on('warning', record)
  await migrate(connection, tables.migrations)
  process.off('warning', record)
  t.deepEqual(await everything(client, known), before)
  t.deepEqual(warnings, [
    'planets: 2 row(s) have a text that must be unique and now equals that of another row, such as mars-2, mars-3. npm run doctor names them.',
    'species: 1 row(s) have a text that must be unique and now equals that of another row, such as two. npm run doctor names them.',
    'planets: 1 row(s) have a required text that is blank now, or break planets_name_check in another way. npm run doctor names them.',
  ])
  for (const name of ["'MARS'", "U&'Io\\2060'", "U&'\\FE0F'"]) {
    const error = await t.throwsAsync(client.query(`INSERT INTO planets (id, name) VALUES ('new', ${name})`))
    t.regex((error as { code?: string }).code ?? '', /^23505|23514$/, name)
  }
  const indexed = "SELECT id FROM planets WHERE folded(name) = 'mars' AND id <> 'io' ORDER BY id"
  await client.query('SET enable_seqscan = off')
  t.deepEqual((await client.query(indexed)).rows, [{ id: 'mars' }, { id: 'mars-2' }, { id: 'mars-3' }])
  const { rows } = await client.query("UPDATE species SET habitat = 'reef' RETURNING id, planet_id, version")
  t.deepEqual(rows, [
    { id: 'one', planet_id: 'mars-2', version: 2 },
    { id: 'two', planet_id: 'blank', version: 2 },
  ])
})

/** Rows that later constraints admit, too. */
const VALID_ROWS = ROWS.replace("repeat('x', 600)", "'Sol'")
  .replace("U&'\\00A0'", "'One'")
  .replace('"neon": 7', '"neon": 1')
  .replace('10500-01-01', '2100-01-01')

const formers = readdirSync(tables.migrations)
  .filter((name) => /^\d/.test(name))
  .sort()

for (const former of formers.slice(formers.indexOf(FORMER), -1)) {
  test(`an upgrade from ${former} keeps what is stored, positions and versions go on, and no part is missing`, async (t) => {
    const connection = await createEmptyDatabase(t)
    const client = await connect(t, connection)
    await makeFormerDatabase(client, tables.migrations, former)
    await client.query(VALID_ROWS)
    const isRecorded = former >= '20261123000100_recorded_changes'
    if (isRecorded) await client.query('SELECT number_changes(1000)')
    const stored = await resourceTables(client)
    const before = { ...(await everything(client, stored)), record: isRecorded && (await record(client)) }
    await migrate(connection, tables.migrations)
    t.deepEqual(
      { ...(await everything(client, stored)), record: isRecorded && (await record(client)) },
      before,
    )
    t.deepEqual(await wrongParts(connection, tables.migrations), [])
    const last = isRecorded ? Number((await record(client)).at(-1)?.change['position']) : 0
    if (isRecorded) t.true(last > 5)
    await client.query("INSERT INTO planets (id, name) VALUES ('gone', 'Gone'); SELECT number_changes(1000)")
    const [added] = (await record(client)).slice(-1)
    t.like(added?.change, { collection: 'planets', id: 'gone', version: 2, position: last + 1 })
    const counts = "SELECT sum(rows)::integer AS rows FROM row_counts WHERE collection = 'planets'"
    t.deepEqual((await client.query(counts)).rows, [{ rows: 2 }])
  })
}

/** The recorded changes in the order of the feed, without the columns of later migrations. */
async function record(client: Client): Promise<{ change: Record<string, unknown> }[]> {
  const { rows } = await client.query(
    `SELECT to_jsonb(change) - 'before' - 'changed_by' AS change FROM recorded_changes AS change ORDER BY position`,
  )
  return rows
}

/** The tables of the resources that a database has so far; later migrations add others. */
async function resourceTables(client: Client): Promise<string[]> {
  const names = resources.map(({ path }) => tableName(path))
  const { rows } = await client.query(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
    [names],
  )
  return rows.map(({ name }) => name)
}

async function everything(client: Client, tables: readonly string[]): Promise<Record<string, unknown[]>> {
  const contents: Record<string, unknown[]> = {}
  for (const table of [...tables, 'tombstones']) {
    const { rows } = await client.query(
      `SELECT to_jsonb(t) - 'changed_by' AS row FROM ${table} AS t ORDER BY 1`,
    )
    contents[table] = rows
  }
  const counts = 'SELECT collection, sum(rows) FROM row_counts GROUP BY 1 HAVING sum(rows) > 0 ORDER BY 1'
  return { ...contents, row_counts: (await client.query(counts)).rows }
}
