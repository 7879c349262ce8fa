import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { localCells } from '../../src/commands/import/local-cells.ts'
import { boolean, date, number, text, timestamp } from '../../src/domain/definition.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { createSetup, refusedRows, runCommand } from '../helpers/service/commands.ts'

const LIMIT = 1024 * 1024

/** Imports a file with this content into planets; resolves to the imported and the refused rows. */
async function importing(t: ExecutionContext, name: string, content: string | Buffer) {
  const { environment, folder, use } = await createSetup(t)
  const file = join(folder, name)
  await writeFile(file, content)
  const { status, output, errors } = await runCommand('import', environment, 'planets', file)
  t.is(status, 1, errors)
  t.notRegex(errors, /\n\s+at /)
  const planets = await use(({ client }) => client.prisma.planet.findMany({ orderBy: { name: 'asc' } }))
  const refused = await refusedRows(file)
  t.regex(output, new RegExp(`^Imported ${planets.length}, skipped 0, refused ${refused.length}`))
  return {
    imported: planets.map(({ name }) => name),
    refused: refused.map(({ line, code }) => [line, code]),
    reasons: refused.map(({ message }) => message as string),
  }
}

test('a line of JSON follows the rules of request bodies, and the other lines are imported', async (t) => {
  const lines = [
    '{"name":"A"}',
    '{"name":"Twice","name":"Named"}',
    Buffer.from('{"name":"Latin \xe9"}', 'latin1'),
    '{"name":"Proto","__proto__":{"admin":true}}',
    '{"name":"Constructor","constructor":{"prototype":{}}}',
    `{"name":"Deep","host_star":${'['.repeat(65)}${']'.repeat(65)}}`,
    '',
    '{"name":"B"}{"name":"C"}',
    '{"name":"Separated\u2028by no line end"}\r',
    '{"name":"Typed","id":5}',
    '["D"]',
    '\uFEFF{"name":"Z"}',
  ]
  const bytes = lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])
  const { imported, refused, reasons } = await importing(t, 'planets.ndjson', Buffer.concat(bytes))
  t.deepEqual(imported, ['A', 'Separated\u2028by no line end', 'Z'])
  t.deepEqual(refused, [
    [2, 'MALFORMED_JSON'],
    [3, 'MALFORMED_JSON'],
    [4, 'MALFORMED_JSON'],
    [5, 'MALFORMED_JSON'],
    [6, 'MALFORMED_JSON'],
    [8, 'MALFORMED_JSON'],
    [10, 'VALIDATION_FAILED'],
    [11, 'VALIDATION_FAILED'],
  ])
  t.regex(reasons[0] ?? '', /two members named "name"/)
  t.regex(reasons[1] ?? '', /not valid UTF-8/)
})

test('a row with a number that would be stored as another one is refused', async (t) => {
  const numbers = ['1e400', '9007199254740993', '0.30000000000000001', '0.10000000000000001']
  const refusals = [1, 2, 3].map((number) => [number, 'VALIDATION_FAILED'])
  const lines = numbers.map((number, index) => `{"name":"${index}","mass_jupiters":${number}}`)
  const json = await importing(t, 'planets.ndjson', lines.join('\n'))
  t.deepEqual([json.imported, json.refused], [['3'], refusals])
  const rows = numbers.map((number, index) => `${index},${number}`)
  const csv = await importing(t, 'planets.csv', ['name,mass_jupiters', ...rows].join('\n'))
  t.deepEqual([csv.imported, csv.refused], [['3'], refusals.map(([line, code]) => [Number(line) + 1, code])])
})

test('a line can be as large as a request body, and no larger', async (t) => {
  const padded = (name: string, length: number) => `{"name":"${name}"}`.padEnd(length)
  const lines = [
    padded('Just', LIMIT),
    padded('Over', LIMIT + 1),
    padded('After', 20),
    padded('Far', 3 * LIMIT),
  ]
  const { imported, refused } = await importing(t, 'planets.ndjson', lines.join('\r\n'))
  t.deepEqual(imported, ['After', 'Just'])
  t.deepEqual(refused, [
    [2, 'PAYLOAD_TOO_LARGE'],
    [4, 'PAYLOAD_TOO_LARGE'],
  ])
})

test('an invalid CSV record is refused with its line and the reason, and the others are imported', async (t) => {
  const { imported, refused, reasons } = await importing(
    t,
    'planets.csv',
    Buffer.concat([
      Buffer.from('\uFEFFname,host_star\r\n"A","two\r\nlines"\r\nSt"ray,x\r\n"B ""quoted""",x\r\n'),
      Buffer.from('"Junk" after,x\r\nLatin \xe9,x\r\n', 'latin1'),
      Buffer.from(
        '\r\nC,x,too many\r\n"Open,x\r\n"D","x"\r\nE,"x\r\n"F",x\r\nG,x\r\n"Open to the end,x\r\nH,x',
      ),
    ]),
  )
  t.deepEqual(imported, ['A', 'B "quoted"', 'D', 'F', 'G', 'H'])
  t.deepEqual(refused, [
    [4, 'VALIDATION_FAILED'],
    [6, 'VALIDATION_FAILED'],
    [7, 'VALIDATION_FAILED'],
    [9, 'VALIDATION_FAILED'],
    [10, 'VALIDATION_FAILED'],
    [12, 'VALIDATION_FAILED'],
    [15, 'VALIDATION_FAILED'],
  ])
  for (const [index, reason] of [
    /must begin with a quote/,
    /must be doubled/,
    /not valid UTF-8/,
    /3 cells, but the header has 2/,
    /must be doubled/,
    /must be doubled/,
    /never closed/,
  ].entries()) {
    t.regex(reasons[index] ?? '', reason)
  }
})

test('JSON in a cell of CSV follows the rules of request bodies', async (t) => {
  const { environment, folder, use } = await createSetup(t)
  await use(({ client }) => client.prisma.planet.create({ data: { id: 'kepler', name: 'Kepler' } }))
  const file = join(folder, 'atmospheres.csv')
  await writeFile(file, 'planet_id,composition\nkepler,"{""N2"":0.5,""N2"":0.1}"\n')
  const { output } = await runCommand('import', environment, 'atmosphere', file)
  t.regex(output, /^Imported 0, skipped 0, refused 1/)
  t.is((await refusedRows(file))[0].code, 'MALFORMED_JSON')
})

/** As spreadsheets and databases write them, each with the planets that it has. */
const TABLES: readonly (readonly [file: string, content: string, expected: readonly object[]])[] = [
  [
    'planets.csv',
    'name,habitable,,host_star,\n,,,,\nA,TRUE,,Sun,\nB,False,,,\n"","","","",""\n , ,,,\nC,,,"",,,\nD,true\t,, Sun ,\n',
    [
      { name: 'A', habitable: true, host_star: 'Sun' },
      { name: 'B', habitable: false },
      { name: 'C', habitable: null, host_star: '' },
      { name: 'D', habitable: true, host_star: ' Sun ' },
    ],
  ],
  [
    'planets.csv',
    '\uFEFFsep=;\r\nName;HABITABLE;distance_parsecs;discovery_year\r\n"A;B";yes;12,5;2031\r\nC;no;1.234.567,25;\r\nD;1;0,125; 2032 \r\n;;;\r\nE;f;1234,567;',
    [
      { name: 'A;B', habitable: true, distance_parsecs: 12.5, discovery_year: 2031 },
      { name: 'C', habitable: false, distance_parsecs: 1234567.25, discovery_year: null },
      { name: 'D', habitable: true, distance_parsecs: 0.125, discovery_year: 2032 },
      { name: 'E', habitable: false, distance_parsecs: 1234.567 },
    ],
  ],
  [
    'planets.tsv',
    'name\tdistance_parsecs\tdiscovery_year\nA, B\t1,234.5\t\nC\t1.234\t2,031,999\nD\t"12,5"\t\n',
    [
      { name: 'A, B', distance_parsecs: 1234.5 },
      { name: 'C', distance_parsecs: 1.234, discovery_year: 2031999 },
      { name: 'D', distance_parsecs: 12.5 },
    ],
  ],
]

test('a table is imported as spreadsheets write it, where that can only mean one thing', async (t) => {
  for (const [name, content, expected] of TABLES) {
    const { environment, folder, use } = await createSetup(t)
    const file = join(folder, name)
    await writeFile(file, content)
    const { output, errors } = await runCommand('import', environment, 'planets', file)
    const planets = await use(({ client }) => client.prisma.planet.findMany({ orderBy: { name: 'asc' } }))
    t.is(planets.length, expected.length, output + errors)
    for (const [index, values] of expected.entries()) t.like(planets[index], values)
  }
})

test('what a table could mean in two ways is refused with both', async (t) => {
  const { imported, refused, reasons } = await importing(
    t,
    'planets.csv',
    'name;habitable;distance_parsecs;;discovery_year\nA;WAHR;;;\nB;;1,234;;\nC;;;remark;\nD;;;;\nE;;;;;x\nF;;12 000;;\nG;;;;1,5\nH;;\n',
  )
  t.deepEqual(imported, ['D'])
  t.deepEqual(
    refused,
    [2, 3, 4, 6, 7, 8, 9].map((line) => [line, 'VALIDATION_FAILED']),
  )
  for (const [index, reason] of [
    /^habitable is "WAHR", which is no value; write true, /,
    /distance_parsecs is 1,234, which can mean 1\.234 or 1234; write one of these/,
    /The cell 4 has a value, but no name in the header/,
    /The row has 6 cells, but the header has 5/,
    /distance_parsecs must be a number/,
    /discovery_year must be an integer/,
    /The row has 3 cells, but the header has 5/,
  ].entries()) {
    t.regex(reasons[index] ?? '', reason)
  }
})

test('an invalid header, or one with duplicate columns, is an invalid argument', async (t) => {
  const { environment, folder } = await createSetup(t)
  const file = join(folder, 'planets.csv')
  for (const [content, message] of [
    ['name,host_star,name\nA,b,C\n', /Duplicate columns in the header: name/],
    [
      'name,host;star,x\nA,b,C\n',
      /Unknown columns in the header: host;star, x\. .*Commas, semicolons or tabs/,
    ],
    ['name|host_star\nA|b\n', /Unknown columns in the header: name\|host_star\./],
    ['name,Name\nA,b\n', /Duplicate columns in the header: Name/],
    ['"name,host_star\nA,b\n', /Invalid header: A quote that opens/],
    [Buffer.from('name,h\xf6st\nA,b\n', 'latin1'), /Invalid header: .*UTF-8/],
  ] as const) {
    await writeFile(file, content)
    const { status, errors } = await runCommand('import', environment, 'planets', file)
    t.is(status, 2)
    t.regex(errors, message)
  }
})

test('a quote that is not closed within the size of a record costs only its line', async (t) => {
  const lines = Array.from({ length: 60_000 }, (_, number) => `Planet ${number},of some star`)
  lines[2] = '"Open,of some star'
  const folder = await createTestFolder(t)
  const file = join(folder, 'planets.csv')
  await writeFile(file, `name,host_star\n${lines.join('\n')}\n`)
  const { output } = await runCommand('import', {}, 'planets', file, '--dry-run')
  t.regex(output, /^Valid 59999, refused 1/)
  const [{ line, code, message }] = (await refusedRows(file)) as [Record<string, unknown>]
  t.deepEqual([line, code], [4, 'PAYLOAD_TOO_LARGE'])
  t.regex(String(message), /a quote that opens on its first line is not closed/)
})

const REPORT_MEMORY = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => console.error('peak kB:', process.resourceUsage().maxRSS))",
)}`

for (const [format, rows] of [
  ['ndjson', ['{"name":"Before"}\n', '\n{"name":"After"}\n']],
  ['csv', ['name\nBefore\n"', '\nAfter\n']],
] as const) {
  test(`the memory of an import of ${format} does not grow with the length of a line`, async (t) => {
    const file = join(await createTestFolder(t), `planets.${format}`)
    const peaks = []
    for (const megabytes of [2, 400]) {
      const handle = await open(file, 'w')
      const { bytesWritten } = await handle.write(rows[0], 0)
      // The skipped range reads as zeros and uses no disk space.
      await handle.write(rows[1], bytesWritten + megabytes * 1_000_000)
      await handle.close()
      const environment = { NODE_OPTIONS: `--import=${REPORT_MEMORY}` }
      const { output, errors } = await runCommand('import', environment, 'planets', file, '--dry-run')
      t.regex(output, /^Valid 2, refused 1/)
      t.deepEqual(
        (await refusedRows(file)).map(({ line, code, message }) => [line, code, message]),
        [[format === 'csv' ? 3 : 2, 'PAYLOAD_TOO_LARGE', 'The row is larger than 1048576 bytes.']],
      )
      peaks.push(Number(/peak kB: (\d+)/.exec(errors)?.[1]))
    }
    const [small, large] = peaks as [number, number]
    t.true(large - small < 150_000, `${small} kB and ${large} kB`)
  })
}

test('a row that the database does not serve in time stops the import, which continues with it later', async (t) => {
  const server = findServer(t.log.bind(t))
  if (!server) return t.pass()
  const databaseUrl = await createDatabaseOn(server, t)
  const folder = await createTestFolder(t)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('SET search_path TO public, public_internal')
  await client.query("INSERT INTO planets (id, name) VALUES ('a', 'A'), ('b', 'B')")
  const file = join(folder, 'planets.ndjson')
  await writeFile(file, '{"id":"a","name":"A 2"}\n{"id":"b","name":"B 2"}\n')
  const run = (timeout: string) =>
    runCommand(
      'import',
      { DATABASE_URL: databaseUrl, DATABASE_TIMEOUT: timeout },
      'planets',
      file,
      '--replace',
    )

  await client.query("BEGIN; SELECT FROM planets WHERE id = 'b' FOR UPDATE")
  const stopped = await run('1000')
  t.is(stopped.status, 1, stopped.output)
  t.notRegex(stopped.output, /refused [1-9]/)
  await client.query('ROLLBACK')

  const { status, output, errors } = await run('60000')
  t.is(status, 0, errors)
  t.regex(output, /refused 0/)
  const { rows } = await client.query('SELECT name FROM planets ORDER BY id')
  t.deepEqual(rows, [{ name: 'A 2' }, { name: 'B 2' }])
})

test('the cells of a locale are read as its spreadsheets write them, and other cells stay as they are', (t) => {
  const fields = {
    n: number('N.'),
    day: date('D.'),
    time: timestamp('T.'),
    truth: boolean('B.'),
    text: text('T.'),
  }
  const cells: [string | undefined, keyof typeof fields, string, string][] = [
    [undefined, 'n', '1.200', '1.200'],
    [undefined, 'truth', 'WAHR', 'WAHR'],
    [undefined, 'day', '2016/6/24 00:00', '2016-06-24'],
    [undefined, 'day', '24.06.2016', '24.06.2016'],
    [undefined, 'time', '2016-06-24', '2016-06-24'],
    [undefined, 'time', '2016-06-24 18:30:05', new Date(2016, 5, 24, 18, 30, 5).toISOString()],
    [undefined, 'time', '2016-06-24T18:30', new Date(2016, 5, 24, 18, 30).toISOString()],
    [undefined, 'time', '2016-06-24 18:30:05.25+02', '2016-06-24T18:30:05.25+02:00'],
    [undefined, 'time', '2016-06-24 18:30:05-02:30', '2016-06-24T18:30:05-02:30'],
    [undefined, 'time', '24.06.2016 18:30', '24.06.2016 18:30'],
    ['de-CH', 'n', '1,200', '1,200'],
    ['de', 'n', '1.200', '1200'],
    ['de', 'n', '-1.234.567,50', '-1234567.50'],
    ['de', 'n', '1.5', '1.5'],
    ['de', 'n', '1.23,4', '1.23,4'],
    ['de', 'n', '1,5E+03', '1.5E+03'],
    ['fr', 'n', '1 234,5', '1234.5'],
    ['de-CH', 'n', "1'234.5", '1234.5'],
    ['sv', 'n', '−1\u00A0234', '-1234'],
    ['en-IN', 'n', '12,34,567.5', '1234567.5'],
    ['es', 'n', '1234,5', '1234.5'],
    ['de', 'day', '4.6.2016', '2016-06-04'],
    ['de', 'day', '2016-06-24 00:00:00', '2016-06-24'],
    ['de', 'day', '24.06.2016 01:00', '24.06.2016 01:00'],
    ['de', 'day', '24.06.16', '24.06.16'],
    ['hu', 'day', '2016. 06. 24.', '2016-06-24'],
    ['en-US', 'day', '6/24/2016', '2016-06-24'],
    ['en-GB', 'day', '24/06/2016', '2016-06-24'],
    ['fa', 'day', '2016/06/24', '2016-06-24'],
    ['de', 'day', '31.02.2016', '31.02.2016'],
    ['en-US', 'time', '6/24/2016, 6:30 PM', new Date(2016, 5, 24, 18, 30).toISOString()],
    ['de', 'time', '24.06.2016 18:30:05,5', new Date(2016, 5, 24, 18, 30, 5, 500).toISOString()],
    ['de', 'time', '24.06.2016 25:30', '24.06.2016 25:30'],
    ['de', 'time', '2016-06-24T18:30:00Z', '2016-06-24T18:30:00Z'],
    ['tr', 'truth', 'YANLIŞ', 'false'],
    ['fr', 'truth', 'Vrai', 'true'],
    ['de', 'truth', 'VRAI', 'VRAI'],
    ['de', 'text', '1.200', '1.200'],
  ]
  for (const [locale, name, text, expected] of cells)
    t.is(localCells(locale)(fields[name], text), expected, `${locale} ${text}`)
})
