import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test from 'ava'
import { OperationLimiter } from '../../src/graph/execution/operation-limiter.ts'
import type { AnsweredRequest } from '../../src/http/access-log.ts'
import { startTestService } from '../helpers/service.ts'

const limits = { concurrent: 2, waiting: 3, deadline: 60_000, responses: 1_000_000, callerShare: 1 }

/** Work that ends when it is told to. */
function controlled() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { end, work: () => ended }
}

test('work beyond the limits is refused at once, and accepted again when there is capacity', async (t) => {
  const limiter = new OperationLimiter(limits)
  const { end, work } = controlled()
  const accepted = Array.from({ length: 5 }, () => limiter.run('a', work))
  t.deepEqual([limiter.running, limiter.waiting], [2, 3])
  await t.throwsAsync(limiter.run('a', work), { message: /overloaded/ })
  t.true(limiter.isFull())
  end()
  await Promise.all(accepted)
  t.deepEqual([limiter.running, limiter.waiting], [0, 0])
  t.is(await limiter.run('a', async () => 7), 7)
})

test('work beyond the deadline fails for its caller, but keeps its slot until it ends', async (t) => {
  const limiter = new OperationLimiter({ ...limits, deadline: 10 })
  const { end, work } = controlled()
  await t.throwsAsync(limiter.run('a', work), { message: /took too long/ })
  t.is(limiter.running, 1)
  end()
  await new Promise((resolve) => setImmediate(resolve))
  t.is(limiter.running, 0)
})

test('work beyond the deadline that still waits never starts', async (t) => {
  const limiter = new OperationLimiter({ ...limits, concurrent: 1, waiting: 1, deadline: 10 })
  const { end, work } = controlled()
  let begun = false
  const running = limiter.run('a', work)
  const waiting = limiter.run('a', async () => {
    begun = true
  })
  const outcomes = await Promise.allSettled([running, waiting])
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  end()
  await new Promise((resolve) => setImmediate(resolve))
  t.is(limiter.running, 0)
  t.false(begun)
})

test('work waits for the memory of its response, and releases it when it ends', async (t) => {
  const limiter = new OperationLimiter(limits)
  const { end, work } = controlled()
  const reserving = limiter.run('a', async (turn) => {
    await turn.reserve(900_000)
    await work()
  })
  let isReserved = false
  const waiting = limiter.run('b', async (turn) => {
    await turn.reserve(200_000)
    isReserved = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.false(isReserved)
  end()
  await Promise.all([reserving, waiting])
  t.true(isReserved)
})

test('a response that is not sent yet leaves less memory for others', async (t) => {
  const limiter = new OperationLimiter({ ...limits, deadline: 50, callerShare: 0.5 })
  const sent = limiter.holdResponse('a', 400_000)
  const reserve = (caller: string) => limiter.run(caller, (turn) => turn.reserve(300_000))
  await t.throwsAsync(reserve('a'), { message: /took too long/ })
  await t.notThrowsAsync(reserve('b'))
  sent()
  await t.notThrowsAsync(reserve('a'))
})

test('work that fails releases its slot', async (t) => {
  const limiter = new OperationLimiter(limits)
  await t.throwsAsync(
    limiter.run('a', () => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.is(limiter.running, 0)
})

test('a load of many times the capacity is partly refused with 503, and health still responds', async (t) => {
  const reported: AnsweredRequest[] = []
  const { reader, anonymous, origin } = await startTestService(
    t,
    { concurrentOperations: 1, waitingOperations: 2 },
    { reportRequest: (request) => reported.push(request) },
  )
  const answers = await Promise.all(Array.from({ length: 200 }, () => reader.get('/species')))
  const statuses = new Set(answers.map(({ status }) => status))
  t.deepEqual([...statuses].sort(), [200, 503])
  const refused = answers.filter(({ status }) => status === 503)
  const shapes = refused.map(({ headers, body }) => JSON.stringify([withoutOwn(headers), body]))
  t.is(new Set(shapes).size, 1, 'those refused early are told the same')
  t.is(refused[0]?.headers.get('retry-after'), '1')
  t.is(refused[0]?.headers.get('cache-control'), 'no-store')
  t.is(refused[0]?.body.error.code, 'SERVICE_UNAVAILABLE')
  const ids = refused.map(({ headers }) => headers.get('x-request-id'))
  t.is(new Set(ids).size, refused.length)
  const shed = reported.filter(({ status }) => status === 503)
  t.deepEqual(shed.map(({ requestId }) => requestId).sort(), [...ids].sort())
  t.true(shed.every(({ route, method }) => route === '/api/v1/species' && method === 'GET'))
  t.is((await anonymous.get(`${origin}/health/ready`)).status, 200)
  t.is((await reader.get('/species')).status, 200)
})

test('a caller that takes more than its share is refused, and others are served', async (t) => {
  const service = await startTestService(t, {
    concurrentOperations: 2,
    waitingOperations: 4,
    callerShare: 50,
  })
  const greedy = service.withSubject('greedy')
  await service.withSubject('honest').get('/species')
  const flood = Promise.all(Array.from({ length: 200 }, () => greedy.get('/species')))
  const honest = []
  for (let count = 0; count < 20; count++) honest.push(await service.withSubject('honest').get('/species'))
  t.deepEqual([...new Set(honest.map(({ status }) => status))], [200])
  const statuses = (await flood).map(({ status }) => status)
  t.deepEqual([...new Set(statuses)].sort(), [200, 503])
})

test('a caller that leaves its responses unread is refused more of them, and others are served', async (t) => {
  const service = await startTestService(t, {
    responseMemory: 16,
    databaseTimeout: 4_000,
    maxPageSize: 400,
  })
  await service.database.client.mission.createMany({
    data: Array.from({ length: 400 }, (_, number) => ({
      id: `m${number}`,
      name: `mission ${number}`,
      status: 'planned',
      objective: '世'.repeat(10_000),
    })),
  })
  const greedy = service.withSubject('greedy')
  const unread = Array.from({ length: 2 }, () => openUnread(service.base, greedy.authorization ?? ''))
  t.teardown(() => unread.forEach((socket) => void socket.destroy()))
  await Promise.all(unread.map((socket) => once(socket, 'readable')))
  t.is((await greedy.get('/missions?limit=400')).status, 503)
  t.is((await service.withSubject('honest').get('/missions?limit=20')).status, 200)
  for (const socket of unread) socket.resume()
  await Promise.all(unread.map((socket) => once(socket, 'close')))
  t.is((await greedy.get('/missions?limit=400')).status, 200)
})

/** A connection that asks for a long list and takes no more of it than its buffers do. */
function openUnread(base: string, authorization: string): Socket {
  const { hostname, port, pathname } = new URL(base)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(
    `GET ${pathname}/missions?limit=400 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
  )
  return socket
}

test('a caller beyond the rate gets Retry-After, and others are not limited', async (t) => {
  const service = await startTestService(t, { rateLimit: 3 })
  const caller = service.withScope('species:read')
  const answers = []
  for (let count = 0; count < 4; count++) answers.push(await caller.get('/species'))
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 429],
  )
  const [first, , , last] = answers
  t.is(first?.headers.get('ratelimit-policy'), '"caller";q=3;w=60')
  t.regex(first?.headers.get('ratelimit') ?? '', /^"caller";r=2;t=\d+$/)
  t.is(last?.body.error.code, 'TOO_MANY_REQUESTS')
  t.true(Number(last?.headers.get('retry-after')) > 0)
  t.is((await service.withScope('planets:read').get('/planets')).status, 200)
})

test('a caller without a subject is counted as one, however the header spells the token', async (t) => {
  const service = await startTestService(t, { rateLimit: 2 })
  const caller = service.withScope('species:read')
  const token = caller.authorization?.split(' ')[1]
  const statuses = []
  for (const authorization of [`Bearer ${token}`, `bearer   ${token}`, `BEARER ${token}`]) {
    statuses.push((await caller.get('/species', { authorization })).status)
  }
  t.deepEqual(statuses, [200, 200, 429])
})

/** The headers of an answer but for those that are its own. */
function withoutOwn(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
}
