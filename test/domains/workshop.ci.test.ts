import { randomBytes } from 'node:crypto'
import test from 'ava'
import { storedKeysStatement } from '../../src/database/sql/write.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import type { Owner } from '../helpers/database/database.ts'
import { makeDomain, serveDomain } from '../helpers/domain/made-domain.ts'
import { sqlNames } from '../helpers/domain/sql-names.ts'
import type { Json } from '../helpers/service/client.ts'
import type { TestService } from '../helpers/service/service.ts'
import { claimTranscript } from '../helpers/service/transcript.ts'

// The engine serves definitions that neither the built-in domain nor the library has.

const releases: (() => Promise<void>)[] = []
const owner: Owner = { teardown: (release) => void releases.push(release) }
let service: TestService
let glosses: Resource
let senses: Resource

test.serial.before('the workshop is made and served', async (t) => {
  t.timeout(600_000)
  const names = [...new Set([...(await sqlNames()), ...FORMER])].filter((name) => !RESERVED.includes(name))
  const written = { 'names.ts': `export const names: readonly string[] = ${JSON.stringify(names)}\n` }
  const made = await makeDomain(owner, 'workshop', written)
  const named = (path: string) => made.domain.resources.find((resource) => resource.path === path) as Resource
  glosses = named('glosses')
  senses = named('senses')
  service = await serveDomain(owner, made)
})

/** Names that statements had. */
const FORMER = ['total_count', 'last_key']

/** Names of fields that every resource has, and of PostgreSQL's system columns. */
const RESERVED = ['id', 'version', 'changed_by', 'created_date', 'last_updated', 'ctid', 'and', 'or', 'not']

test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

test.serial('each request of workshop.txt gets the response that is written there', async (t) => {
  await claimTranscript(t, service, 'test/domains/workshop.txt')
})

/** Numbers that double precision changes. */
const INEXACT = [
  '1e400',
  '-1e400',
  '1e-400',
  '12345678901234567890',
  '-9007199254740993',
  '9007199254740993.0',
  '0.1000000000000000055511151231257828',
  '0.30000000000000001',
  '2e-324',
  `1${'0'.repeat(30)}1`,
  `0.${'0'.repeat(400)}1`,
]

/** Each is the number that it writes, in more or fewer characters. */
const EXACT = [
  '0',
  '-0.0',
  '1.50',
  '0e99',
  '1E2',
  '0.10000000000000001',
  '0.1000000000000000055511151231257827',
  '2.2250738585072014e-308',
  '1.6043694729471257e-25',
  '4.9e-324',
  '9007199254740992',
  '1.7976931348623157e308',
  '-1.7976931348623157E+308',
  '123456789012345680000',
  `1${'0'.repeat(308)}`,
  `${'0.'.padEnd(300, '0')}1`,
]

/** Fields whose value, or a part of it, is a number; `N` stands for it. */
const FIELDS = {
  length: 'N',
  samples: '[1,N]',
  shares: '{"gas":N}',
  price: 'N',
  remarks: 'N',
  'remarks, inside': '{"a":[true,{"b":[0.5,N]}]}',
}

test.serial(
  'a number that would be stored as another one is refused, in any field and at any depth',
  async (t) => {
    const { writer } = service
    await writer.put('/measurements/one', { id: 'one', remarks: { kept: 1 } })
    const before = await writer.get('/measurements/one')
    for (const [name, text] of Object.entries(FIELDS)) {
      const field = name.split(',')[0] as string
      for (const number of INEXACT) {
        const value = text.replace('N', number)
        const body = `{"${field}":${value}}`
        const message = `${name}: ${number.slice(0, 50)}`
        const batch = `{"operations":[{"method":"PATCH","path":"/measurements/one","body":${body}}]}`
        for (const { status, body: sent } of [
          await writer.post('/measurements', body),
          await writer.put('/measurements/one', body),
          await writer.patch('/measurements/one', body),
          await writer.post('/batch', batch),
        ]) {
          t.deepEqual([status, sent.error?.code], [400, 'VALIDATION_FAILED'], message)
          t.regex(sent.error.details[0].field, new RegExp(`\\b${field}$`), message)
        }
        const variables = `{"query":"mutation ($patch: MeasurementPatch!) { patchMeasurement(id: \\"one\\", patch: $patch) { outcome } }","variables":{"patch":${body}}}`
        const literal = `mutation { patchMeasurement(id: "one", patch: { ${field}: ${value.replaceAll(/"(\w+)":/g, '$1:')} }) { outcome } }`
        for (const sent of [variables, JSON.stringify({ query: literal })]) {
          const { body: result } = await writer.post(new URL('/graphql', service.origin).href, sent)
          t.is(
            result.errors?.[0].extensions.code,
            'VALIDATION_FAILED',
            `${message} ${JSON.stringify(result)}`,
          )
        }
      }
    }
    t.is((await writer.get('/measurements/one')).headers.get('etag'), before.headers.get('etag'))
  },
)

test.serial(
  'the database refuses JSON with numbers beyond double precision, whoever writes them',
  async (t) => {
    const { pool } = service.database
    for (const json of ['1e309', '{"a": [true, {"b": -1e400}]}']) {
      const error = await t.throwsAsync(pool.query('UPDATE measurements SET remarks = $1', [json]))
      t.is((error as { code?: string }).code, '23514', json)
    }
  },
)

test.serial('a number that double precision keeps is stored exactly', async (t) => {
  const { writer } = service
  for (const [name, text] of Object.entries(FIELDS)) {
    const field = name.split(',')[0] as string
    for (const number of EXACT) {
      if (field === 'price' || (field === 'shares' && number.startsWith('-1'))) continue
      const value = text.replace('N', number)
      for (const method of ['PUT', 'PATCH']) {
        const { status, text: problem } = await writer.request(
          method,
          '/measurements/one',
          `{"${field}":${value}}`,
        )
        t.is(status, 204, `${name} ${number}: ${problem}`)
        const stored = (await writer.get('/measurements/one')).body[field]
        t.deepEqual(stored, JSON.parse(value.replace('-0.0', '0')), `${name} ${number}`)
      }
    }
  }
})

test.serial('a search in a collection without texts finds nothing', async (t) => {
  const { writer } = service
  await writer.put('/measurements/one', { id: 'one', length: 1 })
  const { status, body } = await writer.get('/measurements?q=one')
  t.deepEqual([status, body.total_count], [200, 0])
})

/** A body with a value in every field, which differs from that of other numbers. */
function bodyOf({ writable }: Resource, number: number): Json {
  const values = {
    text: `text ${number}`,
    integer: number,
    timestamp: `203${number}-01-01T00:00:00.000Z`,
    json: [number],
  }
  return Object.fromEntries(
    writable.map(({ name, field }) => [name, values[field.type as keyof typeof values]]),
  )
}

function inParts<One>(all: readonly One[], size = 10): One[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  )
}

test.serial(
  'a field can have any name that the SQL of the engine uses: it is written, listed and kept',
  async (t) => {
    t.timeout(600_000)
    const { writer, database } = service
    const { pool } = database
    t.true(glosses.writable.length > 300)
    for (const [resource, path] of [
      [glosses, '/glosses'],
      [senses, '/glosses/a/senses'],
    ] as const) {
      const [first, second, third] = [1, 2, 3].map((number) => bodyOf(resource, number))
      const created = await writer.put(`${path}/a`, { id: 'a', ...first })
      t.is(created.status, 201, created.text)
      const { id, _links, created_date, last_updated, gloss_id, ...values } = created.body
      t.deepEqual(values, first)
      t.is((await writer.put(`${path}/a`, second)).status, 204)
      t.is((await writer.patch(`${path}/a`, third)).status, 204)
      const key = { 'Idempotency-Key': `key-of-${resource.path}` }
      const posted = await writer.post(path, first, key)
      t.is(posted.status, 201, posted.text)
      t.deepEqual((await writer.post(path, first, key)).body, posted.body)
      const operations = ['b', 'c'].map((name) => ({
        method: 'PUT',
        path: `${path}/${name}`,
        body: { id: name, ...second },
      }))
      const batch = await writer.post('/batch', { operations })
      t.is(batch.status, 200, batch.text)

      const sortable = resource.writable.filter(({ field }) => field.type !== 'json')
      for (const leaves of inParts(sortable)) {
        const sort = [...leaves.map(({ name }) => `${name}:desc`), 'id:asc'].join()
        const filters = leaves
          .map(({ name }) => `&filter=${name}:${encodeURIComponent(second[name])}`)
          .join('')
        const list = await writer.get(`${path}?fields=id&sort=${sort}&limit=2`)
        t.is(list.body.total_count, 4, `${sort} ${list.text}`)
        t.deepEqual(idsOf(list.body), ['a', 'b'], sort)
        const next = await writer.get(list.body._links.next.href)
        t.deepEqual(idsOf(next.body), ['c', posted.body.id], sort)
        const found = await writer.get(`${path}?fields=id&limit=1&page=2&sort=${sort}${filters}`)
        t.deepEqual([found.body.total_count, idsOf(found.body)], [2, ['c']], `${sort} ${found.text}`)
      }
      const versions = await writer.get(`${path}/a/versions`)
      t.deepEqual(
        versions.body._embedded.versions.map(({ resource: state }: Json) => state?.days ?? null),
        [third.days, second.days, first.days],
        versions.text,
      )
    }
    const sorted = senses.writable.filter(({ field }) => field.type !== 'json')
    for (const leaves of inParts(sorted)) {
      const sort = leaves.map(({ name }) => `{ field: ${name.toUpperCase()}, direction: DESC }`).join()
      const query = `{ glossPage { items { id senses(limit: 1, sort: [${sort}]) { totalCount items { id } } } } }`
      const { data, text } = await writer.graphql(query)
      const own = data.glossPage.items.find(({ id }: Json) => id === 'a')
      t.deepEqual(own.senses, { totalCount: 4, items: [{ id: 'a' }] }, text)
    }
    const texts = glosses.writable.filter(({ field }) => field.type === 'text').map(({ name }) => name)
    for (const names of inParts(texts)) {
      const query = `{ glossAggregate(groupBy: [${names.join().toUpperCase()}]) { groups { count } } }`
      const { data, text } = await writer.graphql(query)
      t.deepEqual(data.glossAggregate.groups, [{ count: 2 }, { count: 1 }, { count: 1 }], text)
    }

    const before = await writer.get('/glosses/a/senses/b')
    t.is((await writer.delete('/glosses/a/senses/b')).status, 204)
    t.is((await writer.get('/glosses/a/senses/b')).status, 410)
    t.is((await writer.put('/glosses/a/senses/b', { id: 'b', ...bodyOf(senses, 2) })).status, 201)
    const stale = await writer.patch(
      '/glosses/a/senses/b',
      { days: null },
      { 'If-Match': before.headers.get('etag') ?? '' },
    )
    t.is(stale.status, 409)
    await pool.query(
      "INSERT INTO senses (gloss_id, id) SELECT 'a', 'many-' || n FROM generate_series(1, 1001) AS n",
    )
    t.is((await writer.delete('/glosses/a')).status, 204)
    for (const gone of ['/glosses/a', '/glosses/a/senses/b', '/glosses/a/senses/many-7'])
      t.is((await writer.get(gone)).status, 410, gone)
    t.is((await writer.get('/glosses')).body.total_count, 3)
    const { rows } = await pool.query(`SELECT collection, event, count(*)::int FROM recorded_changes
    GROUP BY 1, 2 HAVING event = 'deleted' ORDER BY 1`)
    t.deepEqual(rows, [
      { collection: 'glosses', event: 'deleted', count: 1 },
      // Of workshop.txt.
      { collection: 'reminders', event: 'deleted', count: 2 },
      { collection: 'replies', event: 'deleted', count: 1 },
      { collection: 'senses', event: 'deleted', count: 3 },
    ])
    const feed = await writer.get('/changes?collection=glosses&limit=100')
    const rest = await writer.get(feed.body._links.next.href)
    t.is(feed.body._embedded.changes.length + rest.body._embedded.changes.length, 7)
  },
)

test.serial('the end of a list and its keys are found, whatever the fields are called', async (t) => {
  const { writer, reader, database } = service
  for (const [resource, path] of [
    [glosses, '/glosses'],
    [senses, '/glosses/end-1/senses'],
  ] as const) {
    const ids = [1, 2, 3].map((number) => `end-${number}`)
    for (const [index, id] of ids.entries())
      t.is((await writer.put(`${path}/${id}`, { id, ...bodyOf(resource, index + 1) })).status, 201)
    const parent = resource === senses ? 'end-1' : ''
    const keys = [...ids, 'end-4'].map((id) => `${parent}/${id}`)
    const stored = await database.client.$rows<{ key: string }>(storedKeysStatement(resource, keys))
    t.deepEqual(stored.map(({ key }) => key).sort(), keys.slice(0, 3))

    const list = `${path}?limit=1&sort=id:asc`
    const { total_count: count } = (await reader.get(list)).body
    const last = await reader.get(`${list}&page=${count}`)
    t.deepEqual(idsOf(last.body), ['end-3'])
    t.is((await writer.delete(`${path}/end-3`)).status, 204)
    const { body } = await reader.get(last.body._links.prev.href)
    t.deepEqual([idsOf(body), body.has_more, body.total_count], [['end-2'], false, count - 1])
  }
})

test.serial('what a deletion would also delete is deleted only if its own rules permit that', async (t) => {
  const { writer, reader, database } = service
  const post = async (path: string, body: object): Promise<string> => {
    const { status, body: created, text } = await writer.post(path, body)
    t.is(status, 201, text)
    return created.id
  }
  const refusalOf = async (path: string) => {
    const refused = [
      await writer.delete(path),
      await writer.delete(path, { 'If-Match': (await reader.get(path)).headers.get('etag') ?? '' }),
      await writer.post('/batch', { operations: [{ method: 'DELETE', path }] }),
    ]
    const [, name = '', id] = path.split('/')
    const type = name === 'invoices' ? 'Invoice' : 'Reminder'
    const { errors } = await writer.graphql(`mutation { delete${type}(id: "${id}") { outcome } }`)
    t.is((await reader.get(path)).status, 200)
    const codes = [...refused.map(({ body }) => body?.error), errors?.[0].extensions]
    return [...new Set(codes.map((error) => `${error?.code} ${error?.details[0].code}`))]
  }
  const deletes = async (path: string) => t.is((await writer.delete(path)).status, 204, path)

  const sent = await post('/invoices', { status: 'sent' })
  await deletes(`/invoices/${sent}`)
  const invoice = await post('/invoices', { status: 'sent' })
  const line = await post(`/invoices/${invoice}/lines`, { amount: 1 })
  t.is((await writer.delete(`/invoices/${invoice}/lines/${line}`)).status, 422)
  t.deepEqual(await refusalOf(`/invoices/${invoice}`), ['BUSINESS_RULE_VIOLATION INVOICE_SENT'])
  await writer.patch(`/invoices/${invoice}`, { status: 'draft' })

  // Through two references and an owner.
  const first = await post('/reminders', { invoice_id: invoice })
  const second = await post('/reminders', { former_id: first })
  const reply = await post(`/reminders/${second}/replies`, { locked: true })
  await post(`/reminders/${first}/replies`, {})
  for (const path of [`/reminders/${second}`, `/reminders/${first}`, `/invoices/${invoice}`])
    t.deepEqual(await refusalOf(path), ['DEPENDENCY_CONFLICT RESOURCE_IN_USE'], path)
  t.is((await reader.get(`/invoices/${invoice}/lines/${line}`)).status, 200)
  await writer.patch(`/reminders/${second}/replies/${reply}`, { locked: false })
  // A reminder can follow itself, and two each other.
  await writer.patch(`/reminders/${first}`, { former_id: second })
  await writer.patch(`/reminders/${second}`, { invoice_id: invoice })
  await deletes(`/invoices/${invoice}`)
  for (const path of [`/reminders/${first}`, `/reminders/${second}`, `/reminders/${second}/replies/${reply}`])
    t.is((await reader.get(path)).status, 410, path)

  const large = await post('/invoices', {})
  const insert = (amount: number) =>
    database.pool.query(
      `INSERT INTO lines (invoice_id, id) SELECT '${large}', 'line-' || n FROM generate_series(1, ${amount}) AS n`,
    )
  await insert(10_001)
  t.deepEqual(await refusalOf(`/invoices/${large}`), ['DEPENDENCY_CONFLICT RESOURCE_IN_USE'])
  const refused = await writer.delete(`/invoices/${large}`)
  t.is(
    refused.body.error.message,
    'It cannot be deleted together with more than 10000 resources that have rules. Delete some of its lines first.',
  )
  t.is((await writer.delete(`/invoices/${large}/lines/line-1`)).status, 204)
  await database.pool.query("DELETE FROM lines WHERE id > 'line-2'")
  await deletes(`/invoices/${large}`)
})

test.serial(
  'a text that does not fit into an entry of its index is refused, by each way to write',
  async (t) => {
    const { writer } = service
    const note = randomBytes(4_500).toString('base64')
    const { body: invoice, status } = await writer.post('/invoices', { note: 'A'.repeat(6_000) })
    t.is(status, 201)
    const path = `/invoices/${invoice.id}`
    const refused = [
      await writer.post('/invoices', { note }),
      await writer.put(path, { note }),
      await writer.patch(path, { note }),
      await writer.post('/batch', { operations: [{ method: 'POST', path: '/invoices', body: { note } }] }),
    ]
    for (const { status, body } of refused) {
      t.deepEqual(
        [status, body.error.code, body.error.details[0].code],
        [400, 'VALIDATION_FAILED', 'TOO_LONG'],
      )
      t.regex(body.error.details[0].field, /note$/)
    }
    const { errors } = await writer.graphql(
      `mutation { createInvoice(input: { note: "${note}" }) { outcome } }`,
    )
    t.is(errors?.[0].extensions.code, 'VALIDATION_FAILED')
  },
)

function idsOf(list: Json): string[] {
  return (Object.values(list._embedded)[0] as Json[]).map(({ id }) => id)
}
