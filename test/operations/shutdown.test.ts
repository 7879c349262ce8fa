import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { createEmbedded } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { type Outcome, runLoad, send } from '../helpers/load/load.ts'
import { createFaultyLink } from '../helpers/process/faulty-link.ts'
import { PROCESS_TOKEN, startProcess } from '../helpers/service/service-process.ts'

const QUIET = { LOG_LEVEL: 'info' }

type Answered = Extract<Outcome, { kind: 'answered' }>

/** Sends GETs until an answer is as expected; undefined where the service no longer accepts connections before. */
async function firstAnswer(origin: string, path: string, isExpected: (answered: Answered) => boolean) {
  for (;;) {
    const outcome = await send(origin, { method: 'GET', path })
    if (outcome.kind !== 'answered') return undefined
    if (isExpected(outcome)) return outcome
  }
}

test('a stop under load is announced, accepted requests get responses, and the status is 0', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess({ ...QUIET, DATA_DIR: dataDir, DATABASE_TIMEOUT: '30000' }, t)
  const origin = await service.origin
  const outcomes: Outcome[] = []
  const load = runLoad(
    origin,
    8,
    (number) => ({ method: 'POST', path: '/api/v1/species', body: { scientific_name: `s${number}` } }),
    (_, outcome) => outcomes.push(outcome),
  )
  while (outcomes.length < 50) await delay(10)
  service.kill('SIGTERM')
  const [unready, answered] = await Promise.all([
    firstAnswer(origin, '/health/ready', ({ status }) => status === 503),
    firstAnswer(origin, '/api/v1/species', ({ headers }) => headers['connection'] === 'close'),
  ])
  t.is(unready?.status, 503)
  t.is(answered?.status, 200)
  await load
  t.deepEqual(await service.exited, { code: 0, signal: null })
  t.deepEqual(
    outcomes.filter(({ kind }) => kind === 'lost'),
    [],
  )
  t.true(outcomes.every((outcome) => outcome.kind !== 'answered' || outcome.status === 201))
})

test('SIGHUP stops the service too, within the ten seconds that `docker stop` waits, without a response of the database', async (t) => {
  const server = findServer(t.log)
  if (!server) return t.pass()
  const address = new URL(await createDatabaseOn(server, t))
  const link = await createFaultyLink(new URL(address), t)
  address.host = `127.0.0.1:${link.port}`
  const service = startProcess({ DATABASE_URL: address.href, DATABASE_TIMEOUT: '600000' }, t)
  const origin = await service.origin
  link.set('black hole')
  const outcome = send(origin, { method: 'GET', path: '/api/v1/species' })
  await delay(100)
  const signalled = performance.now()
  service.kill('SIGHUP')
  t.deepEqual(await service.exited, { code: 0, signal: null })
  t.true(performance.now() - signalled < 10_000)
  t.is((await outcome).kind, 'lost')
})

test('a stop ends streams and requests that wait for changes at once, with complete responses', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess({ ...QUIET, DATA_DIR: dataDir, SHUTDOWN_SECONDS: '600' }, t)
  const base = `${await service.origin}/api/v1`
  const get = (url: string, more: Record<string, string> = {}) =>
    fetch(url, { headers: { Authorization: `Bearer ${PROCESS_TOKEN}`, ...more } })
  const { _links } = (await (await get(`${base}/changes?since=now`)).json()) as {
    _links: { next: { href: string } }
  }
  const stream = await get(_links.next.href, { Accept: 'text/event-stream' })
  const waiting = get(_links.next.href, { Prefer: 'wait=60' })
  await delay(500)
  const signalled = performance.now()
  service.kill('SIGTERM')
  t.is((await waiting).status, 200)
  t.regex(await stream.text(), /^id: /)
  t.deepEqual(await service.exited, { code: 0, signal: null })
  // Each would have gone on for a minute.
  t.true(performance.now() - signalled < 30_000)
})

test('a second signal does not wait for the first', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess({ ...QUIET, DATA_DIR: dataDir, SHUTDOWN_SECONDS: '600' }, t)
  // A request that never ends keeps the service from stopping.
  const socket = connect({ port: Number(new URL(await service.origin).port), host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write('POST /api/v1/species HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n')
  // It is refused at once, and its body stays outstanding.
  await once(socket, 'data')
  service.kill('SIGTERM')
  await delay(1_500)
  service.kill('SIGTERM')
  t.is((await service.exited).code, 1)
})

test('one Ctrl-C, which arrives twice, aborts requests beyond the deadline only, and the status is 0', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess({ ...QUIET, DATA_DIR: dataDir, SHUTDOWN_SECONDS: '1' }, t)
  const socket = connect({ port: Number(new URL(await service.origin).port), host: '127.0.0.1' })
  socket.on('error', () => {})
  // The service says that it has accepted the request, and waits for its body.
  const headers = ['Host: x', `Authorization: Bearer ${PROCESS_TOKEN}`, 'Content-Type: application/json']
  const expecting = [...headers, 'Content-Length: 9', 'Expect: 100-continue']
  socket.write(`POST /api/v1/species HTTP/1.1\r\n${expecting.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  // Both signals wait until the process continues, so that it gets them at the same time.
  for (const signal of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) service.kill(signal)
  t.deepEqual(await service.exited, { code: 0, signal: null })
  // A process can end before all that it has printed is read.
  for (let wait = 0; !service.output().includes('deadline') && wait < 100; wait++) await delay(50)
  t.regex(service.output(), /exceeded the deadline/)
})

test('a port in use is a clear message, and the database is free again', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  t.teardown(() => void occupant.close())
  const port = String((occupant.address() as AddressInfo).port)
  const refused = startProcess({ DATA_DIR: dataDir, PORT: port }, t)
  t.is((await refused.exited).code, 1)
  t.regex(refused.output(), /PORT: .* is in use/)
  t.notRegex(refused.output(), /\n\s+at /)
  const next = startProcess({ DATA_DIR: dataDir }, t)
  t.truthy(await next.origin)
})

test('an unreachable endpoint for spans does not prevent the stop', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess(
    { ...QUIET, DATA_DIR: dataDir, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
    t,
  )
  await send(await service.origin, { method: 'GET', path: '/api/v1/species' })
  service.kill('SIGTERM')
  t.is((await service.exited).code, 0)
})
