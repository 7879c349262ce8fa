import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { createEmbedded } from '../helpers/database.ts'
import { type Outcome, runLoad, send } from '../helpers/load.ts'
import { startProcess } from '../helpers/service-process.ts'

const QUIET = { LOG_LEVEL: 'info' }

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
  while (!service.output().includes('"stopping"')) await delay(5)
  const ready = await send(origin, { method: 'GET', path: '/health/ready' })
  const answered = await send(origin, { method: 'GET', path: '/api/v1/species' })
  t.deepEqual(
    [ready, answered].map((outcome) => outcome.kind === 'answered' && outcome.status),
    [503, 200],
  )
  t.is(answered.kind === 'answered' && answered.headers['connection'], 'close')
  await load
  t.deepEqual(await service.exited, { code: 0, signal: null })
  t.deepEqual(
    outcomes.filter(({ kind }) => kind === 'lost'),
    [],
  )
  t.true(outcomes.every((outcome) => outcome.kind !== 'answered' || outcome.status === 201))
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

test('requests beyond the deadline are aborted, and the status is 0', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess({ ...QUIET, DATA_DIR: dataDir, SHUTDOWN_SECONDS: '1' }, t)
  const socket = connect({ port: Number(new URL(await service.origin).port), host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write('POST /api/v1/species HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n')
  await delay(100)
  service.kill('SIGTERM')
  t.deepEqual(await service.exited, { code: 0, signal: null })
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
