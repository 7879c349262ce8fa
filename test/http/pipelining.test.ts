import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { openConnection } from '../helpers/process/raw-connection.ts'
import { until } from '../helpers/process/until.ts'
import { accessToken } from '../helpers/service/access-token.ts'
import { startTestService, type TestService } from '../helpers/service/service.ts'

/** A caller that sends requests on one connection without waiting for responses. */
async function pipeline({ base }: TestService, subject: string) {
  const secret = 'only the tests know this secret of theirs'
  const token = accessToken({ secret, scope: '*:read *:write', subject })
  const socket = await openConnection(base)
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  const { host, pathname } = new URL(base)
  return {
    socket,
    statuses: () => received.match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? [],
    received: () => received,
    send(method: string, path: string, headers: Record<string, string> = {}, body = '') {
      const all = { Host: host, Authorization: `Bearer ${token}`, ...headers, 'Content-Length': body.length }
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
      socket.write(`${method} ${pathname}${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    },
  }
}

const EVENTS = { Accept: 'text/event-stream' }

/** The service has had time to handle what was sent to it. */
const settled = () => delay(1_000)

/** The path of the feed from its end on, where a request waits. */
async function endOfFeed({ reader, base }: TestService): Promise<string> {
  return (await reader.get('/changes?since=now')).body._links.next.href.slice(base.length)
}

test('responses behind a stream of the same connection leave the memory of responses to others', async (t) => {
  const service = await startTestService(t, { loadCapacity: 64, callerShare: 8, databaseTimeout: 2_000 })
  const objective = 'x'.repeat(10_000)
  for (let number = 0; number < 10; number++)
    await service.writer.put(`/missions/m${number}`, { id: `m${number}`, name: `M ${number}`, objective })
  const { socket, send, statuses } = await pipeline(service, 'greedy')
  t.teardown(async () => void socket.destroy())
  send('GET', '/changes?since=now', EVENTS)
  for (let number = 0; number < 900; number++) send('GET', '/missions?limit=10')
  await until(() => statuses().length === 1)
  await settled()
  const other = service.withSubject('other')
  t.is((await other.get('/missions?limit=100')).status, 200)
  t.is((await other.graphql('{ missionPage(limit: 100) { items { objective } } }')).status, 200)
  t.is(statuses().length, 1)
})

test('waits that were pipelined count one by one, and no longer once their connection is reset', async (t) => {
  const service = await startTestService(t)
  const { send, socket } = await pipeline(service, 'waiting')
  const path = await endOfFeed(service)
  for (let number = 0; number < 90; number++) send('GET', path, { Prefer: 'wait=30' })
  await settled()
  socket.resetAndDestroy()
  const waiting = service.withSubject('waiting')
  const isWaiting = async () => {
    const waits = Array.from({ length: 100 }, () => waiting.get(path, { Prefer: 'wait=1' }))
    const applied = (await Promise.all(waits)).map(({ headers }) => headers.get('preference-applied'))
    return applied.every((preference) => preference === 'wait=1')
  }
  const started = Date.now()
  await until(isWaiting)
  t.true(Date.now() - started < 15_000)
})

test('the requests of a connection are handled in their order', async (t) => {
  const service = await startTestService(t)
  const { send, statuses, received } = await pipeline(service, 'orderly')
  const json = { 'Content-Type': 'application/json' }
  const count = 45
  for (let number = 0; number < count; number++) {
    const body = { id: 'one', name: `Name ${number}`, host_star: 'x'.repeat(400) }
    send('PUT', '/planets/one', json, JSON.stringify(body))
    send('GET', '/planets/one')
  }
  await until(() => statuses().length === 2 * count)
  t.deepEqual(statuses().slice(0, 4), ['201', '200', '204', '200'])
  const names = received().match(
    /(?<="name":")Name \d+(?=","host_star":"x+"[^{}]*_links":\{"self"[^}]*\},"coll)/g,
  )
  t.deepEqual(
    names,
    Array.from({ length: count }, (_, number) => `Name ${number}`),
  )
})

test('while a request of a connection is handled, only a few more are read', async (t) => {
  const service = await startTestService(t)
  const { socket, send, statuses } = await pipeline(service, 'eager')
  send('GET', await endOfFeed(service), { Prefer: 'wait=4' })
  const filler = { 'X-Filler': 'x'.repeat(15_000) }
  const count = 1_500
  for (let number = 0; number < count; number++) send('GET', '/planets/none', filler)
  await settled()
  t.true(socket.writableLength > 10_000_000, `${socket.writableLength}`)
  await until(() => statuses().length === 1 + count)
  t.deepEqual([...new Set(statuses())], ['200', '404'])
})
