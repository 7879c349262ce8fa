import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'csv-parse/sync'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures } from '../helpers/domain/fixtures.ts'
import type { Json } from '../helpers/service/client.ts'
import { createSetup, runCommand } from '../helpers/service/commands.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const CSV = 'text/csv'
const LINES = 'application/x-ndjson'

/** A value at a dotted path as a cell has it. */
function cellOf(item: Json, name: string): string {
  const value = name.split('.').reduce((at, part) => at?.[part], item)
  return typeof value === 'object' ? JSON.stringify(value) : String(value ?? '')
}

for (const resource of resources.filter(({ listed }) => listed)) {
  test(`${resource.path}: CSV and NDJSON have the items of the list`, async (t) => {
    const { writer } = service()
    const { answer, collection } = await new Fixtures(writer).create(resource)
    const list = `${collection}?id=${answer.body.id}`
    const { body } = await writer.get(list)
    const items: Json[] = body._embedded[resource.path]
    t.is(items.length, 1)

    const lines = await writer.get(list, { accept: LINES })
    t.is(lines.headers.get('content-type'), LINES)
    t.deepEqual(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      items,
    )

    const table = await writer.get(list, { accept: CSV })
    t.is(table.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
    t.true(table.text.endsWith('\r\n'))
    const rows: Record<string, string>[] = parse(table.text, { columns: true })
    t.deepEqual(
      Object.keys(rows[0] ?? {}),
      resource.shownLeaves.map(({ name }) => name),
    )
    t.deepEqual(
      rows,
      items.map((item) =>
        Object.fromEntries(Object.keys(rows[0] ?? {}).map((name) => [name, cellOf(item, name)])),
      ),
    )
    t.is((await writer.get(`${collection}/${items[0].id}`, { accept: CSV })).status, 406)
  })
}

const TEXTS = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', "'=1", "''-1", "'quoted'", 'a=b', '＝1', ' =1']

test.serial(
  'texts that a spreadsheet would execute get an apostrophe, numbers do not, and an import restores all',
  async (t) => {
    const { writer } = service()
    for (const [number, star] of TEXTS.entries()) {
      const temperature = { host_star: star, discovery_method: 'formula' }
      await writer.post('/planets', { name: `Formula ${number}`, ...temperature })
    }
    const cold = { scientific_name: 'Cold', habitat: 'formula', temperature_range: { min_celsius: -20.5 } }
    t.is((await writer.post('/species', cold)).status, 201)
    const list = '/planets?filter=discovery_method:formula&limit=50'
    const { text } = await writer.get(list, { accept: CSV })
    const rows: Record<string, string>[] = parse(text, { columns: true })
    const isEscaped = (star: string) => /^'*[=+\-@\t\r＝]/.test(star)
    t.deepEqual(
      rows.map(({ host_star: star }) => star),
      TEXTS.map((star) => (isEscaped(star) ? `'${star}` : star)),
    )
    const species = await writer.get('/species?habitat=formula', { accept: CSV })
    t.is((parse(species.text, { columns: true }) as Json[])[0]['temperature_range.min_celsius'], '-20.5')

    const { environment, folder } = await createSetup(t)
    for (const [name, content] of [
      ['planets.csv', text],
      ['planets.ndjson', (await writer.get(list, { accept: LINES })).text],
    ] as const) {
      await writeFile(join(folder, name), content)
      const { output } = await runCommand('import', environment, 'planets', join(folder, name), '--replace')
      t.regex(output, /^Imported \d+, skipped \d+, refused 0/, output)
      const exported = await runCommand('export', environment, 'planets')
      const stars = exported.output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).host_star)
      t.deepEqual(stars.sort(), TEXTS.toSorted(), name)
    }
    const exported = await runCommand('export', environment, 'planets', '--format', 'csv')
    t.deepEqual(
      parse(exported.output, { columns: true })
        .map(({ host_star: star }: Json) => star)
        .sort(),
      rows.map(({ host_star: star }) => star).sort(),
    )
  },
)

test.serial('following next from the first page gives every item once, in both formats', async (t) => {
  const { writer, base } = service()
  for (const number of [1, 2, 3, 4, 5])
    await writer.post('/spacecraft', { name: `Paged ${number}`, kind: 'rover' })
  for (const accept of [CSV, LINES]) {
    const names: string[] = []
    let path: string | undefined = `${base}/spacecraft?limit=2&sort=name:asc&filter=name[prefix]:Paged`
    const relations: string[][] = []
    while (path) {
      const { headers, text } = await writer.get(path, { accept })
      names.push(...(text.match(/Paged \d/g) ?? []))
      t.is(headers.get('x-total-count'), '5')
      const links = [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(first|prev|next|last)"/g)]
      relations.push(links.map(([, , relation]) => relation as string))
      path = links.find(([, , relation]) => relation === 'next')?.[1]
    }
    t.deepEqual(
      names,
      [1, 2, 3, 4, 5].map((number) => `Paged ${number}`),
    )
    t.deepEqual(relations, [
      ['first', 'next', 'last'],
      ['first', 'prev', 'next', 'last'],
      ['first', 'prev', 'last'],
    ])
  }
})

test('each format of a list has its count in a header, unless it is not counted', async (t) => {
  const { reader, writer } = service()
  await writer.post('/planets', { name: 'Counted' })
  const { body } = await reader.get('/planets?name=Counted')
  for (const accept of [
    'application/json',
    'application/hal+json',
    'application/prs.hal-forms+json',
    CSV,
    LINES,
  ])
    for (const query of ['name=Counted', 'name=Counted&embed=moons', 'id=none', 'name=Counted&page=9']) {
      if (query.includes('embed') && [CSV, LINES].includes(accept)) continue
      const path = `/planets?${query}`
      const count = query === 'id=none' ? '0' : String(body.total_count)
      t.is((await reader.get(path, { accept })).headers.get('x-total-count'), count, `${accept} ${query}`)
      t.is((await reader.head(path, { accept })).headers.get('x-total-count'), count)
      t.false((await reader.get(path, { accept, prefer: 'count=none' })).headers.has('x-total-count'))
    }
})

test('an uncounted list has neither a count nor a last page', async (t) => {
  const { headers } = await service().reader.get('/planets', { accept: CSV, prefer: 'count=none' })
  t.is(headers.get('x-total-count'), null)
  t.notRegex(headers.get('link') ?? '', /rel="last"/)
  t.regex(headers.get('link') ?? '', /rel="first"/)
})

test.serial('each format has an entity tag of its own, and is not sent again', async (t) => {
  const { reader } = service()
  const tags = new Set<string | null>()
  for (const accept of ['application/json', 'application/hal+json', CSV, LINES]) {
    const tag = (await reader.get('/astronauts', { accept })).headers.get('etag') as string
    tags.add(tag)
    t.is((await reader.get('/astronauts', { accept, 'if-none-match': tag })).status, 304, accept)
  }
  t.is(tags.size, 4)
})

test('errors are JSON, and an empty list in CSV has its header alone', async (t) => {
  const { reader, withScope } = service()
  const refused = await reader.get('/planets?page=0', { accept: CSV })
  t.deepEqual([refused.status, refused.body.error.code], [400, 'INVALID_QUERY_PARAMETER'])
  t.is((await withScope('').get('/planets', { accept: LINES })).body.error.code, 'ACCESS_DENIED')
  const empty = await reader.get('/planets?id=none', { accept: CSV })
  t.regex(empty.text, /^id,name,[^\n]*\r\n$/)
  t.is((await reader.get('/planets?id=none', { accept: LINES })).text, '')
  t.is((await service().writer.post('/planets', { name: 'Not a list' }, { accept: CSV })).status, 406)
})

test('a query whose links are too long for a header is refused with a hint', async (t) => {
  const filters = Array.from({ length: 16 }, (_, index) => `filter=name[ne]:${index}${'x'.repeat(450)}`)
  const path = `/planets?${filters.join('&')}`
  const { status, body } = await service().reader.get(path, { accept: CSV })
  t.deepEqual([status, body.error.code], [400, 'INVALID_QUERY_PARAMETER'])
  t.regex(body.error.message, /Request application\/json/)
  t.is((await service().reader.get(path)).status, 200)
})
