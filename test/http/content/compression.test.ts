import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import test from 'ava'
import Koa from 'koa'
import { completeResponses } from '../../../src/http/responses.ts'
import type { Answer, RequestHeaders } from '../../helpers/service/client.ts'
import { shareTestService, startTestService } from '../../helpers/service/service.ts'

const service = shareTestService(test)

const DOCUMENT = '/openapi.json'

function encodingOf({ headers }: Answer): string | null {
  return headers.get('content-encoding')
}

function tagOf({ headers }: Answer): string {
  return headers.get('etag') as string
}

/** More than 1 KiB, and the same for all tests. */
const LIST = '/planets?limit=5'

test.serial.before(async () => {
  for (const name of ['A', 'B', 'C', 'D', 'E']) {
    await service().writer.post('/planets', { name, host_star: 'x'.repeat(300) })
  }
})

for (const [accepted, encoding] of [
  ['br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['gzip;q=0.5, br', 'br'],
  ['gzip, br;q=0.5', 'gzip'],
  ['*', 'br'],
  ['deflate, zstd', null],
  ['gzip;q=0, br;q=0', null],
  ['identity, gzip;q=0.5', null],
  ['', null],
] as const) {
  test(`Accept-Encoding: ${accepted} gets lists, documents and GraphQL as ${encoding ?? 'they are'}`, async (t) => {
    const { reader, origin } = service()
    const headers = { 'accept-encoding': accepted }
    const plain = { 'accept-encoding': 'identity' }
    const query = {
      query: '{ planetPage(limit: 5) { items { id name hostStar createdDate lastUpdated } } }',
    }
    for (const send of [
      (headers: RequestHeaders) => reader.get(LIST, headers),
      (headers: RequestHeaders) => reader.get(DOCUMENT, headers),
      (headers: RequestHeaders) => reader.get('/profile/planets', headers),
      (headers: RequestHeaders) => reader.get(`/planets?${'x'.repeat(300)}=1`, headers),
      (headers: RequestHeaders) => reader.post(`${origin}/graphql`, query, headers),
    ]) {
      const [answer, usual] = [await send(headers), await send(plain)]
      t.is(encodingOf(answer), encoding)
      t.is(encodingOf(usual), null)
      t.true(answer.text === usual.text)
      for (const one of [answer, usual]) t.regex(one.headers.get('vary') ?? '', /\bAccept-Encoding\b/)
    }
  })
}

test('a response of less than 1 KiB is not compressed', async (t) => {
  const { reader } = service()
  for (const answer of [await reader.get('/astronauts'), await reader.get('/planets/none')]) {
    t.true(answer.text.length < 1024)
    t.is(encodingOf(answer), null)
  }
})

test('each encoding has a strong entity tag of its own, and is not sent to a client that has it', async (t) => {
  const { anonymous } = service()
  const send = (encoding: string, known: string) =>
    anonymous.get(DOCUMENT, { 'accept-encoding': encoding, 'if-none-match': known })
  const tags: Record<string, string> = {}
  for (const encoding of ['identity', 'br', 'gzip']) tags[encoding] = tagOf(await send(encoding, '"none"'))
  t.is(new Set(Object.values(tags)).size, 3)
  for (const [accepted, known, status] of [
    ['br', 'br', 304],
    ['gzip, br', 'gzip', 304],
    ['br', 'identity', 304],
    ['br', 'gzip', 200],
    ['identity', 'gzip', 200],
  ] as const) {
    const tag = tags[known] as string
    const answer = await send(accepted, `"other", ${tag}`)
    t.deepEqual([answer.status, tagOf(answer) === tag], [status, status === 304], `${accepted} ${known}`)
  }
})

test('of several compressed tags that a client has, any can be the current one', async (t) => {
  const { anonymous } = service()
  for (const encoding of ['br', 'gzip']) {
    const send = (known: string) =>
      anonymous.get(DOCUMENT, { 'accept-encoding': encoding, 'if-none-match': known })
    const tag = tagOf(await send('"none"'))
    const others = [`"first:${encoding}"`, `W/"second:${encoding}"`]
    for (const known of [
      [...others, tag],
      [tag, ...others],
      [others[0], tag, others[1]],
    ]) {
      const answer = await send(known.join(', '))
      t.deepEqual([answer.status, tagOf(answer)], [304, tag], known.join())
    }
    t.is((await send(others.join(', '))).status, 200)
  }
})

test('HEAD has the headers of the compressed response', async (t) => {
  const { reader } = service()
  for (const path of [DOCUMENT, LIST, '/planets/none']) {
    const [get, head] = [await reader.get(path), await reader.head(path)]
    for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary']) {
      t.is(head.headers.get(name), get.headers.get(name), `${path} ${name}`)
    }
    if (path !== '/planets/none') t.is(encodingOf(head), 'gzip')
  }
})

test('a resource of less than 16 KiB has one entity tag, which writes return as well', async (t) => {
  const { writer } = service()
  const created = await writer.post('/missions', { name: 'Short enough', objective: 'x'.repeat(9_000) })
  const read = await writer.get(created.headers.get('location') as string)
  t.is(tagOf(read), tagOf(created))
  t.is(encodingOf(read), null)
})

test('a longer resource has a tag for each encoding, all of which If-Match takes', async (t) => {
  const { writer } = service()
  const body = { name: 'A long objective', objective: '☄'.repeat(9_000) }
  const { headers } = await writer.post('/missions', body, { 'accept-encoding': 'identity' })
  const address = headers.get('location') as string
  let version = 1
  for (const accept of ['application/json', 'application/prs.hal-forms+json']) {
    const read = await writer.get(address, { accept, 'accept-encoding': 'br' })
    t.is(encodingOf(read), 'br')
    t.regex(tagOf(read), new RegExp(`:${version}:.*br"$`))
    const again = { accept, 'accept-encoding': 'br', 'if-none-match': tagOf(read) }
    t.is((await writer.get(address, again)).status, 304)
    const change = { name: `Change ${++version}` }
    t.is((await writer.patch(address, change, { 'if-match': tagOf(read) })).status, 204)
    const late = await writer.patch(address, { name: 'Too late' }, { 'if-match': tagOf(read) })
    t.is(late.status, 409)
  }
})

test('with COMPRESSION=false nothing is compressed, and responses do not depend on Accept-Encoding', async (t) => {
  const { anonymous } = await startTestService(t, { compression: false })
  const answer = await anonymous.get(DOCUMENT)
  t.is(encodingOf(answer), null)
  t.notRegex(answer.headers.get('vary') ?? '', /Accept-Encoding/)
})

test('events, images and streams of unknown length are sent as they are', async (t) => {
  const settings = { compression: true, serverTiming: false }
  const app = new Koa().use(completeResponses(settings, () => t.fail())).use((ctx) => {
    ctx.type = ctx.path.slice(1)
    const text = 'data: x\n\n'.repeat(1_000)
    ctx.body = ctx.type === 'text/csv' ? Readable.from([text]) : text
  })
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const encodings = []
  for (const path of ['/text/event-stream', '/image/png', '/text/csv', '/text/plain']) {
    const headers = { 'accept-encoding': 'gzip', connection: 'close' }
    const [response] = await once(request({ port, path, headers }).end(), 'response')
    encodings.push(response.headers['content-encoding'])
    response.resume()
  }
  t.deepEqual(encodings, [undefined, undefined, undefined, 'gzip'])
})
