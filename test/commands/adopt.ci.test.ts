import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { administer, createEmptyDatabase, createTestFolder } from '../helpers/database/database.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { refusedRows, runIn } from '../helpers/service/commands.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

/** What databases of others have: keys of several kinds, names, comments, and what has no counterpart. */
const OFFICE = `
  SET search_path TO public;
  SET standard_conforming_strings TO on;
  CREATE TYPE booking_state AS ENUM ('requested', 'confirmed');
  CREATE TABLE clubs (
    club_no serial PRIMARY KEY, "clubName" varchar(80) NOT NULL UNIQUE, motto text NOT NULL, version integer,
    parent_club integer REFERENCES clubs, logo bytea, "createdAt" timestamptz, updated_at timestamp
  );
  COMMENT ON TABLE clubs IS 'The city''s clubs.';
  COMMENT ON COLUMN clubs.motto IS 'What it says of itself.';
  CREATE TABLE courts (code text PRIMARY KEY, price numeric(8,2) CHECK (price >= 0), opened date, size real, tags text[]);
  CREATE TABLE bookings (
    id bigint PRIMARY KEY, court text NOT NULL REFERENCES courts ON DELETE CASCADE, home_id integer NOT NULL REFERENCES clubs,
    away_id integer REFERENCES clubs ON DELETE SET NULL, state booking_state NOT NULL DEFAULT 'requested', seats bigint,
    starts timestamptz NOT NULL, notes jsonb, UNIQUE (court, starts)
  );
  CREATE TABLE memberships (club_no integer REFERENCES clubs, person uuid, since date NOT NULL, PRIMARY KEY (club_no, person));
  CREATE TABLE directus_users (id uuid PRIMARY KEY, email text);
  CREATE TABLE log (line text);
  INSERT INTO clubs VALUES
    (1, 'Nordhalle', '', 3, 2, NULL, '1999-01-01 12:00+02', '2001-02-03 04:05:06.789'), (2, 'Union', 'Together', NULL, NULL, decode('ff', 'hex'), NULL, NULL);
  INSERT INTO courts VALUES ('north.1', 12.5, '1987-06-05', 1.5, '{wet,cold}'), ('bad/code', NULL, NULL, NULL, NULL);
  INSERT INTO bookings VALUES (9007199254740993, 'north.1', 1, 2, 'confirmed', 9007199254740993, '2020-01-01 10:00+00', '{"a": [1]}');
  INSERT INTO memberships VALUES (2, 'a81bc81b-dead-4e5d-abff-90865d1e13b1', '2010-01-01')`

async function adopted(t: ExecutionContext) {
  const source = String((await createEmptyDatabase(t)).connectionString)
  await administer(source, (client) => client.query(OFFICE))
  const databaseUrl = String((await createEmptyDatabase(t)).connectionString)
  const folder = await createTestFolder(t)
  const environment = { DOMAIN: folder, DATABASE_URL: databaseUrl, DATABASE_TIMEOUT: '60000' }
  const run = (name: string, ...parameters: string[]) => runIn(folder, name, environment, ...parameters)
  return { source, folder, run }
}

claim('the tables of a database become a domain, and their rows its resources', async (t) => {
  const { source, folder, run } = await adopted(t)
  const made = await run('adopt', source)
  t.is(made.errors, '')
  t.regex(made.output, /^Wrote 4 collections to /)
  t.regex((await run('adopt', source)).errors, /^clubs\.ts, .*ADOPTED\.md exist in .*; pass --replace/)
  const remarks = await readFile(join(folder, 'ADOPTED.md'), 'utf8')
  for (const remark of [
    'logo is left out: there is no field for bytea',
    'version is the field version_value',
    'clubName is the field club_name',
    'courts_price_check (CHECK ((price >= (0)::numeric))): a rule to write in its definition',
    'its key (club_no, person) becomes an identifier with ~ between its parts',
    'directus_users: a table of another tool',
    'log: it has no primary key',
  ])
    t.true(remarks.includes(`- ${remark}\n`), remark)
  for (const name of ['resource migrate', 'migrate']) {
    const { status, errors, output } = await run(...(name.split(' ') as [string]))
    t.is(status, 0, errors + output)
  }
  const copied = await run('adopt', source, '--copy')
  t.is(copied.status, 1)
  t.deepEqual(copied.output.trim().split('\n').sort(), [
    'bookings: 1 rows, 1 copied, 0 there before, 0 refused',
    'clubs: 2 rows, 2 copied, 0 there before, 0 refused',
    `courts: 2 rows, 1 copied, 0 there before, 1 refused; see ${folder}/adopted/courts.errors.ndjson`,
    'memberships: 1 rows, 1 copied, 0 there before, 0 refused',
  ])
  t.is((await refusedRows(join(folder, 'adopted/courts')))[0]?.['code'], 'VALIDATION_FAILED')
  const exported = async (path: string) =>
    (await run('export', path)).output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const clubs = await exported('clubs')
  t.like(
    clubs.find(({ id }) => id === '1'),
    {
      club_name: 'Nordhalle',
      motto: '',
      version_value: 3,
      parent_club_id: '2',
      created_at: '1999-01-01T10:00:00.000Z',
      last_updated: '2001-02-03T04:05:06.789Z',
    },
  )
  t.like((await exported('courts'))[0], {
    ...{ id: 'north.1', price: '12.50', opened: '1987-06-05', size: 1.5, tags: ['wet', 'cold'] },
  })
  const booking = { court_id: 'north.1', home_id: '1', away_id: '2', state: 'confirmed', notes: { a: [1] } }
  const number = '9007199254740993'
  t.like((await exported('bookings'))[0], {
    id: number,
    seats: number,
    starts: '2020-01-01T10:00:00.000Z',
    ...booking,
  })
  t.like((await exported('memberships'))[0], {
    id: '2~a81bc81b-dead-4e5d-abff-90865d1e13b1',
    club_no_id: '2',
  })
  const doctor = await run('doctor', '--json')
  t.is(doctor.status, 0, doctor.output)
  const again = await run('adopt', source, '--copy')
  t.true(again.output.includes('clubs: 2 rows, 0 copied, 2 there before, 0 refused\n'))
})

claim('what cannot be adopted or copied is refused with a sentence', async (t) => {
  const { source, folder, run } = await adopted(t)
  const refusal = async (...parameters: string[]) =>
    (await run('adopt', ...parameters)).errors.replace(/^Building.*\n/gm, '').replace(/\n[\s\S]*/, '')
  t.is(await refusal(), 'Pass the address of one database')
  t.regex(await refusal('mysql://here'), /is not a URL of the form postgresql/)
  t.regex(await refusal('postgresql://postgres@127.0.0.1:1/none'), /^The database to adopt refuses: /)
  t.regex(await refusal(source, '--schema', 'none'), /^There are no tables to adopt in the schema none/)
  await run('adopt', source)
  await run('resource', 'migrate')
  const text = await readFile(join(folder, 'adopted.json'), 'utf8')
  await writeFile(join(folder, 'adopted.json'), text.replace('"motto"', '"slogan"'))
  t.is(await refusal(source, '--copy'), 'adopted.json: clubs has no field slogan; correct either of them')
})
