import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createSetup, runCommand } from '../helpers/service/commands.ts'

const PLANETS = [
  { id: 'a', name: 'With "quotes", commas\nand lines', distance_parsecs: 0.1, habitable: true },
  { id: 'b', name: ' =1+1 ☄', discovery_year: 1995 },
  { id: 'c', name: '\uFEFFBegins with a byte order mark', host_star: '' },
  { id: 'd', name: 'No star', discovery_method: '"' },
  { id: 'e', name: '@SUM(A1)', host_star: '""', discovery_method: ' ' },
  { id: 'f', name: 'Two\r\nlines\u2028and a third', host_star: '\r', discovery_method: '\n' },
  { id: 'g', name: "'=1", host_star: '-', discovery_method: ',' },
]

for (const format of ['ndjson', 'csv']) {
  test(`an export as ${format} can be imported into another database, whose export is identical`, async (t) => {
    const here = await createSetup(t)
    const more = Array.from({ length: 700 }, (_, number) => ({ id: `n${number}`, name: `Planet ${number}` }))
    await here.use(({ client }) => client.prisma.planet.createMany({ data: [...PLANETS, ...more] }))
    const file = join(here.folder, `planets.${format}`)
    await runCommand('export', here.environment, 'planets', '--format', format, '--output', file)
    const there = await createSetup(t)
    const load = () => runCommand('import', there.environment, 'planets', file)
    t.regex((await load()).output, /^Imported 707, skipped 0, refused 0/)
    t.regex((await load()).output, /^Imported 0, skipped 707, refused 0/)
    const timeless = (output: string) => output.replaceAll(/"(?:created_date|last_updated)":"[^"]*"/g, '')
    const before = await runCommand('export', here.environment, 'planets')
    const after = await runCommand('export', there.environment, 'planets')
    t.is(timeless(after.output), timeless(before.output))
    t.is(before.output.trim().split('\n').length, 707)
  })
}

test('CSV distinguishes an empty string, in quotes, from an unset field', async (t) => {
  const { environment, folder } = await createSetup(t)
  const file = join(folder, 'planets.csv')
  await writeFile(file, 'id,name,host_star,discovery_year\nempty,"Empty","",""\nunset,Unset,,\n')
  t.is((await runCommand('import', environment, 'planets', file)).status, 0)
  const rows = (await runCommand('export', environment, 'planets')).output.trim().split('\n')
  t.deepEqual(
    rows.map((row) => JSON.parse(row)).map(({ id, host_star: star }) => [id, star]),
    [
      ['empty', ''],
      ['unset', undefined],
    ],
  )
  await runCommand('export', environment, 'planets', '--format', 'csv', '--output', file)
  const [, empty, unset] = (await readFile(file, 'utf8')).split('\n')
  t.true(empty?.startsWith('empty,Empty,"",,'), empty)
  t.true(unset?.startsWith('unset,Unset,,,'), unset)
})

test('a file that cannot be written is one message and exit status 1', async (t) => {
  const { environment, folder } = await createSetup(t)
  const nowhere = join(folder, 'nope', 'x')
  for (const output of [nowhere, folder]) {
    const { errors, status } = await runCommand('export', environment, 'species', '--output', output)
    t.is(status, 1)
    t.regex(errors, new RegExp(`^Cannot write ${output}: .*\n$`))
  }
})
