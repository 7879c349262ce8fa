import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { versionedDomain } from '../../helpers/domain/versioned-domain.ts'
import { openConnection } from '../../helpers/process/raw-connection.ts'
import { accessToken } from '../../helpers/service/access-token.ts'
import type { Client } from '../../helpers/service/client.ts'
import { readEvents } from '../../helpers/service/read-events.ts'
import { shareTestService, startTestService, type TestService } from '../../helpers/service/service.ts'

const SECRET = 'only the tests know this secret of theirs'
const JSON_TYPE = 'application/json; charset=utf-8'
const EVENTS = 'text/event-stream'

const service = shareTestService(test, {}, { domain: versionedDomain })

const withToken = ({ authorization = '' }: Client) => ({ Authorization: authorization })

/** A token of a subject for so many seconds. */
const tokenFor = (seconds: number, subject = 'ada') => ({
  Authorization: `Bearer ${accessToken({ secret: SECRET, scope: '*:read', seconds, subject })}`,
})

async function end({ reader }: Pick<TestService, 'reader'>, rest = ''): Promise<string> {
  return (await reader.get(`/changes?since=now${rest}`)).body._links.next.href
}

/** The headers of a response that may never end. */
async function headersOf(url: string, method: string, sent: Record<string, string>, body?: string) {
  const leaving = new AbortController()
  const request = { method, headers: sent, signal: leaving.signal, ...(body !== undefined && { body }) }
  const { status, headers } = await fetch(url, request)
  leaving.abort()
  return { status, headers }
}

for (const [accept, type] of [
  ['application/json, text/event-stream;q=0.1', JSON_TYPE],
  ['application/json;q=0.2, text/event-stream;q=0.1', JSON_TYPE],
  ['application/json, text/event-stream', JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['text/event-stream;q=0.1, */*', JSON_TYPE],
  ['text/event-stream;q=0, */*;q=0.1', JSON_TYPE],
  ['application/hal+json;q=0.9, text/event-stream;q=0.8', 'application/hal+json'],
  ['text/event-stream', EVENTS],
  ['TEXT/Event-Stream;charset=utf-8', EVENTS],
  ['text/event-stream;q=0.1', EVENTS],
  ['text/event-stream, application/json', EVENTS],
  ['application/json;q=0.1, text/event-stream;q=0.2', EVENTS],
  ['application/json;q=0, text/event-stream;q=0.1', EVENTS],
  ['text/event-stream;q=0', undefined],
  ['application/json;q=0, text/event-stream;q=0', undefined],
] as const) {
  test(`the feed for Accept: ${accept} is ${type ?? 'not acceptable'}, for GET and HEAD`, async (t) => {
    const { reader, base } = service()
    for (const method of ['GET', 'HEAD']) {
      const sent = { ...withToken(reader), Accept: accept }
      const { status, headers } = await headersOf(`${base}/changes?since=now`, method, sent)
      t.deepEqual([method, status], [method, type === undefined ? 406 : 200])
      t.regex(headers.get('vary') ?? '', /\bAccept\b/)
      if (type !== undefined) t.is(headers.get('content-type'), type)
    }
  })
}

test('HEAD of a stream has its headers and its errors, and ends', async (t) => {
  const { reader, base, withScope } = service()
  const accept = { Accept: EVENTS }
  const get = await headersOf(`${base}/changes?since=now`, 'GET', { ...withToken(reader), ...accept })
  const head = await reader.head('/changes?since=now', accept)
  const same = (headers: Headers) =>
    ['content-type', 'cache-control', 'x-accel-buffering', 'vary'].map((name) => headers.get(name))
  t.deepEqual(same(head.headers), same(get.headers))
  t.is((await reader.head('/changes?since=x', accept)).status, 400)
  t.is((await withScope('').head('/changes', accept)).status, 403)
})

test('a proxy is told to pass on events at once, and unchanged', async (t) => {
  const { reader, base, origin } = service()
  const sent = { ...withToken(reader), Accept: EVENTS, 'Content-Type': 'application/json' }
  const send = (query: string) => headersOf(`${origin}/graphql`, 'POST', sent, JSON.stringify({ query }))
  for (const { headers } of [
    await headersOf(`${base}/changes?since=now`, 'GET', sent),
    await send('subscription { changes { id } }'),
    await send('{ collections { path } }'),
  ]) {
    t.is(headers.get('x-accel-buffering'), 'no')
    t.is(headers.get('cache-control'), 'no-store, no-transform')
  }
})

test('a stream without changes sends its position every few seconds, past those that it does not show', async (t) => {
  const own = await startTestService(t)
  const url = await end(own, '&collection=planets')
  const socket = await openConnection(own.base)
  t.teardown(async () => void socket.destroy())
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  const { Authorization } = withToken(own.reader)
  const { pathname, search, host } = new URL(url)
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nAccept: ${EVENTS}\r\nAuthorization: ${Authorization}\r\n\r\n`,
  )
  const positions = () => received.match(/(?<=^id: ).*$/gm) ?? []
  while (positions().length < 1) await delay(10)
  await own.writer.put('/spacecraft/unseen', { id: 'unseen', name: 'Unseen', kind: 'rover' })
  const started = performance.now()
  while (positions().length < 2) await delay(10)
  t.true(performance.now() - started < 8_000)
  t.is(positions()[1] ?? '', new URL(await end(own)).searchParams.get('since') ?? '')
  t.regex(received, /^id: (\S+)\nevent: position\ndata: {"position":"\1"}\n\n/m)
  t.notRegex(received, /^event: (?!position)|^id: .*\n(?!event: )/m)
})

test('without a record of changes, a stream is refused like the feed', async (t) => {
  const { reader } = await startTestService(t, { changesDays: 0 })
  t.is((await reader.get('/changes', { Accept: EVENTS })).status, 404)
})

test('a request that waits is refused when its token expires', async (t) => {
  const url = await end(service(), '&collection=moons')
  const started = performance.now()
  const answer = await fetch(url, { headers: { ...tokenFor(3), Prefer: 'wait=30' } })
  t.is(answer.status, 401)
  t.regex(answer.headers.get('www-authenticate') ?? '', /error="invalid_token".*expired/)
  t.is(answer.headers.get('preference-applied'), null)
  t.true(performance.now() - started < 20_000)
})

test.serial('a stream goes on while its token is valid, for more days than a timer can wait', async (t) => {
  const { base, writer } = service()
  const { setTimeout: original } = globalThis
  // Time passes so fast that the longest timers end at once. As in Node, so do longer ones.
  const fast = (call: () => void, milliseconds: number, ...rest: []) =>
    original(call, milliseconds >= 2 ** 31 - 1 ? 1 : milliseconds, ...rest)
  globalThis.setTimeout = Object.assign(fast, original)
  t.teardown(() => {
    globalThis.setTimeout = original
  })
  const url = `${base}/changes?since=now&collection=planets`
  const reading = readEvents(url, 1, tokenFor(60 * 86_400))
  await delay(1_000)
  await writer.put(`${base.replace(/v\d$/, 'v1')}/planets/late`, { id: 'late', name: 'Late' })
  t.deepEqual(
    (await reading).events.map(({ data }) => data.id),
    ['late'],
  )
})

test.serial(
  'behind a thousand changes of other collections, has_more is true, and a wait and a stream find the next change',
  async (t) => {
    const own = await startTestService(t)
    const { reader, writer, database } = own
    const url = await end(own, '&collection=planets')
    const many = "INSERT INTO missions (id, name, status) SELECT 'm' || n, 'm' || n, 'planned'"
    await database.pool.query(`${many} FROM generate_series(1, 2500) AS n`)
    await writer.put('/planets/behind', { id: 'behind', name: 'Behind' })
    const first = await reader.get(url)
    t.deepEqual([first.body._embedded.changes, first.body.has_more], [[], true])
    const pages = [first]
    while (pages.at(-1)?.body.has_more) pages.push(await reader.get(pages.at(-1)?.body._links.next.href))
    const ids = pages.flatMap(({ body }) => body._embedded.changes.map(({ id }: { id: string }) => id))
    t.deepEqual([ids, pages.length], [['behind'], 3])
    t.deepEqual((await readEvents(url, 1, withToken(reader))).events[0]?.data.id, 'behind')

    const next = pages.at(-1)?.body._links.next.href
    const started = performance.now()
    const waiting = reader.get(next, { Prefer: 'wait=30' })
    const streaming = readEvents(next, 1, withToken(reader))
    await delay(500)
    await database.pool.query("UPDATE missions SET status = 'active'")
    await writer.put('/planets/later', { id: 'later', name: 'Later' })
    t.is((await streaming).events[0]?.data.id, 'later')
    let found = (await waiting).body
    t.true(performance.now() - started < 20_000, 'it does not wait to the end')
    while (found._embedded.changes.length === 0) {
      t.true(found.has_more)
      found = (await reader.get(found._links.next.href)).body
    }
    t.is(found._embedded.changes[0].id, 'later')
  },
)

test('a client that does not read its stream is disconnected', async (t) => {
  const own = await startTestService(t)
  const { reader, database } = own
  await database.pool.query(
    `INSERT INTO missions (id, name, status, objective)
      SELECT 'm' || n, 'm' || n, 'planned', repeat('x', 10000) FROM generate_series(1, 3000) AS n`,
  )
  const { host } = new URL(own.base)
  const query = JSON.stringify({ query: 'subscription { changes(since: "MA") { resource } }' })
  const common = `Host: ${host}\r\nAccept: ${EVENTS}\r\nAuthorization: ${reader.authorization}`
  for (const request of [
    `GET /api/v1/changes HTTP/1.1\r\n${common}\r\n\r\n`,
    `POST /graphql HTTP/1.1\r\n${common}\r\nContent-Type: application/json\r\nContent-Length: ${query.length}\r\n\r\n${query}`,
  ]) {
    const socket = await openConnection(own.base)
    socket.write(request)
    await once(socket, 'readable')
    await delay(15_000)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', () => {})
    // Only what the operating systems have buffered still comes.
    await once(socket, 'close', { signal: AbortSignal.timeout(20_000) })
    t.false(received.includes('"m3000"'))
  }
})

test.serial('streams of two API versions at one position have their own fields and links', async (t) => {
  const { reader, writer, origin } = service()
  const since = new URL(await end(service())).searchParams.get('since')
  const versions = ['v1', 'v2', 'v1', 'v2']
  const streams = versions.map((version) =>
    readEvents(`${origin}/api/${version}/changes?since=${since}`, 2, withToken(reader)),
  )
  await delay(500)
  const species = { id: 'seen', scientific_name: 'Seen', habitat: 'Sea', intelligence_level: 'high' }
  await writer.put(`${origin}/api/v1/species/seen`, species)
  await writer.put(`${origin}/api/v2/planets/shown`, {
    id: 'shown',
    name: 'Shown',
    discovery_method: 'Transit',
    habitable: true,
  })
  for (const [index, { events }] of (await Promise.all(streams)).entries()) {
    const [first, second] = events.map(({ data }) => data)
    const version = versions[index]
    const isOld = version === 'v1'
    t.is(first._links.resource.href, `${origin}/api/${version}/species/seen`)
    t.deepEqual(
      [first.resource.habitat, second.resource.habitable],
      isOld ? ['Sea', undefined] : [undefined, true],
    )
    for (const { _links, resource } of [first, second]) {
      const { _links: links, ...fields } = (await reader.get(_links.resource.href)).body
      t.deepEqual(resource, fields)
    }
  }
})
