import test from 'ava'
import { Admission } from '../../src/graph/admission.ts'
import type { AnsweredRequest } from '../../src/rest/observe.ts'
import { startTestService } from '../helpers/service.ts'

const limits = { concurrent: 2, waiting: 3, deadline: 60_000 }

/** Work that ends when it is told to. */
function controlled() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { end, work: () => ended }
}

test('work beyond the limits is refused at once, and let in again when there is room', async (t) => {
  const admission = new Admission(limits)
  const { end, work } = controlled()
  const accepted = Array.from({ length: 5 }, () => admission.run(work))
  t.deepEqual([admission.running, admission.waiting], [2, 3])
  await t.throwsAsync(admission.run(work), { message: /more to do than it can/ })
  t.true(admission.isFull)
  end()
  await Promise.all(accepted)
  t.deepEqual([admission.running, admission.waiting], [0, 0])
  t.is(await admission.run(async () => 7), 7)
})

test('late work is given up by its caller, but keeps its place until it ends', async (t) => {
  const admission = new Admission({ ...limits, deadline: 10 })
  const { end, work } = controlled()
  await t.throwsAsync(admission.run(work), { message: /took too long/ })
  t.is(admission.running, 1)
  end()
  await new Promise((resolve) => setImmediate(resolve))
  t.is(admission.running, 0)
})

test('work whose caller gave up while it waited is never begun', async (t) => {
  const admission = new Admission({ concurrent: 1, waiting: 1, deadline: 10 })
  const { end, work } = controlled()
  let begun = false
  const late = admission.run(async () => {
    begun = true
  })
  const first = admission.run(work)
  await t.throwsAsync(Promise.all([first, late].reverse()))
  end()
  await new Promise((resolve) => setImmediate(resolve))
  t.is(admission.running, 0)
  t.true(begun)
})

test('work that fails makes room all the same', async (t) => {
  const admission = new Admission(limits)
  await t.throwsAsync(
    admission.run(() => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.is(admission.running, 0)
})

test('many times what the service takes on is partly answered 503, and health still answers', async (t) => {
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

test('a caller beyond the rate is told when to come back, and others are not', async (t) => {
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
