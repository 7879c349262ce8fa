import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'
import { freePort } from '../helpers/process/free-port.ts'
import { readBlocks } from '../helpers/process/guide.ts'
import type { Json } from '../helpers/service/client.ts'
import { startTestService } from '../helpers/service/service.ts'

const CANDIDATES = ['nginx', '/usr/sbin/nginx']

/** Longer than proxies wait that the guide configured before. */
const QUIET_MILLISECONDS = 20_000

/** The parts of a configuration in `http`, for a service at a port and a proxy at another one. */
const CONFIGURATIONS: Readonly<Record<string, (service: number, proxy: number) => Promise<string>>> = {
  'the configuration of the guide': async (service, proxy) => {
    const [block = ''] = await readBlocks('deployment', 'nginx')
    return block
      .replace('127.0.0.1:3000', `127.0.0.1:${service}`)
      .replace('listen 443 ssl;', `listen 127.0.0.1:${proxy};`)
      .replaceAll(/^ *ssl_.*\n/gm, '')
  },
  'proxy_pass alone': async (service, proxy) =>
    `server { listen 127.0.0.1:${proxy}; location / { proxy_pass http://127.0.0.1:${service}; } }`,
  'proxy_pass and gzip': async (service, proxy) =>
    `server { listen 127.0.0.1:${proxy}; gzip on; gzip_types *; gzip_proxied any; gzip_min_length 0;
      location / { proxy_pass http://127.0.0.1:${service}; } }`,
}

/** What the guide adds for a cache. */
async function withCache(service: number, proxy: number, folder: string): Promise<string> {
  const [, block = ''] = await readBlocks('deployment', 'nginx')
  return block
    .replace('http://halgraph', `http://127.0.0.1:${service}`)
    .replace('/var/cache/nginx/halgraph', join(folder, 'cache'))
    .replace('server {', `server { listen 127.0.0.1:${proxy};`)
}

/** Runs nginx until the end of the test. Undefined where it is not installed, with the reason printed. */
async function startNginx(
  t: ExecutionContext,
  configure: (service: number, proxy: number, folder: string) => Promise<string>,
  service: string,
): Promise<string | undefined> {
  const program = CANDIDATES.find((one) => spawnSync(one, ['-v']).status === 0)
  if (program === undefined) {
    t.log('not tried: nginx is not installed')
    return undefined
  }
  const folder = await createTestFolder(t)
  const port = await freePort()
  const http = await configure(Number(new URL(service).port), port, folder)
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  )
  const file = join(folder, 'nginx.conf')
  await writeFile(
    file,
    `daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr; events {}
    http { access_log off; ${folders.join(' ')}\n${http}\n}`,
  )
  const nginx = spawn(program, ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'inherit'] })
  t.teardown(async () => {
    nginx.kill('SIGTERM')
    if (nginx.exitCode === null) await once(nginx, 'exit')
  })
  for (let attempt = 0; ; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return `http://127.0.0.1:${port}`
    if (attempt === 100) throw new Error('nginx does not listen')
    await delay(100)
  }
}

/** On a busy machine. */
const AT_ONCE_MILLISECONDS = 8_000

/** A response that begins at once, and what it has sent. */
async function follow(url: string, request: RequestInit) {
  const leaving = new AbortController()
  const timer = setTimeout(() => leaving.abort(), AT_ONCE_MILLISECONDS)
  const response = await fetch(url, { ...request, signal: leaving.signal })
  clearTimeout(timer)
  let text = ''
  let hasEnded = false
  const reading = (async () => {
    for await (const chunk of response.body as ReadableStream<Uint8Array>)
      text += Buffer.from(chunk).toString()
  })()
  void reading
    .catch(() => {})
    .then(() => {
      hasEnded = true
    })
  const until = async (part: string) => {
    const started = performance.now()
    while (!text.includes(part) && !hasEnded && performance.now() - started < AT_ONCE_MILLISECONDS)
      await delay(10)
    return text.includes(part)
  }
  return { until, isOpen: () => !hasEnded, leave: () => leaving.abort() }
}

for (const [name, configure] of Object.entries(CONFIGURATIONS)) {
  test(`behind nginx with ${name}, streams begin at once and go on when they are quiet, and so do waits`, async (t) => {
    const service = await startTestService(t, { trustProxy: true })
    const proxy = await startNginx(t, configure, service.origin)
    if (proxy === undefined) return t.pass()
    const headers = { authorization: service.reader.authorization as string }
    const events = { ...headers, accept: 'text/event-stream' }
    const query = JSON.stringify({ query: 'subscription { changes(collections: ["planets"]) { id } }' })
    const streams = await Promise.all([
      follow(`${proxy}/api/v1/changes?since=now&collection=planets`, { headers: events }),
      follow(`${proxy}/graphql`, {
        method: 'POST',
        headers: { ...events, 'content-type': 'application/json' },
        body: query,
      }),
    ])
    t.teardown(async () => streams.forEach(({ leave }) => void leave()))
    // The first block is an `id` or a comment.
    for (const { until } of streams) t.true(await until('\n\n'))
    const end = await fetch(`${proxy}/api/v1/changes?since=now&collection=moons`, { headers })
    const feed = (await end.json()) as Json
    const next = feed._links.next.href.replace(/^https?:\/\/[^/]+/, proxy)
    const waiting = fetch(next, { headers: { ...headers, prefer: 'wait=25' } })
    await delay(QUIET_MILLISECONDS)
    for (const { isOpen } of streams) t.true(isOpen())
    await service.writer.put('/planets/late', { id: 'late', name: 'Late' })
    for (const { until } of streams) t.true(await until('"id":"late"'))
    const waited = await waiting
    t.deepEqual([waited.status, waited.headers.get('preference-applied')], [200, 'wait=25'])
    t.deepEqual(((await waited.json()) as Json)._embedded.changes, [])
    // With a weak tag, each conditional change would be refused.
    const { headers: read } = await fetch(`${proxy}/api/v1/planets/late`, { headers })
    t.is(read.get('etag'), name.includes('gzip') ? 'W/"late:1"' : '"late:1"')
  })
}

/** Longer than nginx trusts a copy. */
const TRUSTED_MILLISECONDS = 2_500

test('the cache of the guide keeps what is read without a token, asks whether it is current, and keeps nothing else', async (t) => {
  const service = await startTestService(t, { trustProxy: true, anonymousScopes: 'planets:read' })
  const proxy = await startNginx(t, withCache, service.origin)
  if (proxy === undefined) return t.pass()
  await service.writer.put('/planets/kept', { id: 'kept', name: 'First' })
  const read = async (authorization?: string, path = 'planets/kept') => {
    const headers = authorization === undefined ? {} : { authorization }
    const response = await fetch(`${proxy}/api/v1/${path}`, { headers })
    return [response.headers.get('x-cache'), ((await response.json()) as Json).name]
  }
  const { authorization } = service.reader
  t.deepEqual(await read(), ['MISS', 'First'])
  t.deepEqual(await read(), ['HIT', 'First'])
  await delay(TRUSTED_MILLISECONDS)
  t.deepEqual(await read(), ['REVALIDATED', 'First'])
  await service.writer.patch('/planets/kept', { name: 'Second' })
  t.deepEqual(await read(authorization), ['MISS', 'Second'])
  t.deepEqual(await read(authorization), ['MISS', 'Second'])
  await delay(TRUSTED_MILLISECONDS)
  t.deepEqual(await read(), ['EXPIRED', 'Second'])
  t.deepEqual(await read(), ['HIT', 'Second'])
  for (const path of ['changes', 'species', 'planets/none']) {
    await read(undefined, path)
    t.not((await read(undefined, path))[0], 'HIT', path)
  }
})
