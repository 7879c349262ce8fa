import test from 'ava'
import {
  boolean,
  computed,
  date,
  decimal,
  enumeration,
  fractions,
  integer,
  json,
  list,
  number,
  reference,
  text,
  timestamp,
} from '../../src/domain/definition.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import type { LeafField } from '../../src/model/definition/fields.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { refuseInvalidSchema } from '../../tools/resource/models/validate.ts'
import { createEvolvingDomain } from '../helpers/domain/evolving-domain.ts'

const define = (name: string, path: string, fields: Resource['fields'], rest: object = {}) =>
  defineResource({ kind: 'collection', name, path, description: `A ${name}.`, fields, ...rest })

/** Fields of each kind, and a value in SQL. */
const KINDS: Readonly<Record<string, readonly [LeafField, string]>> = {
  text: [text('T.', { index: 'sort' }), "'ada'"],
  enumeration: [enumeration(['ada', 'teo'], 'E.'), "'ada'"],
  reference: [reference('authors', 'author', 'R.'), "'ada'"],
  integer: [integer('I.', { index: 'sort' }), '-12'],
  number: [number('N.', { unique: true }), '1e22'],
  decimal_8_2: [decimal(8, 2, 'D.', { minimum: 0, unique: true }), '123456.50'],
  decimal_10_2: [decimal(10, 2, 'D.'), '12345678.50'],
  decimal_12_2: [decimal(12, 2, 'D.', { index: 'filter' }), '1234567890.50'],
  decimal_10_3: [decimal(10, 3, 'D.', { index: 'sort' }), '1234567.125'],
  boolean: [boolean('B.'), 'TRUE'],
  timestamp: [timestamp('T.', { index: 'sort' }), "'2031-04-05T06:07:08.9Z'"],
  date: [date('D.', { index: 'sort' }), "'2031-06-01'"],
  fractions: [fractions('F.'), `'{"oxygen": 0.21}'`],
  json: [json('J.'), `'{"any": [1]}'`],
  list: [list(text('I.'), 'L.'), `'["one"]'`],
}

/** The kinds that hold every value of a kind, each with the text of the sample in JSON. */
const WIDER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  text: { json: 'ada' },
  enumeration: { json: 'ada' },
  reference: { json: 'ada' },
  integer: { number: '-12', decimal_12_2: '-12.00', text: '-12', json: '-12' },
  number: { text: '1e+22', json: '10000000000000000000000' },
  decimal_8_2: {
    decimal_10_2: '123456.50',
    decimal_12_2: '123456.50',
    decimal_10_3: '123456.500',
    text: '123456.50',
    json: '123456.50',
  },
  decimal_10_2: { decimal_12_2: '12345678.50', text: '12345678.50', json: '12345678.50' },
  decimal_12_2: { text: '1234567890.50', json: '1234567890.50' },
  decimal_10_3: { text: '1234567.125', json: '1234567.125' },
  boolean: { text: 'true', json: 'true' },
  timestamp: { text: '2031-04-05T06:07:08.900Z', json: '2031-04-05T06:07:08.900Z' },
  date: { timestamp: '2031-06-01T00:00:00+00:00', text: '2031-06-01', json: '2031-06-01' },
}

/** Whether the rows decide if a change is possible: the type of the column holds the values. */
function dependsOnRows(from: string, to: string): boolean {
  const isText = (kind: string) => ['text', 'enumeration', 'reference'].includes(kind)
  const isDocument = (kind: string) => ['fractions', 'json', 'list'].includes(kind)
  const becomesText = isText(to) && (isText(from) || (to !== 'text' && WIDER[from]?.['text'] !== undefined))
  return becomesText || (isDocument(from) && isDocument(to))
}

const authors = define('Author', 'authors', { name: text('Name.', { required: true }) })

type Pair = readonly [from: string, to: string]

const pairs = Object.keys(KINDS).flatMap((from) =>
  Object.keys(KINDS)
    .filter((to) => to !== from && !dependsOnRows(from, to))
    .map((to): Pair => [from, to]),
)
const isWider = ([from, to]: Pair) => WIDER[from]?.[to] !== undefined
const nameOf = ([from, to]: Pair) => `${from}_to_${to}`

/** A field for each of these pairs, of its first or its second kind. */
function changing(chosen: readonly Pair[], place: 0 | 1): Resource[] {
  const fields = chosen.map((pair) => [nameOf(pair), KINDS[pair[place]]?.[0] as LeafField] as const)
  return [authors, define('Sample', 'samples', { title: text('T.'), ...Object.fromEntries(fields) })]
}

test('a field can become of each kind that holds all of its values, which stay, as do those of the past', async (t) => {
  const domain = await createEvolvingDomain(t)
  const wider = pairs.filter(isWider)
  await domain.become(changing(wider, 0))
  const values = wider.map(([from]) => KINDS[from]?.[1])
  const columns = wider.map(nameOf).join(', ')
  await domain.query(`INSERT INTO authors (id, name) VALUES ('ada', 'Ada');
    INSERT INTO samples (id, ${columns}) VALUES ('full', ${values.join(', ')});
    INSERT INTO samples (id) VALUES ('bare');
    INSERT INTO idempotency_keys (subject, collection, parent_id, key, request_hash, answer)
      SELECT 'me', 'samples', '', 'key', 'hash', to_jsonb(samples) FROM samples WHERE id = 'full';
    UPDATE recorded_changes SET before = resource`)
  const explanation = await domain.become(changing(wider, 1))
  t.regex(
    explanation,
    /decimal_8_2_to_decimal_10_2 has the type numeric\(10,2\) instead of numeric\(8,2\)\. Its values stay\./,
  )
  const [row] = await domain.query(`SELECT to_jsonb(samples) AS now, resource AS past, answer FROM samples,
    (SELECT resource FROM recorded_changes WHERE id = 'full' ORDER BY serial LIMIT 1) AS first, idempotency_keys
    WHERE id = 'full'`)
  const texts = (document: unknown) =>
    wider.map((pair) => [nameOf(pair), (document as Record<string, unknown>)[nameOf(pair)]])
  t.deepEqual(texts(row?.['past']), texts(row?.['now']))
  const recorded = await domain.query(
    'SELECT before, resource FROM recorded_changes WHERE before IS NOT NULL',
  )
  t.deepEqual(
    recorded.map(({ before }) => before),
    recorded.map(({ resource }) => resource),
  )
  t.is(recorded.length, 3)
  for (const pair of wider) {
    const name = nameOf(pair)
    const [stored] =
      await domain.query(`SELECT to_jsonb(samples) ->> '${name}' AS now, answer ->> '${name}' AS answer
      FROM samples, idempotency_keys WHERE samples.id = 'full'`)
    t.is(stored?.['now'], WIDER[pair[0]]?.[pair[1]], name)
    t.is(stored?.['answer'], stored?.['now'], name)
  }
  t.deepEqual(await domain.query('SELECT id, version FROM samples ORDER BY id'), [
    { id: 'bare', version: 1 },
    { id: 'full', version: 2 },
  ])
  t.deepEqual([...(await domain.plan(changing(wider, 1))).files.keys()], [])
})

test('every other change of a kind is refused, with the field and both types', async (t) => {
  const domain = await createEvolvingDomain(t)
  const lossy = pairs.filter((pair) => !isWider(pair))
  await domain.become(changing(lossy, 0))
  const { message } = (await t.throwsAsync(domain.plan(changing(lossy, 1)))) as Error
  const refused = [...message.matchAll(/^- samples\.(\w+): changing the type .+ to .+ could lose values/gm)]
  t.deepEqual(refused.map(([, name]) => name).sort(), lossy.map(nameOf).sort())
})

test('an index for lists has the value in the order of creation, also below a parent', async (t) => {
  const domain = await createEvolvingDomain(t)
  const owners = { owner: text('Owner.', { readOnly: true, index: 'list' }), name: text('N.') }
  const notes = define('Note', 'notes', owners)
  await domain.become([notes, define('Page', 'pages', owners, { kind: 'owned', owner: notes })])
  const rows = await domain.query(
    "SELECT indexdef FROM pg_indexes WHERE indexname ~ '_owner_' ORDER BY tablename",
  )
  t.deepEqual(
    rows.map(({ indexdef }) => /\(.*\)/.exec(indexdef as string)?.[0]),
    ['(owner, created_date, id)', '(note_id, owner, created_date, id)'],
  )
})

test('a wider type keeps what is computed from it, and a bound that the field has', async (t) => {
  const domain = await createEvolvingDomain(t)
  const invoice = (precision: number, scale: number) => [
    define('Line', 'lines', {
      price: decimal(precision, scale, 'P.', { minimum: 0, initially: '1.00' }),
      quantity: integer('Q.'),
      total: computed('price * quantity', decimal(14, 2, 'T.', { index: 'sort' })),
    }),
  ]
  await domain.become(invoice(8, 2))
  await domain.query("INSERT INTO lines (id, price, quantity) VALUES ('one', 999999.99, 2)")
  await domain.become(invoice(10, 2))
  await domain.query("INSERT INTO lines (id, price, quantity) VALUES ('two', 12345678.5, 2)")
  await t.throwsAsync(domain.query("INSERT INTO lines (id, price) VALUES ('x', -1)"), {
    message: /lines_price_check/,
  })
  t.deepEqual(await domain.query('SELECT id, price, total FROM lines ORDER BY id'), [
    { id: 'one', price: '999999.99', total: '1999999.98' },
    { id: 'two', price: '12345678.50', total: '24691357.00' },
  ])
  await domain.become(invoice(12, 4))
  t.deepEqual(await domain.query("SELECT price, total FROM lines WHERE id = 'two'"), [
    { price: '12345678.5000', total: '24691357.00' },
  ])
  t.is((await domain.query("SELECT FROM pg_indexes WHERE indexname = 'lines_total_id_idx'")).length, 1)
  t.is((await domain.plan(invoice(12, 4))).files.size, 0)
})

test('rows that stand against a change are counted, and kept only with permission', async (t) => {
  const domain = await createEvolvingDomain(t)
  const books = (fields: Resource['fields']) => [authors, define('Book', 'books', fields)]
  const before = {
    status: enumeration(['new', 'lent', 'lost'], 'S.', { initially: 'new' }),
    pages: integer('P.'),
    tags: list(text('T.'), 'T.'),
    shelf: text('S.'),
    writer: text('W.'),
    code: text('C.'),
  }
  await domain.become(books(before))
  await domain.query(`INSERT INTO authors (id, name) VALUES ('ada', 'Ada');
    INSERT INTO books (id, status, pages, tags, shelf, writer, code) VALUES
      ('a', 'lost', 0, '["a", "b"]', 'A1', 'ada', 'X'), ('b', 'lost', 1, '["a"]', 'B22', 'bob', 'x'), ('c', 'new', NULL, NULL, NULL, NULL, NULL)`)
  const after = {
    state: enumeration(['new', 'lent'], 'S.', { initially: 'new', renamedFrom: 'status' }),
    pages: integer('P.', { minimum: 1 }),
    tags: list(text('T.'), 'T.', { maximum: 1 }),
    shelf: text('S.', { pattern: '[A-Z][0-9]', example: 'A1' }),
    writer: reference('authors', 'writer', 'W.'),
    code: text('C.', { unique: true }),
  }
  const { message } = (await t.throwsAsync(domain.plan(books(after)))) as Error
  const lines = message.split('\n- ').slice(1)
  const advice = 'Change them first, or keep them with --allow-invalid-rows.'
  t.deepEqual(lines, [
    `books.state: 2 rows have a value that the definition does not allow. ${advice}`,
    `books.pages: 1 row has a value that the definition does not allow. ${advice}`,
    `books.tags: 1 row has a value that the definition does not allow. ${advice}`,
    `books.shelf: 1 row has a value that the definition does not allow. ${advice}`,
    `books.writer: 1 row has a value that no resource has as its identifier. ${advice}`,
    'books: 1 of the values of (folded("code")), which would be unique, is in several rows. Change them first.',
  ])
  await t.throwsAsync(domain.plan(books(after), { allowInvalidRows: true }), {
    message: /^[^-]*- books: 1 of the values/,
  })
  await domain.query("UPDATE books SET code = 'Y' WHERE id = 'b'")
  const explanation = await domain.become(books(after), { allowInvalidRows: true })
  t.regex(
    explanation,
    /WARNING: books\.state: 2 rows have a value that the definition does not allow\. They are kept\./,
  )
  t.deepEqual(await domain.query('SELECT state FROM books ORDER BY id'), [
    { state: 'lost' },
    { state: 'lost' },
    { state: 'new' },
  ])
  t.is((await domain.plan(books(after))).files.size, 0)
  const later = books({ ...after, edition: integer('E.', { initially: 1 }) })
  await domain.become(later)
  t.deepEqual(await domain.query("SELECT state, edition FROM books WHERE id = 'a'"), [
    { state: 'lost', edition: 1 },
  ])
  await t.throwsAsync(domain.query("INSERT INTO books (id, state, edition) VALUES ('x', 'lost', 1)"), {
    message: /books_state_check/,
  })
  t.is((await domain.plan(later)).files.size, 0)
})

test('a change that widens a field needs no decision, is explained, and keeps what rows have', async (t) => {
  const domain = await createEvolvingDomain(t)
  const item = (fields: Resource['fields']) => [define('Item', 'items', fields)]
  await domain.become(
    item({
      price: decimal(8, 2, 'P.'),
      label: text('L.', { maximumLength: 10 }),
      weight: integer('W.'),
      place: text('P.', { required: true }),
      status: enumeration(['new'], 'S.'),
      size: integer('S.', { maximum: 10 }),
    }),
  )
  await domain.query(
    "INSERT INTO items (id, price, label, weight, place, status, size) VALUES ('one', 123456.78, 'ten', 3, 'here', 'new', 10)",
  )
  const explanation = await domain.become(
    item({
      price: decimal(10, 2, 'P.'),
      label: text('L.', { maximumLength: 2_000 }),
      weight: number('W.'),
      place: text('P.'),
      status: enumeration(['new', 'used'], 'S.'),
      size: integer('S.', { maximum: 20 }),
    }),
  )
  for (const said of [
    /The field price has the type numeric\(10,2\) instead of numeric\(8,2\)\. Its values stay\./,
    /The constraint items_label_check is replaced: CHECK \(char_length\("label"\) <= 2000\)\./,
    /The field weight has the type double precision instead of integer\. Its values stay\./,
    /The field place becomes optional\./,
    /The constraint items_status_check is replaced: CHECK \("status" IN \('new', 'used'\)\)\./,
    /The constraint items_size_check is replaced: CHECK \("size" <= 20\)\./,
  ])
    t.regex(explanation, said)
  const [row] = await domain.query(
    'SELECT price::text, label, weight, place, status, size, version FROM items',
  )
  t.deepEqual(row, {
    price: '123456.78',
    label: 'ten',
    weight: 3,
    place: 'here',
    status: 'new',
    size: 10,
    version: 1,
  })
  await domain.query(
    "UPDATE items SET price = 12345678.9, status = 'used', place = NULL, weight = 0.5, size = 20",
  )
})

test('a refused change says how many rows stand against it', async (t) => {
  const domain = await createEvolvingDomain(t)
  const item = (fields: Resource['fields']) => [define('Item', 'items', fields)]
  const fields = { price: decimal(8, 2, 'P.'), place: text('P.'), weight: text('W.') }
  await domain.become(item(fields))
  await domain.query(
    "INSERT INTO items (id, price, place, weight) VALUES ('a', 123456.78, 'x', '3'), ('b', 1.50, NULL, '4'), ('c', NULL, NULL, '5')",
  )
  for (const [changed, said] of [
    [{ ...fields, price: decimal(6, 2, 'P.') }, /price: changing .* 1 row has a value that does not fit\.$/m],
    [{ ...fields, place: text('P.', { required: true }) }, /place is required.* 2 rows have no value\.$/m],
    [{ ...fields, weight: integer('W.') }, /weight: changing .* 3 rows have a value\.$/m],
    [
      { price: fields.price, place: fields.place },
      /values of weight would be lost.* 3 rows have a value\.$/m,
    ],
  ] as const)
    t.regex(((await t.throwsAsync(domain.plan(item(changed)))) as Error).message, said)
  t.regex(
    ((await t.throwsAsync(domain.plan([]))) as Error).message,
    /all its rows would be lost.* 3 rows have values\.$/m,
  )
})

test('a refused change does not stop others, and its model stays in a schema that Prisma accepts', async (t) => {
  const domain = await createEvolvingDomain(t)
  const shelves = (fields: object) => define('Shelf', 'shelves', { name: text('N.'), ...fields })
  const books = (fields: object) =>
    define('Book', 'books', { title: text('T.'), shelf_id: reference('shelves', 'shelf', 'S.'), ...fields })
  const copies = (fields: object) =>
    define('Copy', 'copies', { book_id: reference('books', 'book', 'B.'), ...fields })
  await domain.become([shelves({}), books({ pages: integer('P.') }), copies({})])
  const changed = [
    shelves({ colour: text('C.') }),
    // The pages would be lost, and the reference to a copy goes with the table.
    books({ copy_id: reference('copies', 'copy', 'C.') }),
    copies({ condition: text('C.') }),
    define('Author', 'authors', { book_id: reference('books', 'best', 'B.') }),
    define('Editor', 'editors', { name: text('N.') }),
  ]
  const update = await domain.plan(changed)
  t.deepEqual(
    update.refusals.split('\n').map((line) => /^- (\w+)/.exec(line)?.[1]),
    ['books', 'authors'],
  )
  t.regex(update.refusals, /the values of pages would be lost/)
  t.regex(update.explanation, /The field colour is added[\s\S]*The field condition is added/)
  t.notRegex(update.explanation, /copy_id|authors/)
  await refuseInvalidSchema(update.schema)
  const model = (name: string) => new RegExp(`model ${name} \\{[^}]*\\}`).exec(update.schema)?.[0] ?? ''
  t.regex(model('Book'), /pages +Int\?[^}]*copies +Copy\[\]/)
  t.regex(model('Copy'), /condition +String\?[^}]*book +Book\?/)
  t.regex(model('Editor'), /name/)
  t.is(model('Author'), '')
  await domain.become(changed)
  t.is((await domain.query("SELECT FROM information_schema.columns WHERE column_name = 'pages'")).length, 1)
  // The decision completes it.
  await domain.become(changed, { allowDataLoss: true })
  t.is((await domain.plan(changed)).files.size, 0)
  await refuseInvalidSchema(await domain.schema())
})

test('a removed reference to a resource that is not migrated waits with it', async (t) => {
  const domain = await createEvolvingDomain(t)
  const shelves = (fields: Resource['fields']) => define('Shelf', 'shelves', fields)
  const books = (fields: object) => define('Book', 'books', { title: text('T.'), ...fields })
  await domain.become([
    shelves({ name: text('N.'), pages: integer('P.') }),
    books({ shelf_id: reference('shelves', 'shelf', 'S.') }),
  ])
  const changed = [shelves({ name: text('N.', { required: true }), pages: integer('P.') }), books({})]
  const both = await domain.plan([...changed, authors], { allowDataLoss: true })
  t.regex(both.refusals, /shelves\.name is required[^\n]*\n- books: its reference to shelves changes/)
  t.regex(both.explanation, /^authors/)
  await refuseInvalidSchema(both.schema)
})

test('a second reference to a collection can be added to rows, and the Prisma schema has both', async (t) => {
  const domain = await createEvolvingDomain(t)
  const matches = (fields: Resource['fields']) => define('Match', 'matches', fields)
  const home = { home_id: reference('authors', 'home', 'H.') }
  await domain.become([authors, matches(home)])
  await domain.query("INSERT INTO authors (id, name) VALUES ('ada', 'Ada')")
  await domain.query("INSERT INTO matches (id, home_id) VALUES ('one', 'ada')")
  const away_id = reference('authors', 'away', 'A.', { inverse: 'travels', onDelete: 'set null' })
  await domain.become([authors, matches({ ...home, away_id })])
  await refuseInvalidSchema(await domain.schema())
  await domain.query("UPDATE matches SET away_id = 'ada'")
  t.deepEqual(await domain.query('SELECT home_id, away_id FROM matches'), [
    { home_id: 'ada', away_id: 'ada' },
  ])
})

test('a resource with relations can be removed, and renamed while fields of it are removed or change', async (t) => {
  const domain = await createEvolvingDomain(t)
  const teams = (fields: Resource['fields'], rest = {}) => define('Team', 'teams', fields, rest)
  const former = teams({
    name: text('N.', { required: true }),
    wage: decimal(8, 2, 'W.'),
    code: text('C.', { unique: { within: 'wage' } }),
    rank: integer('R.', { index: 'list' }),
    state: enumeration(['open'], 'S.'),
    home_id: reference('authors', 'home', 'H.'),
  })
  const players = define('Player', 'players', {}, { kind: 'owned', owner: former })
  const fans = define('Fan', 'fans', { team_id: reference('teams', 'team', 'T.') })
  await domain.become([authors, former, players, fans])
  const left = [authors, former, define('Fan', 'fans', { name: text('N.') })]
  await domain.become(left, { allowDataLoss: true })
  t.notRegex(await domain.schema(), /Player|Team\?/)
  await refuseInvalidSchema(await domain.schema())

  const squads = teams(
    { name: text('N.'), status: text('S.', { renamedFrom: 'state' }) },
    { path: 'squads', renamedFrom: 'teams' },
  )
  await domain.query("INSERT INTO authors (id, name) VALUES ('ada', 'Ada')")
  await domain.become([authors, squads], { allowDataLoss: true })
  const names = await domain.query(`SELECT indexname AS name FROM pg_indexes WHERE tablename = 'squads'
    UNION SELECT conname FROM pg_constraint WHERE conrelid = 'squads'::regclass AND contype <> 'n' ORDER BY 1`)
  const columns = ['created_date', 'id', 'last_updated', 'name', 'status']
  t.deepEqual(
    names.map(({ name }) => name),
    ['created_date_id_idx', ...columns.map((column) => `${column}_check`), 'pkey']
      .map((name) => `squads_${name}`)
      .sort(),
  )
  t.deepEqual(await domain.query('SELECT version FROM authors'), [{ version: 2 }])
  await refuseInvalidSchema(await domain.schema())
})
