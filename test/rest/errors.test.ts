import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { PROBLEM } from '../../src/http/errors.ts'
import { type ErrorCode, STATUS } from '../../src/model/errors.ts'
import { flood } from '../helpers/load/flood.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)
let made = 0

async function species(body: object = {}): Promise<Json> {
  const answer = await service().writer.post('/species', { scientific_name: `Erronea ${++made}`, ...body })
  return { ...answer.body, at: `/species/${answer.body.id}`, tag: answer.headers.get('etag') }
}

/** The answer to bytes that no HTTP client would send. */
async function raw(text: string): Promise<Answer> {
  const socket = connect(Number(new URL(service().origin).port), '127.0.0.1')
  socket.end(text)
  let answer = ''
  socket.setEncoding('utf8').on('data', (data) => {
    answer += data
  })
  await once(socket, 'close')
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), headers: new Headers(), text: body, body: JSON.parse(body) }
}

/** A request for each code that is answered with it, in a media type. */
const provocations: Partial<Record<ErrorCode, (type: string, t: ExecutionContext) => Promise<Answer>>> = {
  MALFORMED_REQUEST: () => raw('GET / HTTP/9.9 nonsense\r\n\r\n'),
  MALFORMED_JSON: (type) => service().writer.accepting(type).post('/species', '{"scientific_name": '),
  VALIDATION_FAILED: (type) =>
    service().writer.accepting(type).post('/species', { scientific_name: 1, no: 2 }),
  INVALID_QUERY_PARAMETER: (type) => service().reader.accepting(type).get('/species?page=0'),
  AUTHENTICATION_REQUIRED: (type) => service().anonymous.accepting(type).get('/species'),
  ACCESS_DENIED: (type) => service().withScope('planets:read').accepting(type).get('/species'),
  RESOURCE_NOT_FOUND: (type) => service().reader.accepting(type).get('/species/never-was'),
  METHOD_NOT_ALLOWED: (type) => service().writer.accepting(type).delete('/species'),
  NOT_ACCEPTABLE: (type) =>
    service()
      .reader.accepting(type.includes(PROBLEM) ? PROBLEM : 'image/png')
      .get('/species'),
  CONCURRENT_MODIFICATION: async (type) => {
    const { at, tag } = await species()
    await service().writer.patch(at, { habitat: 'elsewhere' })
    return service().writer.accepting(type).patch(at, { habitat: 'nowhere' }, { 'If-Match': tag })
  },
  RESOURCE_ALREADY_EXISTS: async (type) => {
    const { scientific_name } = await species()
    return service().writer.accepting(type).post('/species', { scientific_name })
  },
  DEPENDENCY_CONFLICT: async (type) => {
    const { _links: links } = await species({ planet_origin: 'Depended on' })
    return service().writer.accepting(type).delete(links.planet.href)
  },
  RESOURCE_GONE: async (type) => {
    const { at } = await species()
    await service().writer.delete(at)
    return service().reader.accepting(type).get(at)
  },
  PRECONDITION_FAILED: async (type) => {
    const { at, id, scientific_name } = await species()
    return service().writer.accepting(type).put(at, { id, scientific_name }, { 'If-None-Match': '*' })
  },
  PAYLOAD_TOO_LARGE: (type) =>
    service()
      .writer.accepting(type)
      .post('/species', ' '.repeat(1024 * 1024 + 1)),
  UNSUPPORTED_MEDIA_TYPE: (type) =>
    service().writer.accepting(type).post('/species', 'a: 1', { 'content-type': 'text/yaml' }),
  BUSINESS_RULE_VIOLATION: (type) =>
    service()
      .writer.accepting(type)
      .post('/species', {
        scientific_name: 'Frigida',
        temperature_range: { min_celsius: -300 },
      }),
  HEADERS_TOO_LARGE: () => service().reader.get('/species', { 'x-large': 'x'.repeat(80_000) }),
  TOO_MANY_REQUESTS: async (type, t) => {
    const { reader } = await startTestService(t, { rateLimit: 1 })
    await reader.get('/species')
    return reader.accepting(type).get('/species')
  },
  INTERNAL_ERROR: async (type, t) => {
    const { reader, database, faults } = await startTestService(t)
    await database.client.prisma.$executeRaw`ALTER TABLE species RENAME TO elsewhere`
    const answer = await reader.accepting(type).get('/species/any')
    t.is(faults.splice(0).length, 1)
    return answer
  },
  SERVICE_UNAVAILABLE: async (type, t) => {
    const { reader, database } = await startTestService(t, { loadCapacity: 1, callerShare: 1 })
    const answers = await flood(database, 10, () => reader.accepting(type).get('/species'))
    return answers.find(({ status }) => status !== 200) as Answer
  },
}

/** A header that belongs to the answer. */
const HEADERS: Readonly<Record<string, string>> = {
  AUTHENTICATION_REQUIRED: 'www-authenticate',
  ACCESS_DENIED: 'www-authenticate',
  METHOD_NOT_ALLOWED: 'allow',
  CONCURRENT_MODIFICATION: 'etag',
  TOO_MANY_REQUESTS: 'retry-after',
  SERVICE_UNAVAILABLE: 'retry-after',
}

for (const [code, provoke] of Object.entries(provocations)) {
  test(`SPEC §2.4, §7: ${code} is answered with its status, in the error envelope`, async (t) => {
    const { status, body, headers } = await provoke('application/json', t)
    t.is(status, STATUS[code as ErrorCode])
    t.deepEqual(Object.keys(body), ['error'])
    t.deepEqual(Object.keys(body.error), ['code', 'message', 'details'])
    t.is(body.error.code, code)
    t.regex(body.error.message, /\S{2,}.*\S/)
    for (const detail of body.error.details) {
      t.deepEqual(Object.keys(detail), ['field', 'code', 'message'])
      for (const value of Object.values(detail)) t.is(typeof value, 'string')
    }
    const header = HEADERS[code]
    if (header) t.true(headers.has(header), header)
    t.notRegex(JSON.stringify(body), /prisma|postgres|node_modules|\.ts\b|stack/i)
  })
}

test('every code is provoked here, except for a slow client', (t) => {
  t.deepEqual(
    Object.keys(STATUS).filter((code) => !(code in provocations)),
    ['REQUEST_TIMEOUT'],
  )
})

/** Node sends these before there is a request whose Accept could be read. */
const UNREAD = ['MALFORMED_REQUEST', 'HEADERS_TOO_LARGE']

for (const [code, provoke] of Object.entries(provocations).filter(([code]) => !UNREAD.includes(code))) {
  test(`RFC 9457: ${code} is a problem document for a client whose Accept names that type`, async (t) => {
    const { status, body, headers } = await provoke(`${PROBLEM}, application/json`, t)
    t.is(status, STATUS[code as ErrorCode])
    t.is(headers.get('content-type'), PROBLEM)
    t.regex(headers.get('vary') ?? '', /(?:^|, )Accept(?:,|$)/)
    t.deepEqual(Object.keys(body), ['type', 'title', 'status', 'detail', 'instance', 'errors'])
    t.is(body.status, status)
    t.is(body.title.toUpperCase().replaceAll(' ', '_'), code)
    t.regex(body.detail, /\S{2,}.*\S/)
    t.is(body.instance, `urn:uuid:${headers.get('x-request-id')}`)
    for (const detail of body.errors) t.deepEqual(Object.keys(detail), ['field', 'code', 'message'])
    const explained = await (await fetch(body.type)).json()
    t.is((explained as Json).code, code)
    const header = HEADERS[code]
    if (header) t.true(headers.has(header), header)
  })
}

test('a problem document has the details of the envelope', async (t) => {
  const send = (accept: string) => service().writer.accepting(accept).post('/species', { habitat: 1, no: 2 })
  const [problem, { body }] = [await send(`${PROBLEM}, application/json`), await send('application/json')]
  t.deepEqual([problem.body.detail, problem.body.errors], [body.error.message, body.error.details])
  t.is(problem.body.errors.length, 3)
})

for (const [accept, type] of [
  ['application/json, application/problem+json', PROBLEM],
  ['application/hal+json, application/problem+json;q=0.1', PROBLEM],
  ['application/json, Application/Problem+JSON; charset=utf-8', PROBLEM],
  ['application/json, application/problem+json;q=0', 'application/json; charset=utf-8'],
  ['*/*', 'application/json; charset=utf-8'],
] as const) {
  test(`Accept: ${accept} gets errors as ${type}, and resources as without it`, async (t) => {
    const { reader, writer } = service()
    const missing = await reader.get('/species/none', { accept })
    t.deepEqual([missing.status, missing.headers.get('content-type')], [404, type])
    t.regex(missing.headers.get('vary') ?? '', /(?:^|, )Accept(?:,|$)/)
    const { at } = await species()
    const [found, usual] = [await writer.get(at, { accept }), await writer.get(at)]
    t.deepEqual([found.status, found.body], [200, usual.body])
  })
}

test('a type that is no problem document is refused, also beside one', async (t) => {
  const { status, body } = await service().reader.get('/species', { accept: `image/png, ${PROBLEM}` })
  t.deepEqual([status, body.title], [406, 'Not acceptable'])
})

test('the type of a problem is relative where the host of the request cannot be trusted', async (t) => {
  const socket = connect(Number(new URL(service().origin).port), '127.0.0.1')
  socket.end(`GET /api/v1/species HTTP/1.1\r\nHost: a b\r\nAccept: ${PROBLEM}\r\nConnection: close\r\n\r\n`)
  const { value } = await socket.setEncoding('utf8').iterator().next()
  t.regex(value, /"type":"\.\.\/\.\.\/errors\/MALFORMED_REQUEST"/)
})

test('GraphQL keeps its own form of errors', async (t) => {
  const { origin, anonymous } = service()
  const { status, body } = await anonymous
    .accepting(PROBLEM)
    .post(`${origin}/graphql`, { query: '{ __typename }' })
  t.deepEqual([status, Object.keys(body)], [401, ['errors']])
})

test('errors are sent as JSON also to clients that accept only HAL', async (t) => {
  const { status, body, headers } = await service().reader.get('/species/none', {
    accept: 'application/hal+json',
  })
  t.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  t.regex(headers.get('content-type') as string, /^application\/json\b/)
})

test('a 403 for a scope that the token lacks names it in its challenge (RFC 6750 §3.1)', async (t) => {
  const { withScope, writer } = service()
  await writer.put('/species/challenged', { id: 'challenged', scientific_name: 'Challenged' })
  const client = withScope('species:read species:write')
  const operations = [{ method: 'DELETE', path: '/planets/none' }]
  const denied: [Answer, string][] = [
    [await client.get('/planets'), 'planets:read'],
    [await client.get('/planets?limit=0'), 'planets:read'],
    [await client.post('/planets', {}), 'planets:write'],
    [await client.get('/species?embed=planet'), 'planets:read'],
    [await client.get('/species/challenged?embed=planet'), 'planets:read'],
    [await client.post('/batch', { operations }), 'planets:write'],
    [await client.post('/species', { scientific_name: 'Stub', planet_origin: 'New' }), 'planets:write'],
    [await client.get('/planets/none/versions'), 'planets:read'],
    [await client.get('/changes?collection=planets'), 'planets:read'],
    [await withScope('none').get('/changes'), '*:read'],
    [await withScope('none').accepting('application/problem+json').get('/species'), 'species:read'],
  ]
  for (const [{ status, headers }, scope] of denied) {
    const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
    t.deepEqual([status, headers.get('www-authenticate')], [403, challenge])
  }
})

test('bad input of every kind changes nothing', async (t) => {
  const { writer, reader } = await startTestService(t)
  const { body: kept } = await writer.post('/species', {
    scientific_name: 'Kept',
    habitat: 'here',
    planet_origin: 'Home',
  })
  const at = `/species/${kept.id}`
  const count = async () => [
    (await reader.get('/species')).body.total_count,
    (await reader.get('/planets')).body.total_count,
  ]
  const whole = { id: kept.id, scientific_name: 'Kept', habitat: 'there', planet_origin: 'Away' }
  const before = await reader.get(at)
  const attempts = [
    writer.post('/species', { ...whole, habitat: 1 }),
    writer.post('/species', whole),
    writer.put(at, { ...whole, unknown: 1 }),
    writer.put(at, { ...whole, temperature_range: { min_celsius: 2, max_celsius: 1 } }),
    writer.put(at, { ...whole, temperature_range: { min_celsius: -274 } }),
    writer.put(at, whole, { 'If-Match': '"stale:1"' }),
    writer.put(at, whole, { 'If-None-Match': '*' }),
    writer.put(at, { ...whole, id: 'other' }),
    writer.put(at, { ...whole, discovery_status: 'lost' }),
    writer.put('/species/new', { scientific_name: 'New', planet_origin: 'Away' }),
    writer.put('/species/..%2Fnew', { id: '../new', scientific_name: 'New' }),
    writer.patch(at, { habitat: 'there', scientific_name: null }),
    writer.patch(at, [{ op: 'remove', path: '/habitat' }], { 'content-type': 'application/json-patch+json' }),
    writer.patch(at, '{"habitat": "there"', { 'content-type': 'application/merge-patch+json' }),
    writer.delete(at, { 'If-Match': '"stale:1"' }),
    writer.delete('/planets/Home'),
    reader.patch(at, { habitat: 'there' }),
    reader.delete(at),
  ]
  for (const [index, { status }] of (await Promise.all(attempts)).entries())
    t.true(status >= 400 && status < 500, `${index}: ${status}`)
  const after = await reader.get(at)
  t.deepEqual([after.body, after.headers.get('etag')], [before.body, before.headers.get('etag')])
  t.deepEqual(await count(), [1, 1])
})

test('of thousands of unknown members the first fifty are listed, and how many there are more', async (t) => {
  const unknown = Array.from({ length: 9_000 }, (_, index) => [`m${index}`, 1])
  const body = { habitat: 5, ...Object.fromEntries(unknown) }
  for (const answer of [
    await service().writer.post('/species', body),
    await service().writer.put('/species/x', { id: 'x', ...body }),
    await service().writer.patch('/species/x', body),
  ]) {
    t.is(answer.status, 400)
    const { details, message } = answer.body.error
    t.is(details[0].field, message.includes('required') ? 'scientific_name' : 'habitat')
    const unknown = details.filter(({ code }: { code: string }) => code === 'UNKNOWN_FIELD')
    t.is(unknown.length, 51)
    t.is(unknown[49].field, 'm49')
    t.is(unknown[50].message, 'm50 is not a field here; 8949 more are not listed.')
    t.true(answer.text.length < 50_000)
  }
})

test('a query string has at most 150 parameters, of which a hundred problems are listed', async (t) => {
  const detailsOf = async (path: string, count: number) => {
    const query = Array.from({ length: count }, (_, index) => `p${index}`).join('&')
    const { status, body } = await service().reader.get(`${path}?${query}`)
    t.is(status, 400)
    return body.error.details
  }
  for (const path of ['/species', '/species/x', '/changes', '/species/x/versions', '']) {
    t.is((await detailsOf(path, 150)).length, 100)
    t.like(await detailsOf(path, 151), [{ field: '', code: 'LIMIT_EXCEEDED' }])
  }
})

test('of a list of thousands of unknown names ten are reported, and of each the beginning', async (t) => {
  const names = Array.from({ length: 1_000 }, (_, index) => `n${index}`).join()
  for (const query of [`fields=${names}`, `embed=${names}`]) {
    const { status, body } = await service().reader.get(`/species?${query}`)
    t.is(status, 400)
    t.is(body.error.details.length, 10)
  }
  const long = 'x'.repeat(5_000)
  for (const query of [
    `fields=${long}`,
    `${long}=1`,
    `sort=${long}:asc`,
    `filter=${long}:1`,
    `filter=id[${long}]:1`,
  ]) {
    const { status, text } = await service().reader.get(`/species?${query}`)
    t.is(status, 400)
    t.true(text.length < 2_000, text)
  }
})

test('a list has at most 16 sorts', async (t) => {
  const { reader } = service()
  const sort = (count: number) => `/species?sort=${Array(count).fill('habitat:asc').join()}`
  t.is((await reader.get(sort(16))).status, 200)
  const { status, body } = await reader.get(sort(17))
  t.is(status, 400)
  t.like(body.error.details, [{ field: 'sort', code: 'TOO_LONG' }])
  for (const list of ['speciesPage', 'speciesConnection']) {
    const query = `query ($sort: [SpeciesSort!]!) { ${list}(sort: $sort) { totalCount } }`
    const errorsOf = async (count: number) =>
      (await reader.graphql(query, { sort: Array(count).fill({ field: 'HABITAT' }) })).errors
    t.is(await errorsOf(16), undefined)
    t.like((await errorsOf(17))?.[0].extensions.details, [{ field: 'sort', code: 'TOO_LONG' }])
  }
})

test('a body of 64 levels is parsed, one of 65 is refused', async (t) => {
  const { writer } = service()
  const codeAt = async (levels: number) => {
    const nested = `{"name":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    return (await writer.post('/planets', nested)).body.error.code
  }
  t.deepEqual([await codeAt(64), await codeAt(65)], ['VALIDATION_FAILED', 'MALFORMED_JSON'])
})

test('a body of more than ten thousand values is refused before it is parsed', async (t) => {
  const { writer } = service()
  const members = Array.from({ length: 10_001 }, (_, index) => `"m${index}":1`)
  const most = await writer.post('/species', `{${members.slice(1).join()}}`)
  t.is(most.body.error.code, 'VALIDATION_FAILED')
  for (const body of [`{${members.join()}}`, `[${members.map(() => '[]').join()}]`]) {
    const answer = await writer.post('/species', body)
    t.is(answer.status, 400)
    t.is(answer.body.error.code, 'MALFORMED_JSON')
    t.regex(answer.body.error.message, /more than 10000 values/)
  }
  const commas = await writer.post('/species', { scientific_name: `A "${',\\"'.repeat(20)}`, habitat: 5 })
  t.is(commas.body.error.code, 'VALIDATION_FAILED')
  const long = await writer.post('/species', { scientific_name: `${',"'.repeat(12_000)}` })
  t.is(long.body.error.details[0].code, 'TOO_LONG')
})

test('what does not exist is named, with advice only where a PUT could have created it', async (t) => {
  const messageOf = async (answer: Promise<Answer>) => (await answer).body.error.message
  const { writer } = service()
  const missing = 'There is no resource "nowhere" in species.'
  t.is(await messageOf(writer.get('/species/nowhere')), missing)
  t.is(await messageOf(writer.patch('/species/nowhere', { habitat: 'sea' })), missing)
  t.is(
    await messageOf(writer.put('/species/nowhere', { scientific_name: 'Nusquam' })),
    `${missing} To create it, send its id in the body or If-None-Match: *, without If-Match.`,
  )
})
