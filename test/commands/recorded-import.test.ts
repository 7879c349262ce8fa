import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createTestDatabase, createTestFolder } from '../helpers/database/database.ts'
import type { Json } from '../helpers/service/client.ts'
import { environmentFor, refusedRows, runCommand } from '../helpers/service/commands.ts'
import { startTestService } from '../helpers/service/service.ts'

async function prepare(t: ExecutionContext) {
  const options = await createTestDatabase(t)
  const service = await startTestService(t, options)
  const folder = await createTestFolder(t)
  return {
    ...service,
    async write(name: string, rows: readonly object[]) {
      const file = join(folder, name)
      await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      return file
    },
    run: (...parameters: string[]) => runCommand('import', environmentFor(options), ...parameters),
  }
}

const landing = {
  id: 'landing',
  name: 'First landing',
  status: 'completed',
  launch_date: '1969-07-16T13:32:00.000Z',
  created_date: '1962-05-01T08:00:00.000Z',
  last_updated: '1969-07-24T16:50:35.000Z',
  changed_by: 'houston',
}

test('rows as recorded keep their times, states and authors, and go on from version 1', async (t) => {
  const { reader, writer, write, run } = await prepare(t)
  const file = await write('missions.ndjson', [landing, { id: 'next', name: 'Next' }])
  const dry = await run('missions', file, '--as-recorded', '--dry-run')
  t.is(dry.output, `Valid 2, refused 0\n1 break rules of writes; see ${file}.rules.ndjson\n`)
  const { output, status } = await run('missions', file, '--as-recorded')
  t.deepEqual(
    [output, status],
    [`Imported 2, skipped 0, refused 0\n1 break rules of writes; see ${file}.rules.ndjson\n`, 0],
  )
  const [broken] = (await readFile(`${file}.rules.ndjson`, 'utf8'))
    .trim()
    .split('\n')
    .map((one) => JSON.parse(one))
  t.deepEqual([broken.line, broken.id, broken.details[0].code], [1, 'landing', 'INVALID_STATUS_TRANSITION'])
  const { changed_by: author, ...shown } = landing
  const { body, headers } = await reader.get('/missions/landing')
  t.like(body, shown)
  t.is(headers.get('etag'), '"landing:1"')
  const changes = async () =>
    (await reader.get('/changes?collection=missions')).body._embedded.changes as Json[]
  t.like((await changes())[0], { event: 'created', version: 1, by: author, resource: shown })
  t.like((await changes())[1], { event: 'created', by: 'operator' })
  t.is((await writer.patch('/missions/landing', { objective: 'Return' })).status, 204)
  const { body: versions } = await reader.get('/missions/landing/versions')
  t.deepEqual(
    versions._embedded.versions.map(({ version }: Json) => version),
    [2, 1],
  )
  t.deepEqual(
    (await changes()).map(({ event }) => event),
    ['created', 'created', 'changed'],
  )
  t.is((await run('missions', file, '--as-recorded')).output, 'Imported 0, skipped 2, refused 0\n')
})

test('the constraints of the database hold for rows as recorded', async (t) => {
  const { reader, write, run } = await prepare(t)
  const file = await write('missions.ndjson', [
    landing,
    { ...landing, id: 'again' },
    { ...landing, id: 'lost', name: 'Lost', spacecraft_id: 'nowhere' },
    { ...landing, id: 'when', name: 'When', last_updated: 'yesterday' },
    { ...landing, id: 'nameless', name: undefined },
    { ...landing, id: 'odd', name: 'Odd', colour: 'red' },
    { ...landing, id: 'good', name: 'Good' },
  ])
  const { output, status } = await run('missions', file, '--as-recorded')
  t.deepEqual(
    [output.split('\n')[0], status],
    [`Imported 2, skipped 0, refused 5; see ${file}.errors.ndjson`, 1],
  )
  const refused = await refusedRows(file)
  t.deepEqual(refused.map(({ line, details }) => [line, details[0].field, details[0].code]).sort(), [
    [2, 'name', 'DUPLICATE_VALUE'],
    [3, 'spacecraft_id', 'UNKNOWN_REFERENCE'],
    [4, 'last_updated', 'INVALID_FORMAT'],
    [5, 'name', 'REQUIRED_FIELD'],
    [6, 'colour', 'UNKNOWN_FIELD'],
  ])
  t.is((await reader.get('/missions')).body.total_count, 2)
  const both = await run('missions', file, '--as-recorded', '--replace')
  t.deepEqual([both.status, both.errors.split('\n')[0]], [2, 'Pass one of --as-recorded and --replace'])
})

test('a table can have the columns of rows as recorded, also of owned resources', async (t) => {
  const { writer, reader, write, run } = await prepare(t)
  await writer.put('/planets/kepler', { id: 'kepler', name: 'Kepler' })
  const file = (await write('moons.csv', [])) as string
  const header = 'id,planet_id,name,created_date,last_updated,changed_by'
  await writeFile(file, `${header}\nluna,kepler,Luna,1999-01-01T00:00:00Z,,ada\nlost,nowhere,Lost,,,\n`)
  const { output } = await run('moons', file, '--as-recorded')
  t.is(output, `Imported 1, skipped 0, refused 1; see ${file}.errors.ndjson\n`)
  t.is((await refusedRows(file))[0]?.['code'], 'RESOURCE_NOT_FOUND')
  const time = '1999-01-01T00:00:00.000Z'
  t.like((await reader.get('/planets/kepler/moons/luna')).body, { created_date: time, last_updated: time })
})
