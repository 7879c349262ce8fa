import { connect } from 'node:net'
import test from 'ava'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

/** Sends bytes as they are; resolves to all that comes back until the connection ends. */
function sendRaw(origin: string, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(origin).port) })
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined))
    socket.write(bytes)
  })
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])
const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
const CLOSE = 'Connection: close\r\n'

for (const [attack, bytes, status, code] of [
  ['nonsense', 'GARBAGE\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['a space in a header name', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  [
    'both lengths',
    'POST /api/v1/species HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    'MALFORMED_REQUEST',
  ],
  [
    'two lengths',
    'POST /api/v1/species HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd',
    400,
    'MALFORMED_REQUEST',
  ],
  [
    'an obfuscated encoding',
    'POST /api/v1/species HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    400,
    'MALFORMED_REQUEST',
  ],
  ['bare line feeds', 'GET / HTTP/1.1\nHost: x\n\n', 400, 'MALFORMED_REQUEST'],
  [
    'a flood of headers',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
    431,
    'HEADERS_TOO_LARGE',
  ],
  ['no Host', `GET /api/v1/species HTTP/1.1\r\n${CLOSE}\r\n`, 400, 'MALFORMED_REQUEST'],
  [
    'two Hosts',
    `GET /api/v1/species HTTP/1.1\r\nHost: a\r\nHost: b\r\n${CLOSE}\r\n`,
    400,
    'MALFORMED_REQUEST',
  ],
  [
    'a Host that is none',
    `GET /api/v1/species HTTP/1.1\r\nHost: a/b?c\r\n${CLOSE}\r\n`,
    400,
    'MALFORMED_REQUEST',
  ],
  [
    'a Host with a user',
    `GET /api/v1/species HTTP/1.1\r\nHost: me@evil\r\n${CLOSE}\r\n`,
    400,
    'MALFORMED_REQUEST',
  ],
  [
    'a target without a path',
    `GET other://host HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`,
    400,
    'MALFORMED_REQUEST',
  ],
  ['the target * of GET', `GET * HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`, 400, 'MALFORMED_REQUEST'],
  ['OPTIONS * without a host', `OPTIONS * HTTP/1.1\r\n${CLOSE}\r\n`, 400, 'MALFORMED_REQUEST'],
] as const) {
  test(`${attack}: ${status}, in the error envelope`, async (t) => {
    const answer = await sendRaw(service().origin, bytes)
    t.is(statusOf(answer), status, answer)
    t.is(bodyOf(answer).error.code, code)
  })
}

test('RFC 9110 §9.3.7: OPTIONS * gives the methods of the server, without a token', async (t) => {
  const answer = await sendRaw(service().origin, `OPTIONS * HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`)
  t.is(statusOf(answer), 204)
  t.regex(answer, /\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n/)
})

test('too many headers are refused', async (t) => {
  const headers = Array.from({ length: 3_000 }, (_, index) => `X-${index}: y`).join('\r\n')
  const answer = await sendRaw(service().origin, `GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`)
  t.is(statusOf(answer), 431)
})

test('a request with an absolute URL is served, and links use its host', async (t) => {
  const { origin, reader } = service()
  const request = `GET http://other.example/api/v1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${reader.authorization}\r\n${CLOSE}\r\n`
  const answer = await sendRaw(origin, request)
  t.is(statusOf(answer), 200)
  t.is(bodyOf(answer)._links.self.href, 'http://other.example/api/v1')
})

test('forwarded headers are in no link, unless a proxy is trusted', async (t) => {
  const forged = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  }
  t.notRegex((await service().reader.get('', forged)).text, /evil/)
  const trusting = await startTestService(t, { trustProxy: true })
  const { body } = await trusting.reader.get('', forged)
  t.is(body._links.self.href, 'https://evil.example/api/v1')
  for (const bad of [{ 'x-forwarded-host': 'a"b' }, { 'x-forwarded-proto': 'javascript' }]) {
    t.is((await trusting.reader.get('', bad as never)).status, 400)
  }
})

test('links have the public base URL regardless of the Host header', async (t) => {
  const fixed = await startTestService(t, { publicBaseUrl: 'https://api.example.org' })
  t.is((await fixed.reader.get('')).body._links.self.href, 'https://api.example.org/api/v1')
})

test('no header or parameter overrides the method', async (t) => {
  const { writer } = service()
  const { body } = await writer.post('/species', { scientific_name: 'Not overridden' })
  await writer.post(`/species?_method=DELETE`, { scientific_name: 'x' })
  await writer.get(`/species/${body.id}`, { 'x-http-method-override': 'DELETE' })
  await writer.request('POST', `/species/${body.id}`, {}, { 'x-http-method-override': 'DELETE' })
  t.is((await writer.get(`/species/${body.id}`)).status, 200)
})

for (const [what, text] of Object.entries({
  'nothing but a bracket': '[',
  'a number that is none': '{"scientific_name":01}',
  'a member twice': '{"scientific_name":"a","scientific_name":"b"}',
  'a member twice, once escaped': '{"scientific_name":"a","scientific\\u005fname":"b"}',
  'a member twice, far in': '{"classification":{"class":"a","class":"b"}}',
  'very deep': `{"scientific_name":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  'deep in objects': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  'a prototype': '{"__proto__":{"admin":true},"scientific_name":"a"}',
  'a constructor': '{"constructor":{"prototype":{"admin":true}},"scientific_name":"a"}',
  'a byte order mark in the middle': '{"scientific_name":\uFEFF"a"}',
})) {
  test(`${what} is no JSON that is accepted`, async (t) => {
    const { status, body } = await service().writer.post('/species', text)
    t.deepEqual([status, body.error.code], [400, 'MALFORMED_JSON'])
    t.is(({} as { admin?: boolean }).admin, undefined)
  })
}

test('the same name in two objects is not a duplicate', async (t) => {
  const body = '{"scientific_name":"class","classification":{"class":"class"},"habitat":"scientific_name"}'
  t.is((await service().writer.post('/species', body)).status, 201)
})

test('text that the database cannot store is a 400', async (t) => {
  for (const text of ['{"scientific_name":"a\\u0000b"}', '{"scientific_name":"a\\ud800b"}']) {
    const { status, body } = await service().writer.post('/species', text)
    t.deepEqual([status, body.error.details[0].code], [400, 'INVALID_VALUE'])
  }
  const bytes = new Uint8Array([...Buffer.from('{"scientific_name":"'), 0xff, 0xfe, ...Buffer.from('"}')])
  t.is((await service().writer.post('/species', bytes)).body.error.code, 'MALFORMED_JSON')
})

test('the name of UTF-8 can have any spelling in the type of a body', async (t) => {
  for (const charset of ['UTF-8', 'utf8']) {
    const type = { 'content-type': `application/json;charset=${charset}` }
    const { status } = await service().writer.post('/species', { scientific_name: `In ${charset}` }, type)
    t.is(status, 201, charset)
  }
})

test('a body in a content encoding is refused unread', async (t) => {
  for (const encoding of ['gzip', 'br', 'deflate', 'gzip, gzip']) {
    const { status } = await service().writer.post('/species', 'x', { 'content-encoding': encoding })
    t.is(status, 415)
  }
})

test('a query that is not percent-encoded UTF-8 is a 400, such a path a 404', async (t) => {
  const { reader } = service()
  for (const query of ['filter=%zz', 'filter=habitat:%ff', 'page=%', 'sort=%c3%28']) {
    t.is((await reader.get(`/species?${query}`)).body.error.code, 'INVALID_QUERY_PARAMETER')
  }
  for (const path of ['/species/%zz', '/species/%ff', '/species/%00', '/species/%2e%2e', '/species/a%2Fb']) {
    t.is((await reader.get(path)).status, 404, path)
  }
})

test('server-made fields cannot be assigned', async (t) => {
  const { status, body, text } = await service().writer.post('/species', {
    scientific_name: 'Mass assigned',
    id: 'mine',
    discovered_date: '1999-01-01T00:00:00Z',
    discovery_status: 'verified',
  })
  t.is(status, 201, text)
  t.not(body.id, 'mine')
  t.is(body.discovery_status, 'newly_catalogued')
  for (const name of ['version', 'planet_id', 'planetId', 'hidden']) {
    const answer = await service().writer.post('/species', { scientific_name: name, [name]: 7 })
    t.is(answer.body.error?.details[0].code, 'UNKNOWN_FIELD', name)
  }
})

test('responses have the headers that restrict browsers and caches', async (t) => {
  const { writer, anonymous } = service()
  const { body, headers: created } = await writer.post('/species', { scientific_name: 'Kept from caches' })
  const read = await writer.get(`/species/${body.id}`)
  t.is(created.get('cache-control'), 'no-store')
  t.is(read.headers.get('cache-control'), 'private, no-cache, must-revalidate')
  t.is((await writer.get('/species')).headers.get('cache-control'), 'private, no-cache, must-revalidate')
  for (const { headers } of [read, await anonymous.get('/species')]) {
    t.is(headers.get('x-content-type-options'), 'nosniff')
    t.is(headers.get('content-security-policy'), "default-src 'none';frame-ancestors 'none'")
    t.is(headers.get('x-powered-by'), null)
    t.regex(headers.get('strict-transport-security') ?? '', /^max-age=/)
  }
})
