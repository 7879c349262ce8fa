import test from 'ava'
import type { RequestHeaders } from '../helpers/client.ts'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

for (const [path, accept, type] of [
  ['/docs', 'text/html', 'text/html; charset=utf-8'],
  ['/docs/assets/pages.css', '*/*', 'text/css; charset=utf-8'],
  ['/docs/assets/browse.js', '*/*', 'text/javascript; charset=utf-8'],
  ['/docs/assets/swagger-ui-bundle.js', '*/*', 'text/javascript; charset=utf-8'],
  ['/api/v1/planets/some-id', 'text/html', 'text/html; charset=utf-8'],
  ['/api/v1/openapi.json', '*/*', 'application/json; charset=utf-8'],
  ['/api/v1/openapi.yaml', '*/*', 'application/yaml; charset=utf-8'],
  ['/api/v1/profile/planets', '*/*', 'application/json; charset=utf-8'],
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
    const ask = (method: string, more = {}) => send(method, origin + path, undefined, { accept, ...more })
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
  })
}

async function sendPlainly(method: string, url: string, _: undefined, headers: RequestHeaders) {
  const response = await fetch(url, { method, headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
