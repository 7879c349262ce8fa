import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createSetup, prepareMoons, refusedRows, runCommand as run } from '../helpers/service/commands.ts'

test('an import that is killed writes nothing twice when it is run again', async (t) => {
  const { setup, file, begin } = await prepareMoons(t, 190)
  await setup.use(async ({ client }) => {
    const child = begin()
    const closed = once(child, 'close')
    while ((await client.prisma.moon.count()) === 0);
    child.kill('SIGKILL')
    await closed
  })
  t.is((await run('import', setup.environment, 'moons', file)).status, 0)
  t.is(await setup.use(({ client }) => client.prisma.moon.count()), 190)
})

/** Ends the process as soon as it has sent a text to the database, after it has begun to insert moons. */
const killedAt = (sent: string) =>
  `data:text/javascript,${encodeURIComponent(`
  import { Socket } from 'node:net'
  const { _writeGeneric } = Socket.prototype
  let inserts = false
  Socket.prototype._writeGeneric = function (isMany, data, ...others) {
    const text = isMany ? data.map(({ chunk }) => chunk.toString('latin1')).join('') : data.toString('latin1')
    inserts ||= text.includes('INSERT INTO "moons"')
    _writeGeneric.call(this, isMany, data, ...others)
    if (inserts && text.includes(${JSON.stringify(sent)})) process.kill(process.pid, 'SIGKILL')
  }
`)}`

for (const sent of ['INSERT', 'COMMIT']) {
  test(`an import that is killed at the ${sent} of a chunk writes everything once when it is run again`, async (t) => {
    const { setup, file, begin } = await prepareMoons(t, 190)
    const environment = { ...setup.environment }
    setup.environment['NODE_OPTIONS'] = `--import=${killedAt(sent)}`
    const [, signal] = await once(begin(), 'close')
    t.is(signal, 'SIGKILL')
    const again = await run('import', environment, 'moons', file)
    t.regex(again.output, /^Imported \d+, skipped \d+, refused 0\n/)
    t.is(await setup.use(({ client }) => client.prisma.moon.count()), 190)
  })
}

test('a file is imported once, and once more for each text of --again', async (t) => {
  const { setup, file } = await prepareMoons(t, 3)
  const imported = async (...parameters: string[]) =>
    (await run('import', setup.environment, 'moons', file, ...parameters)).output.trim()
  t.is(await imported(), 'Imported 3, skipped 0, refused 0')
  t.is(await imported(), 'Imported 0, skipped 3, refused 0')
  t.is(await imported('--replace'), 'Imported 0, skipped 3, refused 0')
  for (const text of ['one', 'two']) t.is(await imported('--again', text), 'Imported 3, skipped 0, refused 0')
  t.is(await imported('--again', 'one'), 'Imported 0, skipped 3, refused 0')
  t.is(
    await imported('--again', 'three', '--dry-run', '--replace'),
    'Valid 3 (would create 3, replace 0), refused 0',
  )
})

test('rows are written in transactions of 100, and those of a chunk with a refused row by themselves', async (t) => {
  const setup = await createSetup(t)
  const file = join(setup.folder, 'planets.ndjson')
  const rows = Array.from({ length: 250 }, (_, number) => ({ name: `Planet ${number}` }))
  rows[130] = { name: 'planet 30' }
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'))
  const { status, output } = await run('import', setup.environment, 'planets', file)
  t.is(status, 1)
  t.regex(output, /^Imported 249, skipped 0, refused 1;/)
  t.deepEqual(
    (await refusedRows(file)).map(({ line, code, details }) => [line, code, details[0].field]),
    [[131, 'RESOURCE_ALREADY_EXISTS', 'name']],
  )
  await setup.use(async ({ client }) => {
    const names = await client.prisma.planet.findMany({ select: { name: true }, orderBy: { id: 'asc' } })
    t.deepEqual(names, rows.toSpliced(130, 1), 'in the order of the lines')
    const [written] = await client.prisma.$queryRaw<object[]>`
      SELECT count(DISTINCT xmin::text)::int AS transactions,
        array_agg(DISTINCT changed_by) AS authors,
        (SELECT array_agg(DISTINCT changed_by) FROM recorded_changes) AS recorded FROM planets`
    t.deepEqual(written, { transactions: 1 + 99 + 1, authors: ['operator'], recorded: ['operator'] })
  })
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
  t.is(await setup.use(({ client }) => client.prisma.species.count()), 0)
  await setup.use(({ client }) =>
    client.prisma.species.create({
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
    ['import', ['planets', 'planets.txt'], /ending in .ndjson, .jsonl, .csv or .tsv/],
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
    await client.prisma.planet.create({ data: { id: 'blank', name: 'Blank', discovery_year: 1995 } })
    await client.prisma.$executeRawUnsafe('ALTER TABLE planets DROP CONSTRAINT planets_name_check')
    await client.prisma.$executeRawUnsafe("UPDATE planets SET name = ' '")
    await client.prisma.$executeRawUnsafe('ALTER TABLE planets ADD COLUMN colour text')
    await client.prisma.$executeRawUnsafe('ALTER TABLE moons ALTER COLUMN tidally_locked TYPE text')
    await client.prisma.$executeRawUnsafe('ALTER TABLE moons ALTER COLUMN name DROP NOT NULL')
  })
  const { output, status } = await run('doctor', setup.environment)
  t.is(status, 1)
  t.regex(output, /table planets has an unknown column colour/)
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
