import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { Client as Ketting, type State } from 'ketting'
import { tableName } from '../../src/model/definition/resource.ts'
import { openApiText } from '../../src/service/features.ts'
import { readSeeds } from '../../src/service/settings/domain-folder.ts'
import { readSettings } from '../../src/service/settings/settings.ts'
import { createServerDatabase, createTestFolder, type Owner } from '../helpers/database/database.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { type MadeDomain, makeDomain } from '../helpers/domain/made-domain.ts'
import { type Client, createClient, type Json } from '../helpers/service/client.ts'
import { refusedRows, runCommand } from '../helpers/service/commands.ts'
import { createConformanceCheck } from '../helpers/service/conformance.ts'
import { crawl, type Relations } from '../helpers/service/crawl.ts'
import { processToken, type ServiceProcess, startProcess } from '../helpers/service/service-process.ts'
import { openStudio, wordsOf } from '../helpers/service/studio.ts'

// The engine serves any domain: a library, of which it has only the definitions in the folder `library`.

const project = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

const LIBRARIAN = processToken('tester', { role: 'librarian' })

const releases: (() => Promise<void>)[] = []
const owner: Owner = { teardown: (release) => void releases.push(release) }
let library: MadeDomain
let environment: NodeJS.ProcessEnv
let base: string
let client: Client
let served: ServiceProcess

test.serial.before('definitions become migrations, a Prisma client and a service', async (t) => {
  t.timeout(600_000)
  library = await makeDomain(owner, 'library')
  environment = {
    DOMAIN: library.path,
    MIGRATE_ON_START: 'true',
    DATABASE_TIMEOUT: '60000',
    ...(await place()),
  }
  served = startProcess(environment, owner)
  const origin = await served.origin
  base = `${origin}/api/v1`
  const check = createConformanceCheck(readSettings({}), library.domain)
  client = createClient(origin, base, LIBRARIAN, check)
})

test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

async function place(): Promise<NodeJS.ProcessEnv> {
  const server = process.env['TEST_DATABASE_URL']
  if (server === undefined) return { DATA_DIR: await createTestFolder(owner) }
  return { DATABASE_URL: await createServerDatabase(server, owner) }
}

const RELATIONS: Readonly<Record<string, Relations>> = {
  authors: { always: ['self', 'collection', 'edit', 'delete', 'books'] },
  books: { always: ['self', 'collection', 'edit', 'delete', 'author', 'copies', 'cover', 'books', 'loans'] },
  copies: { always: ['self', 'collection', 'parent', 'edit', 'delete'] },
  cover: { always: ['self', 'parent', 'edit', 'delete'], singleton: true },
  loans: { always: ['self', 'collection', 'edit', 'delete', 'book'] },
}

test.serial('its examples are added, and every link of every response leads somewhere', async (t) => {
  const { output, errors, status } = await runCommand('seed', environment)
  t.is(status, 0, errors)
  t.is(output, 'Created 9, skipped 0\n')
  const kinds = await crawl(t, base, client, RELATIONS)
  t.is(kinds.size, 5 + 6, [...kinds].join('\n'))
})

test.serial('its rules hold, with codes that the error catalogue explains', async (t) => {
  const open = { status: 'open' }
  t.is((await client.patch('/loans/first', open)).status, 204)
  const refused = await client.patch('/loans/second', open)
  t.is(refused.status, 422)
  t.is(refused.body.error.details[0].code, 'NO_FREE_COPY')
  t.is((await client.patch('/loans/second', { status: 'returned' })).status, 422)
  const { body: other } = await client.post('/books', { title: 'Without copies', author_id: 'teo-barros' })
  const moved = await client.patch('/loans/first', { book_id: other.id })
  t.is(moved.body?.error.details[0].code, 'NO_FREE_COPY')
  t.is((await client.delete('/books/tide-tables/copies/one')).status, 204)
  t.is((await client.delete('/books/tide-tables/copies/two')).status, 409)
  const explained = await client.get(new URL('/errors/NO_FREE_COPY', base).href, {
    accept: 'application/json',
  })
  t.regex(explained.body.cause, /lent/)
})

test.serial('readers see the loans that they have asked for, and librarians all', async (t) => {
  const readerNamed = (subject: string) =>
    createClient(new URL(base).origin, base, processToken(subject, { role: 'reader' }))
  const [ada, ben] = [readerNamed('ada'), readerNamed('ben')]
  const loan = { book_id: 'tide-tables', borrower: 'Ada', reader: 'ben' }
  const { status, body } = await ada.post('/loans', loan)
  t.deepEqual([status, body.reader], [201, 'ada'])
  const path = `/loans/${body.id}`
  const seenBy = async (client: Client) => {
    const list = await client.get('/loans?fields=reader&limit=100')
    const readers = list.body._embedded.loans.map(({ reader }: Json) => reader)
    return [list.body.total_count, (await client.get(path)).status, ...new Set(readers)]
  }
  t.deepEqual(await seenBy(ada), [1, 200, 'ada'])
  t.deepEqual(await seenBy(ben), [0, 404])
  const [count, ...others] = await seenBy(client)
  t.true(count > 1 && others.includes('ada'))
  t.is((await ben.patch(path, { borrower: 'Ben' })).status, 404)
  t.is((await ada.patch(path, { borrower: 'Ada B.' })).status, 204)
  t.is((await ada.delete(path)).status, 403)
  t.is((await client.delete(path)).status, 204)
})

test.serial('of two requests for the last copy at the same time, one gets it', async (t) => {
  const book = await client.post('/books', { title: 'One copy', author_id: 'teo-barros' })
  await client.post(`/books/${book.body.id}/copies`, { shelf: 'A' })
  const bodies = Array.from({ length: 8 }, (_, index) => ({ book_id: book.body.id, borrower: `B ${index}` }))
  const loans = await Promise.all(bodies.map((body) => client.post('/loans', body)))
  const answers = await Promise.all(
    loans.map(({ body }) => client.patch(`/loans/${body.id}`, { status: 'open' })),
  )
  t.is(answers.filter(({ status }) => status === 204).length, 1)
  t.is(answers.filter(({ status }) => status === 422).length, 7)
})

test.serial('of equal titles of one author and year, racing callers create one', async (t) => {
  const book = { title: 'Winter', author_id: 'teo-barros', published_date: '1990-01-01' }
  const titles = ['Winter', ' WINTER', 'winter ', 'Winter']
  const racing = await Promise.all(titles.map((title) => client.post('/books', { ...book, title })))
  const created = racing.find(({ status }) => status === 201)?.body
  const refused = racing.filter(({ status }) => status === 409)
  t.is(refused.length, 3)
  for (const { body } of refused) {
    t.like(body.error.details[0], { field: 'title', code: 'DUPLICATE_VALUE' })
    t.regex(body.error.message, / already has this title within the same author_id and published_date\.$/)
  }
  const other = await client.post('/books', { ...book, published_date: '1991-01-01' })
  t.is(other.status, 201)
  const moved = await client.patch(`/books/${other.body.id}`, { published_date: '1990-01-01' })
  t.deepEqual([moved.status, moved.body?.error.details[0].field], [409, 'title'])
  const swapped = await client.patch(`/books/${other.body.id}`, { author_id: 'ama-lindqvist' })
  t.is(swapped.status, 204)
  const undated = { title: 'Winter', author_id: 'teo-barros' }
  for (const _ of titles) t.is((await client.post('/books', undated)).status, 201)
  t.is((await client.delete(`/books/${created.id}`)).status, 204)
})

test.serial('a book refers to another, or to itself, as its sequel', async (t) => {
  const { body: book } = await client.post('/books', { title: 'Endless', author_id: 'teo-barros' })
  t.is((await client.patch(`/books/${book.id}`, { sequel_id: book.id })).status, 204)
  const { body: read } = await client.get(`/books/${book.id}`)
  t.is(read._links.sequel.href, read._links.self.href)
  const { body: earlier } = await client.get(read._links.books.href)
  t.deepEqual(
    earlier._embedded.books.map(({ id }: Json) => id),
    [book.id],
  )
  t.is((await client.delete(`/books/${book.id}`)).status, 204)
})

test.serial('tags are a list: kept in order, found by one of them, exported and imported', async (t) => {
  const post = (title: string, tags: unknown) =>
    client.post('/books', { title, tags, author_id: 'teo-barros' })
  const { body: sea } = await post('Tagged by the sea', ['sea', 'salt'])
  const { body: bare } = await post('Tagged with nothing', [])
  await post('Tagged with salt', ['salt', 'a "quoted", one'])
  t.deepEqual([sea.tags, bare.tags], [['sea', 'salt'], []])
  const titles = async (query: string) =>
    (await client.get(`/books?${query}&sort=title:asc`)).body._embedded.books.map(({ title }: Json) => title)
  t.deepEqual(await titles('filter=tags[contains]:salt'), ['Tagged by the sea', 'Tagged with salt'])
  t.deepEqual(await titles('tags=salt&filter=tags:sea'), ['Tagged by the sea'])
  t.deepEqual(await titles('filter=tags:sal'), [])
  const { data } = await client.graphql(
    '{ bookPage(filter: { tags: { contains: "salt" } }, sort: { field: TITLE }) { items { tags } } }',
  )
  t.deepEqual(data.bookPage.items[0], { tags: ['sea', 'salt'] })
  for (const [tags, said] of [
    ['sea', /tags must be an array/],
    [['sea', 1], /tags must have valid items: item 1 must be a string/],
    [['x'.repeat(41)], /tags must have valid items: item 0 must not be longer than 40 characters/],
    [['sea', 'salt', 'sea'], /tags must not have duplicate items/],
    [[...'abcdef'], /tags must not have more than 5 items/],
  ] as const) {
    const { status, body } = await client.patch(`/books/${sea.id}`, { tags })
    t.is(status, 400)
    t.regex(body?.error.message, said)
  }
  t.is((await client.get('/books?sort=tags:asc')).status, 400)
  const file = join(await createTestFolder(t), 'books.csv')
  await client.patch(`/books/${bare.id}`, { notes: 'a "text", in JSON' })
  const { body: before } = await client.get(`/books/${bare.id}`)
  t.is((await runCommand('export', environment, 'books', '--format', 'csv', '--output', file)).status, 0)
  await client.patch(`/books/${bare.id}`, { notes: 1, tags: ['other'] })
  const imported = await runCommand('import', environment, '--replace', 'books', file)
  t.is(imported.status, 0, imported.output + (await readFile(`${file}.errors.ndjson`, 'utf8').catch(String)))
  const { body: after } = await client.get(`/books/${bare.id}`)
  t.deepEqual({ ...after, last_updated: '' }, { ...before, last_updated: '' })
})

test.serial(
  'lists of dates and of an enumeration have the values of their kinds in both interfaces',
  async (t) => {
    const { body: book } = await client.post('/books', {
      title: 'Often reprinted',
      author_id: 'teo-barros',
      formats: ['audio', 'print'],
      reprinted_dates: ['2030-01-31', '2031-02-28'],
    })
    t.deepEqual(
      [book.formats, book.reprinted_dates],
      [
        ['audio', 'print'],
        ['2030-01-31', '2031-02-28'],
      ],
    )
    for (const filter of ['formats:audio', 'reprinted_dates:2031-02-28']) {
      const { body } = await client.get(`/books?filter=${filter}`)
      t.deepEqual(
        body._embedded.books.map(({ id }: Json) => id),
        [book.id],
        filter,
      )
    }
    for (const [member, said] of [
      [{ formats: ['vinyl'] }, /formats must have valid items: item 0 must be one of print, audio, digital/],
      [
        { reprinted_dates: ['2031-02-30'] },
        /reprinted_dates must have valid items: item 0 must be an ISO 8601 date/,
      ],
    ] as const) {
      const { status, body } = await client.patch(`/books/${book.id}`, member)
      t.is(status, 400)
      t.regex(body?.error.message, said)
    }
    const changed = await client.graphql(
      `mutation { patchBook(id: "${book.id}", patch: { formats: [digital], reprintedDates: ["2032-03-01"] }) {
      book { formats reprintedDates } } }`,
    )
    t.deepEqual(changed.data?.patchBook.book, { formats: ['digital'], reprintedDates: ['2032-03-01'] })
    const found = await client.graphql(
      '{ bookPage(filter: { formats: { contains: digital }, reprintedDates: { contains: "2032-03-01" } }) { items { id } } }',
    )
    t.deepEqual(found.data?.bookPage.items, [{ id: book.id }])
  },
)

test.serial('the price of a page is computed: read-only, filtered, sorted and averaged', async (t) => {
  const post = (title: string, price: string, pages: number) =>
    client.post('/books', { title, price, pages, author_id: 'teo-barros', page_price: '9' })
  const { body: thin, headers } = await post('Computed thin', '3.00', 200)
  const { body: thick } = await post('Computed thick', '9.00', 900)
  t.deepEqual([thin.page_price, thick.page_price], ['0.0150', '0.0100'])
  const path = `/books/${thin.id}`
  t.is((await client.patch(path, { price: '4.00' })).status, 204)
  const { body: dearer } = await client.get(path)
  t.is(dearer.page_price, '0.0200')
  t.is((await client.put(path, { ...dearer, price: '3.00' })).status, 204)
  t.is((await client.get(path)).body.page_price, '0.0150')
  const refused = await client.patch(path, { page_price: '1.0000' })
  t.like(refused.body?.error.details[0], { field: 'page_price', code: 'READ_ONLY_FIELD' })
  const { body: unchanged } = await client.get(path)
  t.is((await client.patch(path, { page_price: '0.015' })).status, 204)
  t.deepEqual((await client.get(path)).body, unchanged)
  t.not((await client.get(path)).headers.get('etag'), headers.get('etag'))
  const { body: sorted } = await client.get(
    '/books?filter=page_price[lte]:0.015&sort=page_price:desc,title:asc&limit=1',
  )
  const { body: next } = await client.get(sorted._links.next.href)
  t.deepEqual(
    [sorted, next].map(({ _embedded }) => _embedded.books[0].title),
    ['Computed thin', 'Computed thick'],
  )
  const { data } = await client.graphql(
    `{ bookAggregate(filter: { id: { in: ["${thin.id}", "${thick.id}"] } }) { groups { sum { pagePrice } } } }`,
  )
  t.is(data.bookAggregate.groups[0].sum.pagePrice, '0.0250')
  const overflow = await client.patch(path, { price: '999999.00', pages: 1 })
  t.is(overflow.status, 422)
  t.like(overflow.body?.error.details[0], { field: 'page_price', code: 'OUT_OF_RANGE' })
  t.regex(overflow.body?.error.message, /page_price cannot be computed from these values/)
  t.is((await post('Too dear', '999999.00', 1)).status, 422)
  for (const { id } of [thin, thick]) t.is((await client.delete(`/books/${id}`)).status, 204)
})

test.serial('a batch stores and returns the same values as single requests', async (t) => {
  const body = (title: string) => ({ title, price: '0.2', pages: 20, author_id: 'teo-barros' })
  const { body: alone } = await client.post('/books', body('Alone'))
  const operations = ['In a batch', 'Beside it'].map((title) => ({
    method: 'POST',
    path: '/books',
    body: body(title),
  }))
  const { body: batch } = await client.post('/batch', { operations })
  const created = [alone, ...batch.results.map((result: Json) => result.body)]
  t.deepEqual(
    created.map(({ price, page_price }: Json) => [price, page_price]),
    Array(3).fill(['0.20', '0.0100']),
  )
  const { data, errors } = await client.graphql(`mutation @atomic {
    patchAuthor(id: "teo-barros", patch: {}) {
      author { books(filter: { price: { equals: "0.2" } }, sort: [{ field: PRICE }]) { items { price pagePrice } } }
    }
  }`)
  t.is(errors, undefined)
  t.deepEqual(data.patchAuthor.author.books.items, Array(3).fill({ price: '0.20', pagePrice: '0.0100' }))
  for (const { id } of created) t.is((await client.delete(`/books/${id}`)).status, 204)
})

test.serial('prices are exact: stored, compared, sorted, added and averaged', async (t) => {
  const post = (title: string, price: unknown) =>
    client.post('/books', { title, price, author_id: 'teo-barros' })
  const refused = await post('Binary', 0.1)
  t.regex(refused.body.error.message, /must be a string, because the JSON number 0.1 is not exact/)
  const { body: cheap } = await post('Cheap', '0.20')
  const { body: round } = await post('Round', 3)
  t.deepEqual([cheap.price, round.price], ['0.20', '3.00'])
  const tag = { 'If-Match': (await client.get(`/books/${cheap.id}`)).headers.get('etag') as string }
  const unchanged = await client.patch(`/books/${cheap.id}`, { price: '0.2' }, tag)
  t.is(unchanged.headers.get('etag'), tag['If-Match'])
  const prices = async (query: string) =>
    (await client.get(`/books?${query}`)).body._embedded.books.map((book: Json) => book.price)
  t.deepEqual(await prices('filter=price[gte]:0.2&filter=price[lt]:12.500&sort=price:desc'), ['3.00', '0.20'])
  t.deepEqual(await prices('filter=price[in]:0.1|12.5&sort=price:asc'), ['0.10', '12.50'])
  const { body: first } = await client.get('/books?sort=price:asc&limit=2')
  const { body: next } = await client.get(first._links.next.href)
  t.deepEqual(
    [first, next].flatMap(({ _embedded }) => _embedded.books.map((book: Json) => book.price)),
    ['0.10', '0.20', '3.00', '12.50'],
  )
  const { data } = await client.graphql(
    '{ bookAggregate(filter: { price: { lt: "1" } }) { groups { sum { price } average { price } maximum { price } median { price } } } }',
  )
  const [{ sum, average, maximum, median }] = data.bookAggregate.groups
  t.deepEqual(
    [sum.price, Number(average.price), maximum.price, median.price],
    ['0.30', 0.15, '0.20', '0.150'],
  )
  const ranges = await client.graphql(
    '{ bookAggregate(groupByRange: { field: PRICE, bounds: [0.1, 0.2, 3] }, order: KEY) { groups { range count } } }',
  )
  t.deepEqual(ranges.data.bookAggregate.groups.slice(0, 2), [
    { range: 0, count: 1 },
    { range: 1, count: 2 },
  ])
})

test.serial('a HAL client walks from the entry document to a book, its author and its copies', async (t) => {
  const ketting = new Ketting(base)
  ketting.use((request, next) => {
    request.headers.set('Authorization', client.authorization as string)
    return next(request)
  })
  const books: State<Json> = await (await ketting.follow('books', { id: 'tide-tables' })).get()
  const found: State<Json> = await (await books.follow('find', { id: 'tide-tables' })).get()
  const [item] = await found.followAll('books')
  const book: State<Json> = await (await (item as NonNullable<typeof item>).follow('self')).refresh()
  t.is(book.data.title, 'The Tide Tables')
  const author: State<Json> = await (await book.follow('author')).get()
  t.is(author.data.name, 'Ama Lindqvist')
  const copies: State<Json> = await (await book.follow('copies')).get()
  t.is(copies.data.total_count, 1)
})

test.serial('its pages and its OpenAPI document have its title and its description', async (t) => {
  const page = await (await fetch(new URL('/', base), { headers: { accept: 'text/html' } })).text()
  t.regex(page, /<title>Home &ndash; Municipal library<\/title>/)
  t.regex(page, /<h1>Municipal library<\/h1>\s*<p>Books, their copies, and who has borrowed them.<\/p>/)
  const { info } = (await (await fetch(`${base}/openapi.json`)).json()) as Json
  t.is(info.title, 'Municipal library')
  t.deepEqual(info.license, { name: 'CC-BY-4.0', identifier: 'CC-BY-4.0' })
  t.regex(info.description, /^Books, their copies, and who has borrowed them.\n\nCollections of resources/)
})

test.serial('its entities and their relationships are drawn', async (t) => {
  const page = await (await fetch(new URL('/model', base), { headers: { accept: 'text/html' } })).text()
  for (const { path, name } of library.domain.resources) {
    t.regex(page, new RegExp(`<a[^>]* href="#entity-${path}"[\\s\\S]*?>${name}</text>`))
  }
  t.regex(page, /zero or more <a href="#entity-copies">Copy<\/a>: owned through its <code>book_id<\/code>/)
})

test.serial("Redocly's recommended rules find nothing in its OpenAPI document", async (t) => {
  const file = join(await createTestFolder(t), 'openapi.json')
  await writeFile(file, openApiText(library.domain, await readSeeds(library.domain.folder)))
  const entry = 'node_modules/@redocly/cli/bin/cli.js'
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const parameters = [entry, 'lint', '--extends=recommended', '--format=json', file]
  const { stdout } = await run(process.execPath, parameters, { cwd: project, env })
  t.deepEqual(JSON.parse(stdout.slice(stdout.indexOf('{'))).problems, [])
})

test.serial(
  'the commands know its resources: doctor finds nothing, export and token take them',
  async (t) => {
    const doctor = await runCommand('doctor', { ...environment, JWT_SECRET: 'x'.repeat(32) })
    t.is(doctor.status, 0, doctor.output + doctor.errors)
    t.regex(doctor.output, /ok {4}copies\n/)
    const exported = await runCommand('export', environment, 'authors')
    t.is(exported.output.trim().split('\n').length, 2)
    const unknown = await runCommand('export', environment, 'species')
    t.is(unknown.status, 2)
    t.regex(unknown.errors, /Collections: authors, books, copies, cover, loans/)
  },
)

test.serial('import takes its resources, with its rules, and writes those that it refuses', async (t) => {
  const file = join(await createTestFolder(t), 'loans.ndjson')
  const loans = [
    { id: 'third', book_id: 'tide-tables', borrower: 'Imported' },
    { book_id: 'no-such-book', borrower: 'Imported' },
    { book_id: 'tide-tables' },
  ]
  await writeFile(file, loans.map((loan) => `${JSON.stringify(loan)}\n`).join(''))
  const { status, output, errors } = await runCommand('import', environment, 'loans', file)
  t.is(status, 1, output + errors)
  t.like((await client.get('/loans/third')).body, { borrower: 'Imported', status: 'requested' })
  t.deepEqual(
    (await refusedRows(file)).map(({ line }) => line),
    [2, 3],
  )
})

test.serial('Studio opens on a table of it, without internal tables', async (t) => {
  const page = await openStudio(t, environment)
  if (!page) return t.pass()
  await page.getByText('birth_year', { exact: true }).first().waitFor()
  const words = await wordsOf(page)
  for (const { path } of library.domain.resources) t.true(words.includes(tableName(path)), path)
  for (const name of ['_prisma_migrations', 'tombstones', 'row_counts']) t.false(words.includes(name), name)
})

test.serial('WORKERS serve it together', async (t) => {
  const server = findServer((reason) => t.log(reason))
  if (!server) return t.pass()
  const { DATA_DIR, ...served } = environment
  const shared = {
    DATABASE_URL: await createServerDatabase(server, t),
    WORKERS: '2',
    DATABASE_POOL_SIZE: '2',
  }
  const service = startProcess({ ...served, ...shared }, t)
  const origin = await service.origin
  const headers = { authorization: `Bearer ${LIBRARIAN}`, connection: 'close' }
  const statuses = async () => {
    const requests = Array.from({ length: 20 }, (_, index) =>
      fetch(`${origin}/api/v1/authors`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `Author ${index}` }),
      }),
    )
    return (await Promise.all(requests)).map(({ status }) => status)
  }
  t.deepEqual([...new Set(await statuses())], [201])
  const workers = () => new Set(service.output().match(/"pid":\d+(?=[^\n]*"status":201)/g) ?? [])
  for (let round = 0; workers().size < 2 && round < 20; round++) await statuses()
  t.is(workers().size, 2)
  const list = (await (await fetch(`${origin}/api/v1/authors?limit=1`, { headers })).json()) as Json
  t.true(list.total_count >= 20)
})

test.serial('the executable builds it, and runs what it has built', async (t) => {
  t.timeout(600_000)
  const env = { PATH: process.env['PATH'], JWT_SECRET: 'x'.repeat(32), ...environment }
  const { stdout } = await run(process.execPath, ['bin/halgraph.js', 'doctor'], { cwd: project, env })
  t.regex(stdout, /ok {4}loans\n/)
  const built = await readdir(join(library.path, 'dist'))
  t.true(built.includes('lending-rules.js'), built.join())
})

test.serial('a domain within the project can be a package of its own', async (t) => {
  const folder = await mkdtemp(join(project, 'dist.domain-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await cp(join(project, 'test/domains/library'), folder, { recursive: true })
  await run(process.execPath, ['bin/halgraph.js', 'build'], {
    cwd: project,
    env: { PATH: process.env['PATH'], DOMAIN: folder },
  })
  t.true((await readdir(join(folder, 'dist'))).includes('lending-rules.js'))
})

test.serial('a database of another domain is refused, not changed', async (t) => {
  const { DOMAIN, ...withoutDomain } = environment
  const { status, errors } = await runCommand('seed', withoutDomain)
  t.is(status, 1)
  t.regex(errors, /^The database has the tables of another domain\. Set DATA_DIR or DATABASE_URL .*\n$/)
  t.is((await client.get('/authors')).status, 200)
})

test.serial('the claims that hold for every resource hold for those of the library', async (t) => {
  t.timeout(900_000)
  const env = { ...process.env, DOMAIN: library.path }
  const parameters = [
    'node_modules/ava/entrypoints/cli.mjs',
    '--no-color',
    'test/suites/every-resource.ci.ts',
  ]
  const ava = run(process.execPath, parameters, { cwd: project, env, maxBuffer: 2 ** 26 })
  const { code, stdout } = await ava.then(
    ({ stdout }) => ({ code: undefined, stdout }),
    (error: { code: number; stdout: string }) => error,
  )
  // What failed outside of tests is not in the summary, but ends ava with an error.
  t.is(code, undefined, stdout.slice(-3000))
  t.true(Number(/^ *(\d+) tests passed$/m.exec(stdout)?.[1]) > 100, stdout.slice(-500))
})

test.serial(
  'its definitions change, and a migration keeps its data: renamed, required and removed fields',
  async (t) => {
    t.timeout(600_000)
    const fields = { shelf: 'C 1', condition: 'worn', price_euros: 7.5 }
    t.is((await client.put('/books/salt-roads/copies/kept', { ...fields, id: 'kept' })).status, 201)
    const before = await client.get('/books/salt-roads/copies/kept')
    served.kill('SIGTERM')
    await served.exited
    const file = join(library.path, 'copies.ts')
    const definition = await readFile(file, 'utf8')
    const changed = definition
      .replace("shelf: text('", "place: text('")
      .replace('required: true,', "required: true,\n      renamedFrom: 'shelf',")
      .replace("shelf: 'B 12'", "place: 'B 12'")
      .replace(
        "enumeration(['good', 'worn', 'damaged'], 'Condition.', { initially: 'good' })",
        "boolean('Lent.', { required: true })",
      )
      .replace('condition: boolean', 'lent: boolean')
      .replace("condition: 'good'", 'lent: false')
      .replace('import { defineResource, enumeration,', 'import { boolean, defineResource,')
    await writeFile(file, changed)
    const env = { PATH: process.env['PATH'], JWT_SECRET: 'x'.repeat(32), ...environment }
    const command = (...parameters: string[]) =>
      run(process.execPath, ['bin/halgraph.js', ...parameters], { cwd: project, env })
    const migrate = (...options: string[]) => command('resource', 'migrate', ...options)
    const refused = await t.throwsAsync(migrate())
    t.regex(refused?.message ?? '', /copies\.lent is required, and existing rows have no value/)
    t.regex(refused?.message ?? '', /copies: the values of condition would be lost/)
    await migrate('--allow-data-loss', '--default', 'copies.lent=false')
    await command('build')
    served = startProcess(environment, owner)
    const again = createClient(await served.origin, `${await served.origin}/api/v1`, LIBRARIAN)
    const { body, headers } = await again.get('/books/salt-roads/copies/kept')
    t.like(body, { place: 'C 1', lent: false, price_euros: 7.5, book_id: 'salt-roads' })
    t.false('condition' in body)
    t.not(headers.get('etag'), before.headers.get('etag'))
    const other = await again.post('/books/salt-roads/copies', { place: ' c 1', lent: true })
    t.like(other.body.error.details[0], { field: 'place', code: 'DUPLICATE_VALUE' })
  },
)
