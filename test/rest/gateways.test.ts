import test, { type ExecutionContext } from 'ava'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures } from '../helpers/domain/fixtures.ts'
import { shareTestService, startTestService, type TestService } from '../helpers/service/service.ts'

const root = 'https://example.org/catalogue'
const behindGateway = shareTestService(test, { publicBaseUrl: root, trustProxy: true })
const trusting = shareTestService(test, { trustProxy: true })

/** Every absolute URL in the bodies and headers of the service, of each kind of resource and document. */
async function urlsOf(service: TestService, headers: Record<string, string>): Promise<string[]> {
  const { writer, origin } = service
  const client = { ...writer, post: (path: string, body?: unknown) => writer.post(path, body, headers) }
  const fixtures = new Fixtures(client)
  const texts: (string | null)[] = []
  for (const resource of resources) {
    const { answer, path, collection } = await fixtures.create(resource)
    const answers = [answer, await writer.get(path, headers), await writer.get(collection, headers)]
    // The fixtures set singletons by PUT without these headers.
    for (const { text, headers: received } of resource.listed ? answers : answers.slice(1)) {
      texts.push(text, received.get('location'), received.get('link'))
    }
  }
  const entry = await writer.get('', headers)
  texts.push(entry.text, entry.headers.get('link'))
  texts.push((await writer.get(`${origin}/errors`, { ...headers, accept: 'application/json' })).text)
  const catalog = await writer.get(`${origin}/.well-known/api-catalog`, headers)
  texts.push(catalog.text, catalog.headers.get('link'))
  return texts.flatMap((text) => text?.match(/https?:\/\/[^"<>\s]+/g) ?? [])
}

function allBeginWith(t: ExecutionContext, urls: readonly string[], root: string): void {
  t.true(urls.length > 50)
  t.deepEqual(
    urls.filter((url) => !url.startsWith(`${root}/`)),
    [],
  )
}

async function serversOf({ anonymous, base }: TestService, headers: Record<string, string> = {}) {
  const yaml = await anonymous.get(`${base}/openapi.yaml`, headers)
  const { body } = await anonymous.get(`${base}/openapi.json`, headers)
  return { json: body.servers[0].url as string, yaml: /servers:\n {2}- url: (\S+)/.exec(yaml.text)?.[1] }
}

test('every URL begins with PUBLIC_BASE_URL and its path', async (t) => {
  const service = behindGateway()
  allBeginWith(t, await urlsOf(service, {}), root)
  t.deepEqual(await serversOf(service), { json: root, yaml: root })
})

test('every URL has the prefix that a trusted gateway has removed', async (t) => {
  const service = trusting()
  const gateway = {
    'x-forwarded-host': 'example.org',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/catalogue/v/',
  }
  const root = 'https://example.org/catalogue/v'
  allBeginWith(t, await urlsOf(service, gateway), root)
  t.deepEqual(await serversOf(service, gateway), { json: root, yaml: root })
  t.is((await serversOf(service)).json, service.origin, 'without a gateway')
  const self = async (prefix: string) =>
    (await service.reader.get('', { ...gateway, 'x-forwarded-prefix': prefix })).body._links?.self.href
  t.is(await self('/outer, /inner'), 'https://example.org/outer/inner/api/v1')
  t.is(await self('/'), 'https://example.org/api/v1')
  t.is(await self('/%C3%A9t%c3%a9'), 'https://example.org/%C3%A9t%c3%a9/api/v1')
})

test('the first gateway names protocol and host, the protocol in any case', async (t) => {
  const self = async (headers: Record<string, string>) =>
    (await trusting().reader.get('', headers)).body._links?.self.href
  const host = { 'x-forwarded-host': 'example.org:8443, inner:3000' }
  for (const protocol of ['https', 'HTTPS', 'Https, http', 'https,HTTP'])
    t.is(await self({ ...host, 'x-forwarded-proto': protocol }), 'https://example.org:8443/api/v1', protocol)
  t.is(await self({ ...host, 'x-forwarded-proto': 'HTTP' }), 'http://example.org:8443/api/v1')
  const ignored = { forwarded: 'host=other.example;proto=http', 'x-forwarded-port': '1' }
  t.is(await self({ ...host, ...ignored, 'x-forwarded-proto': 'https' }), 'https://example.org:8443/api/v1')
  for (const [name, value] of [
    ['x-forwarded-proto', 'https:'],
    ['x-forwarded-proto', ', https'],
    ['x-forwarded-host', 'example.org:99999'],
    ['x-forwarded-host', 'example.org/a'],
    ['x-forwarded-host', '256.1.1.1'],
  ] as const)
    t.is((await trusting().reader.get('', { [name]: value })).status, 400, `${name}: ${value}`)
})

test('a prefix is in no link unless a proxy is trusted, and a malformed one is refused', async (t) => {
  const prefix = { 'x-forwarded-prefix': '/evil' }
  const plain = await startTestService(t)
  t.notRegex((await plain.reader.get('', prefix)).text, /evil/)
  const dots = ['/../x', '/a/..', '/%2E%2e/x', '/.%2e', '/%2e']
  const others = [
    'evil',
    '//evil.example',
    '/good, //evil.example',
    '/a"b',
    '/a?b',
    'https://evil.example',
    '/%zz',
    '/%f',
    '/%',
  ]
  const long = [`/${'a'.repeat(255)}`, `/${'a'.repeat(200)}, /${'b'.repeat(200)}`]
  for (const bad of [...dots, ...others, ...long]) {
    t.is((await trusting().reader.get('', { 'x-forwarded-prefix': bad })).status, 400, bad)
  }
  const longest = `/${'a'.repeat(254)}`
  const { body } = await trusting().reader.get('', { 'x-forwarded-prefix': longest })
  t.true(body._links.self.href.includes(`${longest}/`))
})

test('a prefix follows a PUBLIC_BASE_URL without a path, and is not added to one with a path', async (t) => {
  const withoutPath = await startTestService(t, { publicBaseUrl: 'https://example.org', trustProxy: true })
  const self = async ({ reader }: TestService) =>
    (await reader.get('', { 'x-forwarded-prefix': '/a' })).body._links.self.href
  t.is(await self(withoutPath), 'https://example.org/a/api/v1')
  t.is(await self(behindGateway()), 'https://example.org/catalogue/api/v1')
})

test('pages behind a gateway link through it, and find their own files wherever they are', async (t) => {
  const { anonymous, origin, base } = behindGateway()
  for (const url of [base, `${base}/species/x`, `${origin}/docs`, `${origin}/errors`, `${origin}/graphql`]) {
    const { text } = await anonymous.get(url, { accept: 'text/html' })
    for (const [, file] of text.matchAll(/(?:src|link rel="stylesheet" href)="([^"]+)"/g)) {
      t.is((await anonymous.get(new URL(file as string, url).href)).status, 200, file)
    }
    const shownAt = url.replace(origin, root)
    for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      t.true(new URL(href, shownAt).href.startsWith(`${root}/`), href)
    }
  }
})

test('a list has another tag under another host, since its links differ', async (t) => {
  const { reader, writer } = trusting()
  await writer.post('/planets', { name: 'Linked' })
  // Other tests add planets meanwhile.
  const under = (host: string, tag = '') =>
    reader.get('/planets?name=Linked', { 'x-forwarded-host': host, 'if-none-match': tag })
  const tag = (await under('one.example')).headers.get('etag') ?? ''
  t.is((await under('one.example', tag)).status, 304)
  const { status, body } = await under('other.example', tag)
  t.is(status, 200)
  t.regex(body._links.self.href, /^http:\/\/other\.example\//)
})
