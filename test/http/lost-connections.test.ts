import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Prepare } from '../../src/graph/execution/operation.ts'
import type { AnsweredRequest } from '../../src/http/access-log.ts'
import { openConnection } from '../helpers/raw-connection.ts'
import { startTestService, type TestService } from '../helpers/service.ts'

async function startWatched(t: ExecutionContext, watch = (prepare: Prepare) => prepare) {
  const reported: AnsweredRequest[] = []
  const service = await startTestService(t, {}, { watch, reportRequest: (request) => reported.push(request) })
  return { service, reported }
}

/** Holds every operation until it is opened. */
function createGate() {
  let [reach, open] = [() => {}, () => {}]
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const watch =
    (prepare: Prepare): Prepare =>
    (document) => {
      const operation = prepare(document)
      return async (...parameters) => {
        reach()
        await opened
        return operation(...parameters)
      }
    }
  return { reached, watch, open: () => open() }
}

function postPlanet({ writer }: TestService, name: string, length?: number): string {
  const body = JSON.stringify({ name })
  return [
    'POST /api/v1/planets HTTP/1.1',
    'Host: x',
    `Authorization: ${writer.authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${length ?? body.length}`,
    '',
    body,
  ].join('\r\n')
}

async function untilReported(reported: readonly AnsweredRequest[], count: number): Promise<void> {
  for (let wait = 0; reported.length < count && wait < 1_000; wait++) await delay(10)
}

test('a create whose connection is lost before the response is reported as 201', async (t) => {
  const gate = createGate()
  const { service, reported } = await startWatched(t, gate.watch)
  const socket = await openConnection(service.origin)
  socket.write(postPlanet(service, 'Orphan'))
  await gate.reached
  socket.resetAndDestroy()
  await delay(100)
  t.deepEqual(reported, [], 'it is not over yet')
  gate.open()
  await untilReported(reported, 1)
  t.deepEqual(
    reported.map(({ method, route, status, aborted }) => [method, route, status, aborted]),
    [['POST', '/api/v1/planets', 201, true]],
  )
  t.is(await service.database.client.planet.count({ where: { name: 'Orphan' } }), 1)
  t.deepEqual(service.faults, [])
})

test('a caller who resets the connection at any moment is no fault, and is reported once', async (t) => {
  const { service, reported } = await startWatched(t)
  const sent = 60
  for (let number = 0; number < sent; number++) {
    const socket = await openConnection(service.origin)
    socket.on('error', () => {})
    socket.write(postPlanet(service, `Planet ${number}`))
    await fetch(`${service.origin}/health/live`)
    await delay(number % 6)
    socket.resetAndDestroy()
  }
  const posts = () => reported.filter(({ method }) => method === 'POST')
  for (let wait = 0; posts().length < sent && wait < 1_000; wait++) await delay(10)
  const created = posts().filter(({ status }) => status === 201)
  t.is(created.length, await service.database.client.planet.count())
  t.is(posts().length, sent)
  t.is(new Set(posts().map(({ requestId }) => requestId)).size, sent)
  for (const { status } of posts()) t.true([201, 400].includes(status), String(status))
  t.deepEqual(service.faults, [])
})

test('a body whose connection is lost is reported as incomplete, and is no fault', async (t) => {
  const { service, reported } = await startWatched(t)
  for (const leave of ['resetAndDestroy', 'destroy', 'end'] as const) {
    const socket = await openConnection(service.origin)
    socket.on('error', () => {})
    socket.write(postPlanet(service, 'Half', 1_000))
    await fetch(`${service.origin}/health/live`)
    reported.splice(0)
    socket[leave]()
    await untilReported(reported, 1)
    t.deepEqual(
      reported.map(({ status, aborted }) => [status, aborted]),
      [[400, true]],
      leave,
    )
  }
  t.deepEqual(service.faults, [])
})

test('a response that is not received is reported as aborted, a received one is not', async (t) => {
  const { service, reported } = await startWatched(t)
  const socket = await openConnection(service.origin)
  socket.on('error', () => {}).pause()
  const request = 'GET /docs/assets/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'
  socket.write(request.repeat(10))
  await untilReported(reported, 1)
  socket.resetAndDestroy()
  for (let wait = 0; !reported.some(({ aborted }) => aborted) && wait < 1_000; wait++) await delay(10)
  t.true(reported.some(({ aborted }) => aborted))
  t.true(reported.every(({ status }) => status === 200))
  reported.splice(0)
  await (await fetch(`${service.origin}/docs`, { headers: { connection: 'close' } })).text()
  await untilReported(reported, 1)
  t.is(reported.at(-1)?.aborted, false)
  t.deepEqual(service.faults, [])
})
