import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import {
  computed,
  enumeration,
  group,
  integer,
  reference,
  text,
  timestamp,
} from '../../src/domain/definition.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { ENGINE } from '../../tools/resource/location.ts'
import { createEvolvingDomain } from '../helpers/domain/evolving-domain.ts'
import type { Json } from '../helpers/service/client.ts'

const define = (name: string, path: string, fields: Resource['fields'], rest: object = {}) =>
  defineResource({ kind: 'collection', name, path, description: `A ${name}.`, fields, ...rest })

const authors = define('Author', 'authors', { name: text('Name.', { required: true }) })

const BOOK = {
  title: text('Title.', { required: true }),
  pages: integer('Pages.', { minimum: 1 }),
  shelf: text('Shelf.'),
  author_id: reference('authors', 'author', 'Author.'),
}
const books = (fields: Resource['fields'] = BOOK, rest: object = {}) => define('Book', 'books', fields, rest)
const copiesOf = (owner: Resource) =>
  define('Copy', 'copies', { number: integer('Number.', { required: true }) }, { kind: 'owned', owner })

/** Two books, of which one has values, a deleted one, and a copy. */
const ROWS = `
  INSERT INTO authors (id, name) VALUES ('ada', 'Ada');
  INSERT INTO books (id, title, pages, shelf, author_id) VALUES ('full', 'Full', 10, 'A1', 'ada'), ('bare', 'Bare', NULL, NULL, NULL), ('gone', 'Gone', NULL, NULL, NULL);
  UPDATE books SET title = 'Gone again' WHERE id = 'gone';
  DELETE FROM books WHERE id = 'gone';
  INSERT INTO copies (book_id, id, number) VALUES ('full', 'one', 1);
  INSERT INTO idempotency_keys (subject, collection, parent_id, key, request_hash, answer)
    VALUES ('me', 'books', '', 'key', 'hash', '{"id": "full", "title": "Full", "shelf": "A1", "version": 1}')`

const VERSIONS = 'SELECT id, version FROM books ORDER BY id'

async function library(t: Parameters<typeof createEvolvingDomain>[0]) {
  const domain = await createEvolvingDomain(t)
  const first = books()
  await domain.become([authors, first, copiesOf(first)])
  await domain.query(ROWS)
  return domain
}

/** The definitions with other books. */
function withBooks(changed: Resource) {
  return [authors, changed, copiesOf(changed)]
}

test('a new domain gets the tables of the engine and its own, and a second run has nothing to do', async (t) => {
  const domain = await library(t)
  const { files, explanation } = await domain.plan(withBooks(books()))
  t.deepEqual([...files.keys()], [])
  t.is(explanation, '')
  t.deepEqual(
    await domain.query('SELECT collection, sum(rows)::int AS rows FROM row_counts GROUP BY 1 ORDER BY 1'),
    [
      { collection: 'authors', rows: 1 },
      { collection: 'books', rows: 2 },
    ],
  )
  await t.throwsAsync(domain.query("INSERT INTO books (id, title) VALUES ('x', ' ')"), {
    message: /books_title_check/,
  })
  await t.throwsAsync(domain.query('DELETE FROM authors'), { message: /books_author_id_fkey/ })
  const schema = await domain.schema()
  t.deepEqual(schema.match(/^model \w+/gm), ['model Author', 'model Book', 'model Copy'])
  t.regex(schema, /copies +Copy\[\]/)
})

test('a domain from before the record of changes gets it, for the rows that it has, too', async (t) => {
  const domain = await createEvolvingDomain(t)
  const additions = Object.keys(ENGINE.additions)
  await domain.become(withBooks(books()), { without: additions })
  await domain.query(ROWS)
  const { files } = await domain.plan(withBooks(books()))
  const migrations = additions.map((name) => `_${name}/migration\\.sql`)
  t.is(files.size, additions.length)
  t.regex([...files.keys()].join(), new RegExp(`${migrations.join(',.*')}$`))
  await domain.become(withBooks(books({ ...BOOK, isbn: text('ISBN.') })))
  await domain.query("UPDATE books SET isbn = 'X' WHERE id = 'full'; DELETE FROM copies")
  const changes =
    "SELECT collection, parent_id, id, version, event, changed_by AS by, resource ->> 'isbn' AS isbn FROM recorded_changes ORDER BY serial"
  const [{ by } = {}] = await domain.query('SELECT current_user AS by')
  t.deepEqual(await domain.query(changes), [
    { collection: 'books', parent_id: '', id: 'full', version: 1, event: null, by: null, isbn: null },
    { collection: 'books', parent_id: '', id: 'full', version: 2, event: 'changed', by, isbn: 'X' },
    { collection: 'copies', parent_id: 'full', id: 'one', version: 1, event: 'deleted', by, isbn: null },
  ])
  t.deepEqual(await domain.query('SELECT id, version, changed_by FROM books ORDER BY id'), [
    { id: 'bare', version: 1, changed_by: null },
    { id: 'full', version: 2, changed_by: by },
  ])
  t.is((await domain.plan(withBooks(books({ ...BOOK, isbn: text('ISBN.') })))).files.size, 0)
})

test('files with the line ends of Windows are the same migrations, baseline and schema', async (t) => {
  const domain = await library(t)
  const files = [...(await readdir(domain.folder, { recursive: true }))].filter((name) =>
    /\.(sql|prisma)$/.test(name),
  )
  for (const name of files) {
    const file = join(domain.folder, name)
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('\n', '\r\n'))
  }
  t.true(files.length > 2)
  t.notRegex(await domain.become(withBooks(books({ ...BOOK, isbn: text('ISBN.') }))), /serve_resource|shelf/)
  t.deepEqual((await domain.schema()).match(/^model \w+/gm), ['model Author', 'model Book', 'model Copy'])
  const [{ text: body } = {}] = await domain.query(
    "SELECT prosrc AS text FROM pg_proc WHERE proname = 'serve_resource'",
  )
  t.notRegex(body as string, /\r/)
})

test('a renamed field has its new name in the states before changes, too', async (t) => {
  const domain = await library(t)
  const states = "SELECT before FROM recorded_changes WHERE before <> 'null' ORDER BY serial LIMIT 3"
  await domain.query(`SELECT record_states_before(ARRAY['books']);
    UPDATE books SET pages = 11 WHERE id = 'full';
    UPDATE books SET pages = 1 WHERE id = 'bare';
    INSERT INTO recorded_changes (collection, parent_id, id, version, event, changed_date, before)
      SELECT 'books', '', '', 1, 'deleted', now(), jsonb_agg(to_jsonb(books) ORDER BY id) FROM books`)
  const { pages, ...kept } = BOOK
  await domain.become(withBooks(books({ ...kept, leaves: integer('Leaves.', { renamedFrom: 'pages' }) })))
  const shown = (await domain.query(states)).map(({ before }) =>
    [before].flat().map((row) => [(row as Json).leaves, 'pages' in (row as object)]),
  )
  t.deepEqual(shown, [
    [[10, false]],
    [[null, false]],
    [
      [1, false],
      [11, false],
    ],
  ])
})

test('a field with the name of the author, which is reserved now, is renamed by the same update', async (t) => {
  const domain = await createEvolvingDomain(t)
  await domain.become([books({ edited: timestamp('E.') })], { without: ['record_authors'] })
  const former = join(domain.folder, 'migrations/29990101000000_former_name')
  await mkdir(former)
  await writeFile(
    join(former, 'migration.sql'),
    "ALTER TABLE books RENAME edited TO changed_by; INSERT INTO books VALUES ('one', '2031-04-05T06:07:08.900Z')",
  )
  const renamed = [books({ edited: timestamp('E.', { renamedFrom: 'changed_by' }) })]
  t.regex(await domain.become(renamed), /The field changed_by is renamed to edited\./)
  await domain.query("INSERT INTO books (id, changed_by) VALUES ('two', 'ada')")
  await domain.query(
    "UPDATE books SET edited = '2031-04-05T06:07:08.900Z', changed_by = 'ben' WHERE id = 'two'",
  )
  const edited = new Date('2031-04-05T06:07:08.900Z')
  const [{ role } = {}] = await domain.query('SELECT current_user AS role')
  t.deepEqual(await domain.query('SELECT id, edited, changed_by FROM books ORDER BY id'), [
    { id: 'one', edited, changed_by: role },
    { id: 'two', edited, changed_by: 'ben' },
  ])
  t.is((await domain.plan(renamed)).files.size, 0)
})

test('an optional field is added without new versions; it can be filtered, sorted and unique', async (t) => {
  const domain = await library(t)
  const fields = {
    ...BOOK,
    isbn: text('ISBN.', { unique: true, index: 'sort' }),
    genre: enumeration(['novel', 'essay'], 'Genre.'),
  }
  const explanation = await domain.become(withBooks(books(fields)))
  t.regex(explanation, /The field isbn is added. Existing rows have no value, and keep their versions/)
  t.regex(explanation, /Lock: ACCESS EXCLUSIVE/)
  t.deepEqual(await domain.query(VERSIONS), [
    { id: 'bare', version: 1 },
    { id: 'full', version: 1 },
  ])
  await t.throwsAsync(domain.query("UPDATE books SET genre = 'poem'"), { message: /books_genre_check/ })
  await domain.query("UPDATE books SET isbn = 'X1' WHERE id = 'full'")
  await t.throwsAsync(domain.query("UPDATE books SET isbn = ' x1 ' WHERE id = 'bare'"), {
    message: /books_isbn_key/,
  })
  const [{ answer } = {}] = await domain.query('SELECT answer FROM idempotency_keys')
  t.like(answer, { isbn: null, title: 'Full' })
  t.is((await domain.plan(withBooks(books(fields)))).files.size, 0)
})

test('a required field needs a value for existing rows, which get new entity tags', async (t) => {
  const domain = await library(t)
  const changed = withBooks(
    books({ ...BOOK, language: text('Language.', { required: true, maximumLength: 3 }) }),
  )
  await t.throwsAsync(domain.plan(changed), {
    message: /books\.language is required.*--default books\.language=<value>/,
  })
  await t.throwsAsync(domain.plan(changed, { defaults: ['books.language=long'] }), {
    message: /longer than 3/,
  })
  const explanation = await domain.become(changed, { defaults: ["books.language=o'n"] })
  t.regex(explanation, /their versions and entity tags change/)
  t.deepEqual(await domain.query('SELECT id, language, version FROM books ORDER BY id'), [
    { id: 'bare', language: "o'n", version: 2 },
    { id: 'full', language: "o'n", version: 2 },
  ])
  await t.throwsAsync(domain.query("INSERT INTO books (id, title) VALUES ('x', 'X')"), {
    message: /language/,
  })
  t.is((await domain.plan(changed)).files.size, 0)
})

test('an initial value fills existing rows, and an optional field can become required and optional again', async (t) => {
  const domain = await library(t)
  const required = withBooks(
    books({
      ...BOOK,
      shelf: text('Shelf.', { required: true }),
      state: text('State.', { initially: 'lent' }),
    }),
  )
  await domain.become(required, { defaults: ['books.shelf=Z9'] })
  t.deepEqual(await domain.query('SELECT id, shelf, state, version FROM books ORDER BY id'), [
    { id: 'bare', shelf: 'Z9', state: 'lent', version: 2 },
    { id: 'full', shelf: 'A1', state: 'lent', version: 2 },
  ])
  await t.throwsAsync(domain.query("UPDATE books SET shelf = ''"), { message: /books_shelf_check/ })
  await domain.become(withBooks(books({ ...BOOK, state: text('State.', { initially: 'lent' }) })))
  await domain.query("UPDATE books SET shelf = NULL WHERE id = 'bare'")
  t.is((await domain.query('SELECT FROM books WHERE shelf IS NULL')).length, 1)
  const insert = (id: string) =>
    domain.query(`INSERT INTO books (id, title) VALUES ('${id}', 'T') RETURNING state`)
  t.deepEqual(await insert('three'), [{ state: 'lent' }])
  const explanation = await domain.become(
    withBooks(books({ ...BOOK, state: text('State.', { initially: "on the author's desk" }) })),
  )
  t.regex(explanation, /The column state has the default 'on the author''s desk'::text\./)
  t.deepEqual(await insert('four'), [{ state: "on the author's desk" }])
  t.regex(await domain.schema(), /state +String +@default\("on the author's desk"\)/)
  await domain.become(withBooks(books({ ...BOOK, state: text('State.') })))
  t.deepEqual(await insert('five'), [{ state: null }])
})

test('a removed field is refused without permission, and then raises the versions of rows with a value', async (t) => {
  const domain = await library(t)
  const { shelf, ...rest } = BOOK
  const changed = withBooks(books(rest))
  await t.throwsAsync(domain.plan(changed), {
    message: /books: the values of shelf would be lost.*--allow-data-loss/,
  })
  const explanation = await domain.become(changed, { allowDataLoss: true })
  t.regex(explanation, /shelf is removed WITH ITS VALUES/)
  t.deepEqual(await domain.query(VERSIONS), [
    { id: 'bare', version: 1 },
    { id: 'full', version: 2 },
  ])
  t.is((await domain.plan(changed)).files.size, 0)
})

test('the target of a reference gets a new entity tag when the field, or the resource with it, is removed', async (t) => {
  const domain = await library(t)
  const { author_id, ...rest } = BOOK
  await domain.become(withBooks(books(rest)), { allowDataLoss: true })
  t.deepEqual(await domain.query('SELECT id, version FROM authors'), [{ id: 'ada', version: 2 }])
  await domain.become(withBooks(books()))
  const [{ version } = {}] = await domain.query('SELECT version FROM authors')
  await domain.become([authors], { allowDataLoss: true })
  t.deepEqual(await domain.query('SELECT version FROM authors'), [{ version: Number(version) + 1 }])
})

test('a declared rename keeps values, constraints and indexes; rows with a value get new entity tags', async (t) => {
  const domain = await library(t)
  const { shelf, author_id, ...rest } = BOOK
  const undeclared = withBooks(books({ ...rest, author_id, place: text('Place.') }))
  await t.throwsAsync(domain.plan(undeclared), {
    message: /If place is its new name, declare it there: renamedFrom: 'shelf'/,
  })
  const declared = withBooks(
    books({
      ...rest,
      location: group('Location.', { place: text('Place.', { renamedFrom: 'shelf' }) }),
      writer_id: reference('authors', 'writer', 'Writer.', { renamedFrom: 'author_id' }),
    }),
  )
  const explanation = await domain.become(declared)
  t.regex(explanation, /The field shelf is renamed to location_place/)
  t.deepEqual(await domain.query('SELECT id, location_place, writer_id, version FROM books ORDER BY id'), [
    { id: 'bare', location_place: null, writer_id: null, version: 1 },
    { id: 'full', location_place: 'A1', writer_id: 'ada', version: 2 },
  ])
  const [{ answer } = {}] = await domain.query('SELECT answer FROM idempotency_keys')
  t.like(answer, { location_place: 'A1', shelf: undefined })
  await t.throwsAsync(domain.query("UPDATE books SET writer_id = 'x'"), { message: /books_writer_id_fkey/ })
  t.is((await domain.query("SELECT FROM pg_indexes WHERE indexname = 'books_writer_id_idx'")).length, 1)
  t.deepEqual(
    await domain.query('SELECT version FROM authors'),
    [{ version: 2 }],
    'their link names the field',
  )
  t.is((await domain.plan(declared)).files.size, 0)
})

test('a new field may take the former name of a renamed one, and later runs rename nothing', async (t) => {
  const domain = await library(t)
  const { shelf, ...rest } = BOOK
  const place = text('Place.', { renamedFrom: 'shelf' })
  const declared = withBooks(books({ ...rest, place, shelf: integer('Number of the shelf.') }))
  const explanation = await domain.become(declared)
  t.regex(explanation, /The field shelf is renamed to place\.[\s\S]*The field shelf is added\./)
  const stored = 'SELECT id, place, shelf FROM books ORDER BY id'
  t.deepEqual(await domain.query(stored), [
    { id: 'bare', place: null, shelf: null },
    { id: 'full', place: 'A1', shelf: null },
  ])
  await domain.query("UPDATE books SET shelf = 7 WHERE id = 'full'")
  t.is((await domain.plan(declared)).files.size, 0)
  const next = await domain.become(
    withBooks(books({ ...rest, place, shelf: integer('Number of the shelf.'), row: integer('Row.') })),
  )
  t.notRegex(next, /renamed/)
  t.like((await domain.query(stored))[1], { place: 'A1', shelf: 7 })
})

test('names can move on from field to field and from resource to resource, but not be exchanged', async (t) => {
  const domain = await createEvolvingDomain(t)
  const keys = { required: true, unique: true } as const
  const notes = (path: string, fields: Resource['fields'], rest: object = {}) =>
    define(path.toUpperCase(), path, fields, rest)
  await domain.become([
    notes('ones', { first: text('F.', keys), second: integer('S.', { index: 'sort' }) }),
    notes('twos', { name: text('N.') }),
  ])
  await domain.query("INSERT INTO ones VALUES ('x', 'one', 2); INSERT INTO twos VALUES ('y', 'two')")
  const commented = (await domain.schema()).replace('model ONES', '// The first.\nmodel ONES')
  await writeFile(join(domain.folder, 'schema.prisma'), commented)
  const first = text('F.', { ...keys, renamedFrom: 'first' })
  const moved = [
    notes(
      'twos',
      { second: first, third: integer('T.', { index: 'sort', renamedFrom: 'second' }) },
      { renamedFrom: 'ones' },
    ),
    notes('threes', { name: text('N.') }, { renamedFrom: 'twos' }),
  ]
  await domain.become(moved)
  t.deepEqual(await domain.query('SELECT second, third, (SELECT name FROM threes) FROM twos'), [
    { second: 'one', third: 2, name: 'two' },
  ])
  t.regex(await domain.schema(), /The first\.\nmodel TWOS/)
  t.is((await domain.plan(moved)).files.size, 0)
  const exchanged = {
    second: integer('S.', { renamedFrom: 'third' }),
    third: text('T.', { renamedFrom: 'second' }),
  }
  await t.throwsAsync(domain.plan([notes('twos', exchanged)]), {
    message: /^twos: the fields second and third exchange their names/,
  })
  const both = [notes('twos', {}, { renamedFrom: 'threes' }), notes('threes', {}, { renamedFrom: 'twos' })]
  await t.throwsAsync(domain.plan(both), { message: /^The resources twos and threes exchange their names/ })
})

test('a renamed resource keeps its rows, versions, tombstones, counts and children', async (t) => {
  const domain = await library(t)
  const volumes = define('Volume', 'volumes', BOOK, { renamedFrom: 'books' })
  const changed = [authors, volumes, copiesOf(volumes)]
  const explanation = await domain.become(changed, { versions: [{ name: 'v1' }, { name: 'v2' }] })
  t.regex(explanation, /The resource books is renamed to volumes/)
  t.regex(
    explanation,
    /A new name counts at once in every version of the API \(v1 and v2\), and in past states/,
  )
  t.deepEqual(await domain.query('SELECT id, version FROM volumes ORDER BY id'), [
    { id: 'bare', version: 1 },
    { id: 'full', version: 1 },
  ])
  t.deepEqual(await domain.query('SELECT volume_id, id, version FROM copies'), [
    { volume_id: 'full', id: 'one', version: 2 },
  ])
  t.deepEqual(
    await domain.query('SELECT id, version FROM authors'),
    [{ id: 'ada', version: 2 }],
    'it links the books',
  )
  t.deepEqual(await domain.query('SELECT collection, key FROM idempotency_keys'), [
    { collection: 'volumes', key: 'key' },
  ])
  await domain.query("INSERT INTO volumes (id, title) VALUES ('gone', 'Back')")
  t.deepEqual(await domain.query("SELECT version FROM volumes WHERE id = 'gone'"), [{ version: 3 }])
  t.deepEqual(
    await domain.query(
      "SELECT collection, sum(rows)::int AS rows FROM row_counts WHERE collection <> 'authors' GROUP BY collection",
    ),
    [{ collection: 'volumes', rows: 3 }],
  )
  await domain.query("DELETE FROM volumes WHERE id = 'full'")
  t.is(
    (await domain.query("SELECT FROM tombstones WHERE collection = 'copies' AND parent_id = 'full'")).length,
    1,
  )
  const schema = await domain.schema()
  t.notRegex(schema, /model Book \{/)
  t.regex(schema, /@@map\("volumes"\)/)
  t.is((await domain.plan(changed)).files.size, 0)
})

test('a removed resource is refused without permission; its versions continue if it comes back', async (t) => {
  const domain = await library(t)
  await domain.query("UPDATE books SET pages = 11 WHERE id = 'full'")
  await t.throwsAsync(domain.plan([authors]), {
    message: /books: all its rows would be lost[\s\S]*copies: all its rows/,
  })
  const explanation = await domain.become([authors], { allowDataLoss: true })
  t.regex(explanation, /books is removed WITH ALL ITS ROWS/)
  await domain.become(withBooks(books()))
  await domain.query("INSERT INTO books (id, title) VALUES ('full', 'Full')")
  t.deepEqual(await domain.query('SELECT version FROM books'), [{ version: 3 }])
  t.deepEqual(await domain.query("SELECT rows::int FROM row_counts WHERE collection = 'books'"), [
    { rows: 1 },
  ])
})

test('changed bounds, lengths and values apply to later writes, and existing rows stay', async (t) => {
  const domain = await library(t)
  const changed = withBooks(
    books({
      ...BOOK,
      title: text('Title.', { required: true, maximumLength: 3 }),
      pages: integer('Pages.', { minimum: 20, maximum: 30 }),
      shelf: enumeration(['B1', 'B2'], 'Shelf.'),
    }),
  )
  const explanation = await domain.become(changed, { allowInvalidRows: true })
  t.regex(explanation, /books_pages_check is replaced: CHECK \("pages" >= 20 AND "pages" <= 30\)/)
  t.like((await domain.query("SELECT * FROM books WHERE id = 'full'"))[0], {
    pages: 10,
    shelf: 'A1',
    version: 1,
  })
  await t.throwsAsync(domain.query("INSERT INTO books (id, title, pages) VALUES ('x', 'X', 10)"), {
    message: /books_pages_check/,
  })
  await t.throwsAsync(domain.query("INSERT INTO books (id, title, shelf) VALUES ('x', 'X', 'A1')"), {
    message: /books_shelf_check/,
  })
  await t.throwsAsync(domain.query("INSERT INTO books (id, title) VALUES ('x', 'Long')"), {
    message: /books_title_check/,
  })
  t.is((await domain.plan(changed)).files.size, 0)
})

test('uniqueness, indexes and the action of a reference can be added and removed', async (t) => {
  const domain = await library(t)
  const changed = books({
    ...BOOK,
    title: text('Title.', { required: true, unique: true, index: 'sort' }),
    author_id: reference('authors', 'author', 'Author.', { onDelete: 'cascade' }),
  })
  const copies = define(
    'Copy',
    'copies',
    {
      number: integer('Number.', { required: true }),
      mark: text('Mark.', { unique: { within: 'book_id' }, index: 'filter' }),
    },
    { kind: 'owned', owner: changed },
  )
  await domain.become([authors, changed, copies])
  await t.throwsAsync(domain.query("INSERT INTO books (id, title) VALUES ('x', 'FULL')"), {
    message: /books_title_key/,
  })
  await domain.query(
    "INSERT INTO copies (book_id, id, number, mark) VALUES ('full', 'a', 1, 'M'), ('bare', 'a', 1, 'M')",
  )
  await t.throwsAsync(
    domain.query("INSERT INTO copies (book_id, id, number, mark) VALUES ('full', 'b', 1, 'm')"),
    { message: /copies_book_id_mark_key/ },
  )
  await domain.query('DELETE FROM authors')
  t.is((await domain.query('SELECT FROM books')).length, 1)
  const { mark, ...plain } = copies.fields
  await domain.become(withBooks(books()), { allowDataLoss: true })
  t.truthy(mark)
  t.deepEqual(Object.keys(plain), ['number'])
  t.is(
    (
      await domain.query(
        "SELECT FROM pg_indexes WHERE indexname IN ('books_title_key', 'books_title_id_idx')",
      )
    ).length,
    0,
  )
})

test('an index that was built before its migration is kept', async (t) => {
  const domain = await library(t)
  await domain.query('CREATE INDEX books_title_id_idx ON books (title, id) WITH (fillfactor = 50)')
  await domain.become(withBooks(books({ ...BOOK, title: text('Title.', { required: true, index: 'sort' }) })))
  const [index] = await domain.query("SELECT indexdef FROM pg_indexes WHERE indexname = 'books_title_id_idx'")
  t.regex(index?.['indexdef'] as string, /fillfactor/)
})

test('a computed field is added, changed and removed with its index, and each change is a new version', async (t) => {
  const domain = await library(t)
  const doubled = (expression: string) =>
    withBooks(books({ ...BOOK, double: computed(expression, integer('D.', { index: 'sort' })) }))
  const row = async () => (await domain.query("SELECT * FROM books WHERE id = 'full'"))[0]
  await domain.become(doubled('pages * 2'))
  t.like(await row(), { double: 20, version: 2 })
  t.is((await domain.plan(doubled('pages * 2'))).files.size, 0)
  await domain.become(doubled('pages * 3'))
  t.like(await row(), { double: 30, version: 3 })
  t.is((await domain.query("SELECT FROM pg_indexes WHERE indexname = 'books_double_id_idx'")).length, 1)
  for (const [expression, said] of [
    ['pages * 2 +', /books\.double: syntax error/],
    ['nothing', /books\.double: column "nothing" does not exist/],
    ['pages + extract(year FROM now())', /books\.double: generation expression is not immutable/],
  ] as const) {
    await t.throwsAsync(domain.plan(doubled(expression)), { message: said })
  }
  await domain.become(withBooks(books({ ...BOOK, double: integer('D.', { index: 'sort' }) })))
  t.like(await row(), { double: 30 })
  await t.throwsAsync(domain.plan(doubled('pages')), {
    message: /books: the values of double would be lost, because it is computed now/,
  })
  await domain.become(doubled('pages'), { allowDataLoss: true })
  t.like(await row(), { double: 10 })
  await domain.query("UPDATE books SET pages = 11 WHERE id = 'full'")
  t.like(await row(), { double: 11 })
  await domain.become(withBooks(books()), { allowDataLoss: true })
})

test('a resource cannot become of another kind', async (t) => {
  const domain = await library(t)
  const owned = define('Author', 'authors', authors.fields, {
    kind: 'owned',
    owner: define('Country', 'countries', { name: text('Name.') }),
  })
  const changed = [owned.owner as unknown as Resource, owned]
  const { refusals, explanation } = await domain.plan(changed, { allowDataLoss: true, defaults: [] })
  t.regex(refusals, /^- authors: the primary key of the table authors is /m)
  t.notRegex(explanation, /authors\n {2}- The/)
})

test('constraints, indexes, triggers, models and comments written by hand stay', async (t) => {
  const domain = await library(t)
  const { writeFile, mkdir } = await import('node:fs/promises')
  const { join } = await import('node:path')
  const folder = join(domain.folder, 'migrations', '99990101000000_by_hand')
  await mkdir(folder)
  await writeFile(
    join(folder, 'migration.sql'),
    `
    ALTER TABLE books ADD CONSTRAINT books_shelf_needs_pages_check CHECK (shelf IS NULL OR pages IS NOT NULL);
    CREATE INDEX books_by_length ON books (char_length(title));
    CREATE TABLE notes (id TEXT PRIMARY KEY, book_id TEXT REFERENCES books(id));
    CREATE FUNCTION shelf_of(book TEXT) RETURNS TEXT LANGUAGE sql AS 'SELECT shelf FROM books WHERE id = book';`,
  )
  const schema = (await domain.schema())
    .replace('model Book {', '/// A printed book.\nmodel Book {')
    .replace(/( +)shelf +String\?/, '  // Where it stands.\n$&')
    .replace('  @@map("books")', '  notes Note[]\n\n  @@map("books")')
    .concat(
      '\n/// Remarks.\nmodel Note {\n  id      String  @id\n  book_id String?\n  book    Book?   @relation(fields: [book_id], references: [id])\n\n  @@map("notes")\n}\n',
    )
  await writeFile(join(domain.folder, 'schema.prisma'), schema)
  const { shelf, ...rest } = BOOK
  await t.throwsAsync(domain.plan(withBooks(books(rest)), { allowDataLoss: true }), {
    message: /books_shelf_needs_pages_check was written by hand/,
  })
  await domain.become(withBooks(books({ ...BOOK, language: text('Language.') })))
  const indexes = await domain.query("SELECT indexname FROM pg_indexes WHERE indexname = 'books_by_length'")
  t.is(indexes.length, 1)
  await t.throwsAsync(domain.query('UPDATE books SET pages = NULL'), {
    message: /books_shelf_needs_pages_check/,
  })
  const after = await domain.schema()
  t.regex(after, /\/\/\/ A printed book\.\nmodel Book \{/)
  t.regex(after, /\/\/ Where it stands\.\n +shelf /)
  t.regex(after, /notes Note\[\]/)
  t.regex(after, /\/\/\/ Remarks\.\nmodel Note \{/)
  t.regex(after, /language +String\?/)
  const moved = books({
    ...rest,
    language: text('Language.'),
    place: text('Place.', { renamedFrom: 'shelf' }),
  })
  const { explanation } = await domain.plan(withBooks(moved))
  t.regex(explanation, /WARNING: The text of shelf_of contains shelf, which is removed/)
})

test('the field with the time of creation can be renamed, and columns that no table can have are refused', async (t) => {
  const domain = await library(t)
  const times = await domain.query('SELECT id, created_date AS time FROM books ORDER BY id')
  const changed = withBooks(books(BOOK, { createdField: 'catalogued_date' }))
  await domain.become(changed)
  t.deepEqual(await domain.query('SELECT id, catalogued_date AS time FROM books ORDER BY id'), times)
  t.deepEqual(await domain.query(VERSIONS), [
    { id: 'bare', version: 2 },
    { id: 'full', version: 2 },
  ])
  t.is((await domain.plan(changed)).files.size, 0)
  const twice = { size: group('Size.', { height: integer('Height.') }), size_height: integer('Height.') }
  for (const [fields, message] of [
    [twice, /two fields have the column size_height/],
    [{ ['x'.repeat(60)]: text('Long.') }, /longer than 63 bytes/],
  ] as const) {
    await t.throwsAsync(domain.plan([books(fields)]), { message })
  }
})
