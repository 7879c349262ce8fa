import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { AnsweredRequest } from '../../src/http/access-log.ts'
import { domain } from '../helpers/domain/domain.ts'
import { openConnection } from '../helpers/process/raw-connection.ts'
import { startTestService, type TestService } from '../helpers/service/service.ts'

async function startReporting(
  t: ExecutionContext,
  parts: Partial<Parameters<typeof startTestService>[2]> = {},
) {
  const reported: AnsweredRequest[] = []
  const service = await startTestService(
    t,
    {},
    { ...parts, reportRequest: (request) => reported.push(request) },
  )
  return { service, reported }
}

/** A domain whose rule for spacecraft holds every write until it is opened. */
function createGate() {
  let [reach, open] = [() => {}, () => {}]
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const databaseRule = async () => {
    reach()
    await opened
  }
  const resources = domain.resources.map((resource) =>
    resource.path === 'spacecraft' ? { ...resource, databaseRule } : resource,
  )
  return { reached, domain: { ...domain, resources }, open: () => open() }
}

function post({ writer }: TestService, path: string, values: object, length?: number): string {
  const body = JSON.stringify(values)
  return [
    `POST /api/v1/${path} HTTP/1.1`,
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
  const { service, reported } = await startReporting(t, { domain: gate.domain })
  const socket = await openConnection(service.origin)
  socket.write(post(service, 'spacecraft', { name: 'Orphan', kind: 'orbiter' }))
  await gate.reached
  socket.resetAndDestroy()
  await delay(100)
  t.deepEqual(reported, [], 'it is not over yet')
  gate.open()
  await untilReported(reported, 1)
  t.deepEqual(
    reported.map(({ method, route, status, aborted }) => [method, route, status, aborted]),
    [['POST', '/api/v1/spacecraft', 201, true]],
  )
  t.is(await service.database.client.prisma.spacecraft.count({ where: { name: 'Orphan' } }), 1)
  t.deepEqual(service.faults, [])
})

test('a caller who resets the connection at any moment is no fault, and is reported once', async (t) => {
  const { service, reported } = await startReporting(t)
  const sent = 60
  for (let number = 0; number < sent; number++) {
    const socket = await openConnection(service.origin)
    socket.on('error', () => {})
    socket.write(post(service, 'planets', { name: `Planet ${number}` }))
    await fetch(`${service.origin}/health/live`)
    await delay(number % 6)
    socket.resetAndDestroy()
  }
  const posts = () => reported.filter(({ method }) => method === 'POST')
  for (let wait = 0; posts().length < sent && wait < 1_000; wait++) await delay(10)
  const created = posts().filter(({ status }) => status === 201)
  t.is(created.length, await service.database.client.prisma.planet.count())
  t.is(posts().length, sent)
  t.is(new Set(posts().map(({ requestId }) => requestId)).size, sent)
  for (const { status } of posts()) t.true([201, 400].includes(status), String(status))
  t.deepEqual(service.faults, [])
})

test('a body whose connection is lost is reported as incomplete, and is no fault', async (t) => {
  const { service, reported } = await startReporting(t)
  for (const leave of ['resetAndDestroy', 'destroy', 'end'] as const) {
    const socket = await openConnection(service.origin)
    socket.on('error', () => {})
    socket.write(post(service, 'planets', { name: 'Half' }, 1_000))
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
  const { service, reported } = await startReporting(t)
  const socket = await openConnection(service.origin)
  socket.on('error', () => {}).pause()
  const request = 'GET /graphql/explorer/graphiql.js HTTP/1.1\r\nHost: x\r\n\r\n'
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
