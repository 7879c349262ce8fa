import test from 'ava'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { resources } from '../helpers/domain/domain.ts'
import { collectionPath, Fixtures } from '../helpers/domain/fixtures.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import { shareTestService, startTestService, type TestService } from '../helpers/service/service.ts'

// Two sessions that wait for each other take a server.
const server = findServer((reason) => console.log(`batches on PostgreSQL: ${reason}`))

const service = shareTestService(test)

const batch = (operations: unknown, headers = {}) => service().writer.post('/batch', { operations }, headers)

const put = (path: string, body: object, headers?: object) => ({
  method: 'PUT',
  path,
  body,
  ...(headers && { headers }),
})
const planet = (id: string, more = {}) => put(`/planets/${id}`, { id, name: id, ...more })

const errorOf = ({ status, body: { error } }: Answer) => [status, error.code, error.details[0]?.field]

test('a batch answers each operation as the request alone would be answered', async (t) => {
  const { reader, writer, base } = service()
  const { status, body, headers } = await batch([
    planet('lumen'),
    put('/species/lumen-bat', { id: 'lumen-bat', scientific_name: 'Lumen bat', planet_origin: 'lumen' }),
    { method: 'POST', path: '/planets/lumen/moons', body: { name: 'Ember' } },
    {
      method: 'PATCH',
      path: '/planets/lumen',
      body: { host_star: 'Sol' },
      headers: { 'If-Match': '"lumen:1"' },
    },
    put('/planets/lumen/atmosphere', { dominant_gas: 'argon' }, { Prefer: 'return=minimal' }),
    { method: 'PATCH', path: '/planets/lumen', body: {}, headers: { prefer: 'return=representation' } },
    { method: 'DELETE', path: '/species/never-was' },
  ])
  t.is(status, 200, JSON.stringify(body))
  t.is(headers.get('content-type'), 'application/json; charset=utf-8')
  const { results } = body
  t.deepEqual(
    results.map((result: Answer) => result.status),
    [201, 201, 201, 204, 201, 200, 204],
  )
  t.deepEqual(
    results.map(({ body }: Answer) => body === undefined),
    [false, false, false, true, true, false, true],
  )
  t.is(results[1].headers.Location, `${base}/species/lumen-bat`)
  const shown = await reader.get(results[1].headers.Location)
  t.is(shown.body._links.planet.href, `${base}/planets/lumen`)
  t.is(shown.headers.get('etag'), results[1].headers.ETag)
  t.is(shown.headers.get('last-modified'), results[1].headers['Last-Modified'])
  t.is(results[3].headers.ETag, '"lumen:2"')
  t.is(results[4].headers['Preference-Applied'], 'return=minimal')
  const read = await reader.get('/planets/lumen')
  t.deepEqual([results[5].body, results[5].headers.ETag], [read.body, '"lumen:2"'])
  const alone = await writer.post('/planets/lumen/moons', { name: 'Ash' })
  const [{ body: moon }] = (
    await batch([{ method: 'POST', path: '/planets/lumen/moons', body: { name: 'Coal' } }])
  ).body.results
  t.deepEqual(Object.keys(moon), Object.keys(alone.body))
  t.deepEqual(Object.keys(moon._links), Object.keys(alone.body._links))
})

const refused: [title: string, operation: unknown, status: number, code: string, field?: string][] = [
  ['a body that is not valid', planet('x', { habitable: 'yes' }), 400, 'VALIDATION_FAILED', '.habitable'],
  ['a name that another has', planet('x', { name: 'FIRST' }), 409, 'RESOURCE_ALREADY_EXISTS', '.name'],
  ['an absent resource', { method: 'PATCH', path: '/planets/no', body: {} }, 404, 'RESOURCE_NOT_FOUND'],
  ['an unknown path', { method: 'POST', path: '/nothing', body: {} }, 400, 'VALIDATION_FAILED', '.path'],
]

for (const [title, operation, status, code, field] of refused) {
  test(`${title} is refused by its place in the batch, and nothing is written`, async (t) => {
    const answer = await batch([planet('first'), planet('second'), operation, planet('third')])
    t.deepEqual(
      errorOf(answer),
      [status, code, field === undefined ? undefined : `operations[2]${field}`],
      answer.text,
    )
    t.regex(answer.body.error.message, /^operations\[2\]: /)
    for (const id of ['first', 'second', 'third'])
      t.is((await service().reader.get(`/planets/${id}`)).status, 404)
  })
}

test('a batch has up to 100 operations, and is not longer than other bodies', async (t) => {
  const operations = Array.from({ length: 100 }, (_, index) => planet(`of-many-${index}`))
  const whole = await batch(operations)
  t.deepEqual([whole.status, whole.body.results.length], [200, 100])
  const long = [planet('long', { host_star: 'x'.repeat(1024 * 1024) })]
  t.is((await batch(long)).status, 413)
  t.is((await service().writer.post('/batch', '{')).status, 400)
})

for (const resource of resources.filter(({ listed }) => listed)) {
  test(`${resource.path}: what a batch creates is what each POST would create`, async (t) => {
    const { reader, writer } = service()
    const fixtures = new Fixtures(writer)
    const parentId = await fixtures.parent(resource)
    const path = collectionPath(resource, parentId)
    const bodies = [
      await fixtures.body(resource),
      await fixtures.minimalBody(resource),
      await fixtures.body(resource),
    ]
    const { body } = await batch(bodies.map((sent) => ({ method: 'POST', path, body: sent })))
    const alone = await writer.post(path, await fixtures.body(resource))
    t.deepEqual(Object.keys(body.results[0].body), Object.keys(alone.body))
    for (const [index, { status, headers, body: created }] of body.results.entries()) {
      t.is(status, 201)
      t.like(created, bodies[index] as object)
      const { body: read, headers: found } = await reader.get(headers.Location)
      t.deepEqual({ ...read, _links: 0 }, { ...created, _links: 0 })
      t.is(found.get('etag'), headers.ETag)
    }
  })
}

test('creations that follow each other take one statement', async (t) => {
  const { writer } = await startTestService(t, { serverTiming: true })
  const statements = async (operations: readonly object[]) => {
    const { status, headers, text } = await writer.post('/batch', { operations })
    t.is(status, 200, text)
    return Number(/(\d+) statements?"/.exec(headers.get('server-timing') ?? '')?.[1])
  }
  const posts = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => ({
      method: 'POST',
      path: '/planets',
      body: { name: `${prefix} ${index}` },
    }))
  const two = await statements(posts(2, 'Two'))
  t.is(await statements(posts(60, 'Sixty')), two)
  const puts = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => planet(`${prefix}-${index}`))
  t.is(await statements(puts(60, 'sixty')), await statements(puts(2, 'two')))
  // One that replaces a resource follows them.
  const replacing = (count: number, prefix: string) =>
    statements([...puts(count, prefix), planet('two-0', { host_star: prefix })])
  t.is(await replacing(60, 'more'), await replacing(2, 'few'))
})

test('no operation runs after one that has failed', async (t) => {
  const { writer } = await startTestService(t, { serverTiming: true })
  const absent = { method: 'PATCH', path: '/planets/none', body: {} }
  const statements = async (operations: readonly object[]) => {
    const { status, headers } = await writer.post('/batch', { operations })
    t.is(status, 404)
    return Number(/(\d+) statements?"/.exec(headers.get('server-timing') ?? '')?.[1])
  }
  const deletions = Array.from({ length: 20 }, (_, index) => ({
    method: 'DELETE',
    path: `/planets/${index}`,
  }))
  t.is(await statements([absent, ...deletions]), await statements([absent, absent]))
})

test('operations on what the batch itself creates are in order', async (t) => {
  const { reader } = service()
  const { body } = await batch([
    planet('ordered', { host_star: 'first' }),
    planet('ordered', { host_star: 'second' }),
    planet('other-ordered'),
    { method: 'DELETE', path: '/planets/other-ordered' },
    planet('other-ordered'),
    planet('third-ordered'),
  ])
  const found = body.results.map(({ status, headers }: Answer & { headers: Json }) => [status, headers.ETag])
  t.deepEqual(found, [
    [201, '"ordered:1"'],
    [204, '"ordered:2"'],
    [201, '"other-ordered:1"'],
    [204, undefined],
    [201, '"other-ordered:2"'],
    [201, '"third-ordered:1"'],
  ])
  t.is((await reader.get('/planets/ordered')).body.host_star, 'second')
})

test('a creation waits for the changes before it, and takes a name that they have left', async (t) => {
  const named = (id: string, name: string) => planet(id, { name })
  t.is((await batch([named('renamed', 'Old name')])).status, 200)
  const { status, body } = await batch([
    named('unrelated', 'Unrelated'),
    named('renamed', 'Passing name'),
    named('renamed', 'New name'),
    named('heir', 'Passing name'),
  ])
  t.is(status, 200, JSON.stringify(body))
  const refused = await batch([
    named('further', 'Further'),
    named('renamed', 'Wanted name'),
    named('latecomer', 'Wanted name'),
  ])
  t.deepEqual(errorOf(refused), [409, 'RESOURCE_ALREADY_EXISTS', 'operations[2].name'])
})

test('a batch can be tried without writing', async (t) => {
  const { status, body, headers } = await batch([planet('tried'), planet('tried-too')], {
    Prefer: 'tx=rollback',
  })
  t.deepEqual([status, headers.get('preference-applied')], [200, 'tx=rollback'])
  t.deepEqual(
    body.results.map((result: Answer) => result.status),
    [201, 201],
  )
  t.is((await service().reader.get('/planets/tried')).status, 404)
})

test('the preferences of a batch are those of the operations without their own', async (t) => {
  const own = planet('preferred-whole', {})
  const { status, body } = await batch(
    [planet('preferred'), { ...own, headers: { Prefer: 'return=representation' } }],
    { Prefer: 'return=minimal' },
  )
  t.is(status, 200)
  t.deepEqual(
    body.results.map(({ headers, body: shown }: Json) => [headers['Preference-Applied'], shown?.name]),
    [
      ['return=minimal', undefined],
      ['return=representation', 'preferred-whole'],
    ],
  )
})

test('a batch with an idempotency key creates once', async (t) => {
  const { reader } = service()
  const operations = ['Keyed one', 'Keyed two'].map((name) => ({
    method: 'POST',
    path: '/planets',
    body: { name },
  }))
  const headers = { 'Idempotency-Key': '"of-a-batch"' }
  const first = await batch(operations, headers)
  t.is(first.status, 200)
  t.deepEqual((await batch(operations, headers)).body, first.body)
  const [one, other] = operations
  const changed = await batch([one, { ...other, body: { name: 'Keyed three' } }], headers)
  t.deepEqual(errorOf(changed), [422, 'BUSINESS_RULE_VIOLATION', 'operations[1].idempotency_key'])
  t.is((await reader.get('/planets?filter=name[prefix]:Keyed')).body.total_count, 2)
  const own = {
    method: 'POST',
    path: '/planets',
    body: { name: 'Own key' },
    headers: { 'Idempotency-Key': 'own' },
  }
  t.deepEqual((await batch([own])).body, (await batch([own])).body)
  t.deepEqual(errorOf(await batch([one], { 'Idempotency-Key': '' })), [
    400,
    'VALIDATION_FAILED',
    'operations[0].idempotency_key',
  ])
})

test('a batch is in the format that the client accepts, its errors too', async (t) => {
  const forms = await batch([planet('formed')], { accept: 'application/prs.hal-forms+json' })
  t.is(forms.headers.get('content-type'), 'application/prs.hal-forms+json')
  t.truthy(forms.body.results[0].body._templates.default)
  t.is(
    forms.body.results[0].headers.ETag,
    (await service().writer.get('/planets/formed', { accept: 'application/prs.hal-forms+json' })).headers.get(
      'etag',
    ),
  )
  const problem = await batch([{}], { accept: 'application/problem+json, application/json' })
  t.deepEqual([problem.status, problem.body.errors[0].field], [400, 'operations[0].method'])
})

const onServer = server ? test : test.skip

onServer('on PostgreSQL, batches that write in opposite orders all succeed', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const { reader, writer, database } = await startTestService(t, { databaseUrl })
  const ids = Array.from({ length: 8 }, (_, index) => `raced-${index}`)
  const rename = (star: string) => (id: string, index: number) =>
    index % 2
      ? { method: 'PATCH', path: `/planets/${id}`, body: { host_star: star } }
      : planet(id, { host_star: star })
  t.is((await writer.post('/batch', { operations: ids.map((id) => planet(id)) })).status, 200)
  // What two of them own, of which one is a singleton.
  const owned = (star: string) => [
    put('/planets/raced-0/atmosphere', { dominant_gas: star }),
    put('/planets/raced-0/moons/one', { id: 'one', name: star }),
    put('/planets/raced-1/moons/one', { id: 'one', name: star }),
    put('/planets/raced-1/atmosphere', { dominant_gas: star }),
  ]
  t.is((await writer.post('/batch', { operations: owned('first') })).status, 200)
  // One waits for the other. With many or long ones, the last would be told 503 at its deadline on a busy machine.
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => {
      const operations = [...ids.map(rename(`star ${index}`)), ...owned(`star ${index}`)]
      return writer.post('/batch', { operations: index % 2 ? operations : operations.toReversed() })
    }),
  )
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  const { body } = await reader.get('/planets?limit=20')
  t.is(new Set(body._embedded.planets.map((one: Json) => one.host_star)).size, 1, 'all are of one batch')
  t.is(await deadlocksOf(database), 0)
})

onServer(
  'on PostgreSQL, batches that take the same names in opposite orders succeed or are a conflict',
  async (t) => {
    const databaseUrl = await createDatabaseOn(server as string, t)
    const { reader, writer } = await startTestService(t, { databaseUrl })
    const names = ['Contested', 'Disputed', 'Claimed']
    const create = (name: string) => ({ method: 'POST', path: '/planets', body: { name } })
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        writer.post('/batch', { operations: (index % 2 ? names : names.toReversed()).map(create) }),
      ),
    )
    t.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)])
    t.is((await reader.get('/planets')).body.total_count, 3)
  },
)

async function deadlocksOf({ client }: TestService['database']): Promise<number> {
  const [counted] = await client.prisma.$queryRaw<{ deadlocks: bigint }[]>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
  return Number(counted?.deadlocks)
}
