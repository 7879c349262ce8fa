import { once } from 'node:events'
import { access, appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { createSetup, refusedRows, runCommand as run, startCommand as start } from '../helpers/commands.ts'
import { createFaultyLink } from '../helpers/faulty-link.ts'

test('an import that is killed before its first checkpoint writes nothing twice when it is resumed', async (t) => {
  const { setup, file, begin } = await prepareMoons(t, 190)
  await setup.use(async ({ client }) => {
    const child = begin()
    const closed = once(child, 'close')
    while ((await client.moon.count()) === 0);
    child.kill('SIGKILL')
    await closed
  })
  t.is((await run('import', setup.environment, 'moons', file)).status, 0)
  t.is(await setup.use(({ client }) => client.moon.count()), 190)
})

test('an import during which the database goes away refuses no row for it, and resumes', async (t) => {
  const { setup, file, begin } = await prepareMoons(t, 1500)
  const url = setup.environment['DATABASE_URL']
  const link = url && (await createFaultyLink(new URL(url), t))
  if (link) setup.environment['DATABASE_URL'] = url.replace(/:\d+\//, `:${link.port}/`)
  // Without a server, the import uses the database of this process, which ends here.
  const { ended } = await setup.use(async ({ client }) => {
    const child = begin()
    const ended = Promise.all([text(child.stderr), once(child, 'close')])
    while ((await client.moon.count()) === 0);
    if (link) link.set('down')
    return { ended }
  })
  const [errors, [status]] = await ended
  t.is(status, 1)
  t.regex(errors, /The database does not answer/)
  t.notRegex(errors, /\n\s+at /)
  if (link) link.set('open')
  const again = await run('import', setup.environment, 'moons', file)
  t.regex(again.output, /^Imported \d+, skipped \d+, refused 0\n/)
  t.is(await setup.use(({ client }) => client.moon.count()), 1500)
})

/** A file of moons. Their names are not unique, so only the import itself prevents duplicates. */
async function prepareMoons(t: ExecutionContext, count: number) {
  const setup = await createSetup(t)
  const file = join(setup.folder, 'moons.ndjson')
  const row = JSON.stringify({ planet_id: 'kepler', name: 'Same name' })
  await writeFile(file, `${row}\n`.repeat(count))
  await setup.use(({ client }) => client.planet.create({ data: { id: 'kepler', name: 'Kepler' } }))
  return { setup, file, begin: () => start('import', setup.environment, 'moons', file) }
}

test('an import that is killed repeatedly neither loses nor duplicates rows', async (t) => {
  const setup = await createSetup(t)
  const file = join(setup.folder, 'moons.csv')
  // Names of moons are not unique, so only the import itself prevents duplicates.
  const rows = Array.from({ length: 1500 }, (_, number) => `kepler,Same name,${number}`)
  await writeFile(file, `\uFEFFplanet_id,name,radius_kilometres\r\n${rows.join('\r\n')}\r\n`)
  await setup.use(({ client }) => client.planet.create({ data: { id: 'kepler', name: 'Kepler' } }))
  let status: number | null = null
  for (let kills = 0; status === null; kills++) {
    const child = start('import', setup.environment, 'moons', file)
    const closed = once(child, 'close')
    const from = await rowsDone(file)
    while (kills < 3 && child.exitCode === null && (await rowsDone(file)) < from + 200) await pause(20)
    if (kills < 3) child.kill('SIGKILL')
    status = (await closed)[0]
  }
  t.is(status, 0)
  const moons = await setup.use(({ client }) => client.moon.findMany({ orderBy: { id: 'asc' } }))
  const radii = moons.map(({ radius_kilometres: radius }) => radius)
  t.deepEqual(
    radii,
    Array.from({ length: 1500 }, (_, number) => number),
    'in the order of the lines',
  )
  await t.throwsAsync(access(`${file}.import-state.json`), undefined, 'the state is deleted')
})

test('an interrupted import reports its progress and resumes, and reports each refused row once', async (t) => {
  const setup = await createSetup(t)
  const file = join(setup.folder, 'planets.ndjson')
  const refused = [5, 1450]
  const rows = Array.from({ length: 1500 }, (_, number) =>
    JSON.stringify({ name: refused.includes(number) ? ' ' : `Planet ${number}` }),
  )
  await writeFile(file, rows.join('\n'))
  const child = start('import', setup.environment, 'planets', file)
  const closed = once(child, 'close')
  const errors = text(child.stderr)
  while (child.exitCode === null && (await rowsDone(file)) < 200) await pause(20)
  child.kill('SIGINT')
  const [status] = await closed
  t.is(status, 130)
  t.regex(await errors, /Interrupted after \d+ of 1500 rows/)
  // What a crash leaves of errors that the saved state does not know.
  await appendFile(`${file}.errors.ndjson`, '{"line":0}\n'.repeat(1_000))
  const again = await run('import', setup.environment, 'planets', file)
  t.is(again.status, 1)
  t.is(await setup.use(({ client }) => client.planet.count()), 1498)
  t.deepEqual(
    (await refusedRows(file)).map(({ line }) => line),
    [6, 1451],
  )
})

test('refused rows are written to a file with their lines, the others are imported', async (t) => {
  const setup = await createSetup(t)
  const file = join(setup.folder, 'species.ndjson')
  const rows = [
    { scientific_name: 'Prima' },
    { scientific_name: 'Duo', colour: 'blue' },
    { scientific_name: 'una' },
    { temperature_range: { min_celsius: 2, max_celsius: 1 } },
    { scientific_name: 'Tres', temperature_range: { min_celsius: -300 } },
  ]
  await writeFile(file, `${rows.map((row) => JSON.stringify(row)).join('\n\n')}\n{"broken\n`)
  const dry = await run('import', setup.environment, 'species', file, '--dry-run')
  t.is(dry.status, 1)
  t.regex(dry.output, /^Valid 3, refused 3/)
  t.is(await setup.use(({ client }) => client.species.count()), 0)
  await setup.use(({ client }) =>
    client.species.create({
      data: { id: 'una', scientific_name: 'Una', discovery_status: 'newly_catalogued' },
    }),
  )
  const { status, output } = await run('import', setup.environment, 'species', file)
  t.is(status, 1)
  t.is(output, `Imported 1, skipped 0, refused 5; see ${file}.errors.ndjson\n`)
  const errors = (await readFile(`${file}.errors.ndjson`, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.deepEqual(
    errors.map(({ line, code, details }) => [
      line,
      code,
      details.map((detail: { code: string }) => detail.code),
    ]),
    [
      [3, 'VALIDATION_FAILED', ['UNKNOWN_FIELD']],
      [5, 'RESOURCE_ALREADY_EXISTS', ['DUPLICATE_VALUE']],
      [7, 'VALIDATION_FAILED', ['REQUIRED_FIELD', 'INVALID_RANGE']],
      [9, 'BUSINESS_RULE_VIOLATION', ['BELOW_ABSOLUTE_ZERO']],
      [10, 'MALFORMED_JSON', []],
    ],
  )
})

test('invalid arguments are one message and exit status 2', async (t) => {
  const { folder, environment } = await createSetup(t)
  const file = join(folder, 'table.csv')
  await writeFile(file, 'name,colour\nx,blue\n')
  for (const [name, parameters, message] of [
    ['import', [], /Missing collection. Collections: species, planets/],
    ['import', ['unicorns', file], /Unknown collection unicorns/],
    ['import', ['planets', 'planets.txt'], /ending in .ndjson, .jsonl or .csv/],
    ['import', ['planets', join(folder, 'none.csv')], /Cannot read/],
    ['import', ['planets', file], /Unknown columns in the header: colour/],
    ['import', ['planets', file, '--quick'], /--quick/],
    ['export', ['planets', '--format', 'xml'], /ndjson or csv/],
    ['export', ['unicorns'], /Unknown collection unicorns/],
  ] as const) {
    const { status, errors, output } = await run(name, environment, ...parameters)
    t.is(status, 2, errors)
    t.regex(errors, message)
    t.notRegex(errors, /\n\s+at /)
    t.is(output, '')
  }
})

test('doctor reports no problem in a correct database', async (t) => {
  const { environment } = await createSetup(t)
  const { output, status } = await run('doctor', environment)
  t.is(status, 0, output)
  t.notRegex(output, /FAIL/)
  t.regex(output, /ok +server: PostgreSQL \d.*, encoding UTF8, collation /)
  t.regex(output, /ok +session: .*TimeZone UTC; DateStyle ISO, MDY; .*extra_float_digits 1; /)
})

test('doctor reports differing columns and invalid rows', async (t) => {
  const setup = await createSetup(t)
  await setup.use(async ({ client }) => {
    await client.planet.create({ data: { id: 'blank', name: 'Blank', discovery_year: 1995 } })
    await client.$executeRawUnsafe('ALTER TABLE planets DROP CONSTRAINT planets_name_check')
    await client.$executeRawUnsafe("UPDATE planets SET name = ' '")
    await client.$executeRawUnsafe('ALTER TABLE planets ADD COLUMN colour text')
    await client.$executeRawUnsafe('ALTER TABLE moons ALTER COLUMN tidally_locked TYPE text')
    await client.$executeRawUnsafe('ALTER TABLE moons ALTER COLUMN name DROP NOT NULL')
  })
  const { output, status } = await run('doctor', setup.environment)
  t.is(status, 1)
  t.regex(output, /table planets has unknown colour/)
  t.regex(output, /table moons: tidally_locked is text, expected boolean/)
  t.regex(output, /table moons: name must not be nullable/)
  t.regex(output, /blank: REQUIRED_FIELD name is required/)
})

test('doctor reports invalid settings and an unreachable database', async (t) => {
  const settings = await run('doctor', { PORT: 'many', NODE_ENV: 'production' })
  t.is(settings.status, 1)
  t.regex(settings.output, /FAIL {2}settings\n\s+PORT: .*\n\s+JWT_SECRET/)
  const database = await run('doctor', {
    DATABASE_URL: 'postgresql://127.0.0.1:1/none',
    DATABASE_START_SECONDS: '0',
  })
  t.is(database.status, 1)
  t.regex(database.output, /FAIL.*\n.*cannot be reached/)
})

/** The number of rows in the saved state of an import; 0 without a state. */
async function rowsDone(file: string): Promise<number> {
  const state = `${file}.import-state.json`
  if (!(await stat(state).catch(() => undefined))) return 0
  return JSON.parse(await readFile(state, 'utf8')).rows
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
