import test from 'ava'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures } from '../helpers/domain/fixtures.ts'
import type { Answer, RequestHeaders } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test, { serverTiming: true, rateLimit: 100_000 })

for (const [path, accept, type] of [
  ['/docs', 'text/html', 'text/html; charset=utf-8'],
  ['/docs/assets/pages.css', '*/*', 'text/css; charset=utf-8'],
  ['/docs/assets/browse.js', '*/*', 'text/javascript; charset=utf-8'],
  ['/docs/assets/chart.js', '*/*', 'text/javascript; charset=utf-8'],
  ['/api/v1/planets/some-id', 'text/html', 'text/html; charset=utf-8'],
  ['/api/v1/openapi.json', '*/*', 'application/json; charset=utf-8'],
  ['/api/v1/openapi.yaml', '*/*', 'application/yaml; charset=utf-8'],
  ['/api/v1/profile/planets', '*/*', 'application/json; charset=utf-8'],
  [
    '/.well-known/api-catalog',
    '*/*',
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  ],
  ['/errors', 'application/json', 'application/json; charset=utf-8'],
  ['/errors/RESOURCE_GONE', 'text/html', 'text/html; charset=utf-8'],
  ['/model', 'text/html', 'text/html; charset=utf-8'],
  ['/graphql', 'text/html', 'text/html; charset=utf-8'],
  ['/graphql/explorer/explorer.js', '*/*', 'text/javascript; charset=utf-8'],
  ['/graphql/explorer/examples.json', '*/*', 'application/json; charset=utf-8'],
] as const) {
  test(`${path} as ${accept} has a strong entity tag, and is not sent to a client that has it`, async (t) => {
    const { anonymous, origin } = service()
    // A page for people is no part of the interface, which the client holds against the OpenAPI document.
    const send = accept === 'text/html' ? sendPlainly : anonymous.request
    const ask = (method: string, more = {}) =>
      send(method, origin + path, undefined, { accept, ...PLAIN, ...more })
    const { status, headers, text } = await ask('GET')
    const etag = headers.get('etag') ?? ''
    t.is(status, 200)
    t.is(headers.get('content-type'), type)
    t.is(headers.get('cache-control'), 'no-cache')
    t.is(headers.get('x-content-type-options'), 'nosniff')
    t.regex(etag, /^"[\w-]{43}"$/)

    const head = await ask('HEAD')
    t.deepEqual([head.status, head.text.length, head.headers.get('etag')], [200, 0, etag])
    t.is(head.headers.get('content-length'), String(Buffer.byteLength(text)))

    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const again = await ask(method, { 'if-none-match': known })
        t.deepEqual([again.status, again.text.length, again.headers.get('etag')], [304, 0, etag], known)
      }
    }
    t.true((await ask('GET', { 'if-none-match': '"other"' })).text === text)

    const gzip = { 'accept-encoding': 'gzip' }
    const compressed = await ask('GET', gzip)
    t.true(compressed.text === text)
    t.is(compressed.headers.get('content-encoding'), text.length < 1024 ? null : 'gzip')
    const unchanged = await ask('GET', { ...gzip, 'if-none-match': compressed.headers.get('etag') })
    t.deepEqual([unchanged.status, unchanged.text], [304, ''])
  })
}

/** Fetch asks for compression, which changes entity tag and length. */
const PLAIN = { 'accept-encoding': 'identity' }

async function sendPlainly(method: string, url: string, _: undefined, headers: RequestHeaders) {
  const response = await fetch(url, { method, headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('scripts of other origins may read every response and all of its headers', async (t) => {
  const { anonymous, writer, withScope } = service()
  const origin = { origin: 'https://dashboard.example' }
  const shown = { ...origin, prefer: 'graphql-operation' }
  const answers: Answer[] = [await anonymous.get('', origin), await withScope('').get('/species', origin)]
  for (const resource of resources) {
    const { path, collection, body } = await new Fixtures(writer).create(resource)
    answers.push(
      await writer.get(path, shown),
      await writer.get(collection, shown),
      await writer.options(path, origin),
      await writer.request('PROPFIND', path, undefined, origin),
      await writer.post(collection, body, origin),
      await writer.patch(path, 'x', { ...origin, 'content-type': 'text/plain' }),
      await writer.delete(path, { ...origin, 'if-match': '"stale:1"' }),
      await writer.delete(path, { ...origin, prefer: 'handling=strict' }),
      await writer.get(path, origin),
    )
  }
  for (const { status, headers } of answers) {
    const [allowed, exposed, credentials] = ['allow-origin', 'expose-headers', 'allow-credentials'].map(
      (name) => headers.get(`access-control-${name}`),
    )
    // Without credentials, `*` stands for all headers.
    t.deepEqual([allowed, exposed, credentials], ['*', '*', null], String(status))
  }
})

test('the answer to a preflight may be kept for ten minutes or longer', async (t) => {
  const { anonymous } = service()
  for (const method of ['GET', 'PATCH']) {
    const headers = { origin: 'https://app.example', 'access-control-request-method': method }
    const answer = await anonymous.options('/species', headers)
    t.is(answer.status, 204)
    t.true(Number(answer.headers.get('access-control-max-age')) >= 600)
  }
})

test('a long response arrives unchanged, with its length, also if it is divided within a surrogate pair', async (t) => {
  const { database, reader, base, request } = await startTestService(t).then((service) => ({
    ...service,
    request: service.reader.request,
  }))
  const objectives = Array.from({ length: 40 }, (_, number) => 'x'.repeat(number) + '🚀'.repeat(4_900))
  await database.client.prisma.mission.createMany({
    data: objectives.map((objective, number) => ({
      id: `m${String(number).padStart(2, '0')}`,
      name: `mission ${number}`,
      status: 'planned',
      objective,
    })),
  })
  const path = `${base}/missions?limit=40&sort=name:asc`
  const list = await request('GET', path, undefined, PLAIN)
  t.is(list.headers.get('content-length'), String(Buffer.byteLength(list.text)))
  t.true(list.text.length > 300_000)
  const received = (list.body._embedded.missions as { objective: string }[]).map(({ objective }) => objective)
  t.deepEqual(received.sort(), objectives.sort())
  t.true((await request('GET', path)).text === list.text, 'compressed in pieces')
  const head = await request('HEAD', path, undefined, PLAIN)
  t.deepEqual([head.status, head.text], [200, ''])
  t.is(head.headers.get('content-length'), list.headers.get('content-length'))
  const answer = await reader.graphql('{ missionPage(limit: 40) { items { objective } } }')
  const fromGraph = answer.data.missionPage.items.map(({ objective }: { objective: string }) => objective)
  t.deepEqual(fromGraph.sort(), objectives)
})
