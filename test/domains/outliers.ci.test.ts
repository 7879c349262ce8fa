import test, { type ExecutionContext } from 'ava'
import type { Owner } from '../helpers/database/database.ts'
import { makeDomain, serveDomain } from '../helpers/domain/made-domain.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import type { TestService } from '../helpers/service/service.ts'

// Rows from before their constraints, or that a migration kept with --allow-invalid-rows.

const VALID: Readonly<Record<string, unknown>> = {
  text: 'a',
  enumeration: 'low',
  number: 1.5,
  integer: 1,
  decimal: '1.50',
  boolean: true,
  timestamp: '2031-04-05T06:07:08.900Z',
  date: '2031-06-01',
  fractions: { gas: 0.5 },
  json: { any: 1 },
  levels: ['low'],
  numbers: [1],
  days: ['2031-06-01'],
}

/** For each kind, values in SQL, and what a caller sees of them; the same if it is left out. */
const OUTSIDE: Readonly<Record<string, readonly (readonly [sql: string, shown: unknown])[]>> = {
  text: [
    ["'A B'", 'A B'],
    ["''", ''],
    ["repeat('x', 1000)", 'x'.repeat(1000)],
  ],
  enumeration: [
    ["'other'", 'other'],
    ["'an other'", 'an other'],
    ["''", ''],
  ],
  number: [
    ['-1', -1],
    ["'NaN'", Number.MAX_VALUE],
    ["'Infinity'", Number.MAX_VALUE],
    ["'-Infinity'", -Number.MAX_VALUE],
  ],
  integer: [['-2147483648', -2147483648]],
  decimal: [
    ['-1.5', '-1.50'],
    ["'NaN'", 'NaN'],
  ],
  timestamp: [
    ["'infinity'", '9999-12-31T23:59:59.999Z'],
    ["'-infinity'", '0001-01-01T00:00:00.000Z'],
    ["'0044-03-15 00:00:00 BC'", '0001-01-01T00:00:00.000Z'],
    ["'12031-01-01'", '9999-12-31T23:59:59.999Z'],
  ],
  date: [
    ["'infinity'", '9999-12-31'],
    ["'-infinity'", '0001-01-01'],
    ["'0044-03-15 BC'", '0001-01-01'],
    ["'12031-01-01'", '9999-12-31'],
  ],
  fractions: [
    [`'{"gas": -1}'`, { gas: -1 }],
    [`'[1]'`, [1]],
    [`'"text"'`, 'text'],
  ],
  json: [[`'"${'x'.repeat(7_000)}"'`, 'x'.repeat(7_000)]],
  levels: [
    [`'["other", "low"]'`, ['other', 'low']],
    [`'["low", 1, null]'`, ['low']],
    [`'"low"'`, ['low']],
    [`'{"a": 1}'`, []],
  ],
  numbers: [
    [`'[1, "a", 1.5, 1e300, null, -1]'`, [1, -1]],
    [`'[1, 2, 3]'`, [1, 2, 3]],
    [`'"7"'`, []],
  ],
  days: [
    [`'["other", 7, null]'`, ['other']],
    [`'{}'`, []],
  ],
}

/** A null in JSON, which an edit in the database can store in any column of JSON. */
const NULLS = [
  ['any_fractions', undefined],
  ['any_json', undefined],
  ['any_levels', undefined],
  ['set_fractions', {}],
  ['set_json', {}],
  ['set_levels', []],
] as const

const UNORDERED = ['fractions', 'json', 'levels', 'numbers', 'days']

const releases: (() => Promise<void>)[] = []
const owner: Owner = { teardown: (release) => void releases.push(release) }
let service: TestService
/** Does not compare answers with the OpenAPI document, which describes valid resources. */
let client: Client

test.serial.before('three resources are valid, and the constraints of the table are gone', async (t) => {
  t.timeout(600_000)
  service = await serveDomain(owner, await makeDomain(owner, 'workshop'))
  client = service.withSubject('editor')
  const fields = ['any', 'set'].flatMap((prefix) =>
    Object.entries(VALID).map(([kind, value]) => [`${prefix}_${kind}`, value]),
  )
  for (const id of ['a', 'odd', 'z']) {
    t.is((await client.put(`/outliers/${id}`, { id, ...Object.fromEntries(fields) })).status, 201)
  }
  const { rows } = await service.database.pool.query(
    "SELECT conname FROM pg_constraint WHERE conrelid = 'outliers'::regclass AND conname ~ '_(any|set)_.*_check$'",
  )
  t.is(rows.length, 2 * (Object.keys(VALID).length - 1))
  for (const { conname } of rows)
    await service.database.pool.query(`ALTER TABLE outliers DROP CONSTRAINT ${conname}`)
})

test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

/** All that reads the row shows this value, and the other rows beside it. */
async function isServed(t: ExecutionContext, column: string, sql: string, shown: unknown): Promise<void> {
  const place = `${column} ${sql.slice(0, 40)}`
  await service.database.pool.query(`UPDATE outliers SET ${column} = ${sql} WHERE id = 'odd'`)
  const one = await client.get('/outliers/odd')
  t.is(one.status, 200, place)
  t.deepEqual(one.body[column], shown, place)
  const list = await client.get('/outliers?sort=id:asc')
  t.deepEqual(
    list.body._embedded.outliers.map((item: Json) => item.id),
    ['a', 'odd', 'z'],
    place,
  )
  t.deepEqual(list.body._embedded.outliers[1][column], shown, place)
  for (const type of ['text/csv', 'application/x-ndjson']) {
    t.is((await client.get('/outliers', { accept: type })).status, 200, place)
  }
  for (const path of ['/outliers/odd/versions', '/changes?limit=100']) {
    t.is((await client.get(path)).status, 200, `${place} ${path}`)
  }
  const name = column.replace(/_(\w)/, (_, letter: string) => letter.toUpperCase())
  const { data, errors } = await client.graphql(
    `{ outlierPage(sort: [{ field: ID }]) { items { id ${name} } } outlier(id: "odd") { ${name} } }`,
  )
  t.is(errors, undefined, place)
  t.is(data?.['outlierPage'].items.length, 3, place)
  t.deepEqual(data?.['outlierPage'].items[1][name] ?? undefined, shown, place)
  t.deepEqual(data?.['outlier'][name] ?? undefined, shown, place)
}

/** Following the links of a list of one item a page. */
async function pagesOf(sort: string): Promise<string[]> {
  const found: string[] = []
  let next = `/outliers?limit=1&sort=${sort}`
  while (next && found.length < 5) {
    const { status, body } = await client.get(next)
    if (status !== 200) return [...found, `status ${status}`]
    found.push(...body._embedded.outliers.map((item: Json) => item.id))
    next = body._links.next?.href
  }
  return found
}

for (const [kind, values] of Object.entries(OUTSIDE)) {
  test.serial(
    `a stored ${kind} outside of its definition harms one field, not its row or page`,
    async (t) => {
      for (const column of [`any_${kind}`, `set_${kind}`]) {
        for (const [sql, shown] of values) {
          await isServed(t, column, sql, shown)
          if (!UNORDERED.includes(kind)) {
            for (const direction of ['asc', 'desc']) {
              const found = await pagesOf(`${column}:${direction}`)
              t.deepEqual([...found].sort(), ['a', 'odd', 'z'], `${column} ${sql} ${direction}`)
            }
          }
          const other = await client.patch('/outliers/odd', { any_boolean: false })
          t.true([204, 400, 409].includes(other.status), `${column} ${sql}: ${other.status}`)
          t.is(
            (await client.patch('/outliers/odd', { [column]: VALID[kind], any_boolean: true })).status,
            204,
          )
        }
      }
    },
  )
}

test.serial('null in JSON is an unset field, or else an empty one', async (t) => {
  for (const [column, shown] of NULLS) {
    await isServed(t, column, `'null'`, shown)
    t.is((await client.patch('/outliers/odd', { [column]: VALID[column.slice(4)] })).status, 204)
  }
})
