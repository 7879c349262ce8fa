import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import type { AnsweredRequest } from '../../../src/http/access-log.ts'
import { createDatabaseOn, findServer } from '../../helpers/database/postgres-server.ts'
import { flood } from '../../helpers/load/flood.ts'
import { openConnection } from '../../helpers/process/raw-connection.ts'
import type { Client } from '../../helpers/service/client.ts'
import { startTestService, type TestService } from '../../helpers/service/service.ts'
import { untilStatus } from '../../helpers/service/until-status.ts'

const server = findServer((reason) => console.log(`a locked table: ${reason}`))
const onServer = server ? test : test.skip

/** Work that ends when it is told to. */
function controlled() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { end, work: () => ended }
}

test('an operation beyond the deadline sends no further statement', async (t) => {
  const { reader, database } = await startTestService(t, { databaseTimeout: 1_000 })
  await database.client.prisma.planet.create({ data: { id: 'late', name: 'Late' } })
  const sent: string[] = []
  const { end, work } = controlled()
  const { pool } = database
  const query = pool.query.bind(pool) as (statement: { text: string }) => Promise<unknown>
  Object.assign(pool, {
    query: async (statement: { text: string }) => {
      sent.push(statement.text)
      const rows = await query(statement)
      if (statement.text.includes('"planets"')) await work()
      return rows
    },
  })
  t.is((await reader.graphql('{ planet(id: "late") { hasAtmosphere } }')).status, 503)
  end()
  await reader.get('/planets/never')
  t.true(sent.some((text) => text.includes('"planets"')))
  t.false(sent.some((text) => text.includes('atmosphere')))
})

onServer('on PostgreSQL, a batch that is told 503 at its deadline is not stored', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const own = await startTestService(t, {
    databaseUrl,
    databaseTimeout: 4_000,
    loadCapacity: 1,
    callerShare: 1,
  })
  const { writer, reader, database } = own
  const { pool } = database
  const { end, work } = controlled()
  const query = pool.query.bind(pool) as (statement: unknown) => Promise<unknown>
  const isRead = new Promise<void>((resolve) => {
    Object.assign(pool, {
      query: async (statement: unknown) => {
        const rows = await query(statement)
        resolve()
        await work()
        return rows
      },
    })
  })
  const reading = reader.get('/planets')
  await isRead
  const holder = await pool.connect()
  await holder.query('BEGIN')
  await holder.query('LOCK TABLE planets')
  const planets = ['told', 'late'].map((id) => ({
    method: 'PUT',
    path: `/planets/${id}`,
    body: { id, name: id },
  }))
  const batch = writer.post('/batch', { operations: planets })
  // It waits for the read, so its transaction may last longer than it.
  await delay(2_500)
  end()
  t.is((await reading).status, 200)
  t.is((await batch).status, 503)
  await holder.query('ROLLBACK')
  holder.release()
  // This waits for the batch.
  t.is((await writer.put('/planets/next', { id: 'next', name: 'Next' })).status, 201)
  t.is((await reader.get('/planets')).body.total_count, 1)
})

test('a load of many times the capacity is partly refused with 503, and health still responds', async (t) => {
  const reported: AnsweredRequest[] = []
  const { reader, anonymous, origin, database } = await startTestService(
    t,
    { loadCapacity: 1, callerShare: 1 },
    { reportRequest: (request) => reported.push(request) },
  )
  const answers = await flood(database, 200, () => reader.get('/species'))
  const statuses = new Set(answers.map(({ status }) => status))
  t.deepEqual([...statuses].sort(), [200, 503])
  const refused = answers.filter(({ status }) => status === 503)
  const shapes = refused.map(({ headers, body }) => JSON.stringify([withoutOwn(headers), body]))
  t.is(new Set(shapes).size, 1)
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

test('scripts of other origins can read a refusal, also after one to a request without an origin', async (t) => {
  const { reader, database } = await startTestService(t, { loadCapacity: 1, callerShare: 1 })
  await flood(database, 12, () => reader.get('/species'))
  const headers = { origin: 'https://dashboard.example' }
  const answers = await flood(database, 12, () => reader.get('/species', headers))
  const refused = answers.filter(({ status }) => status === 503)
  for (const { headers } of refused) {
    t.is(headers.get('access-control-allow-origin'), '*')
    t.is(headers.get('access-control-expose-headers'), '*')
  }
})

test('a caller that takes more than its share is refused, and others are served', async (t) => {
  const service = await startTestService(t, {
    loadCapacity: 8,
    callerShare: 4,
  })
  const greedy = service.withSubject('greedy')
  await service.withSubject('honest').get('/species')
  const flooding = flood(service.database, 200, () => greedy.get('/species'))
  const honest = []
  for (let count = 0; count < 20; count++) honest.push(await service.withSubject('honest').get('/species'))
  t.deepEqual([...new Set(honest.map(({ status }) => status))], [200])
  const statuses = (await flooding).map(({ status }) => status)
  t.deepEqual([...new Set(statuses)].sort(), [200, 503])
})

onServer(
  'while the requests of one caller wait for a locked table, those of others for other tables are served',
  async (t) => {
    const { service, locker } = await startLockable(t)
    const honest = service.withSubject('honest')
    // Reads the sizes of the tables, which waits for their locks.
    t.is((await honest.get('/species?sort=habitat:asc')).status, 200)
    await locker.query('BEGIN; LOCK TABLE public.planets IN ACCESS EXCLUSIVE MODE')
    const greedy = service.withSubject('greedy')
    const pages = Array.from(
      { length: 10 },
      (_, index) => `a${index}: planetPage(filter: { name: { equals: "${index}" } }) { totalCount }`,
    )
    const waiting = Array.from({ length: 10 }, (_, index) => [
      greedy.get(`/planets?limit=${index + 1}`),
      greedy.get(`/planets/p${index}`),
      greedy.post('/planets', { name: `p${index}` }),
      greedy.graphql(`{ ${pages.join(' ')} }`),
    ]).flat()
    await until(async () => (await waitingForLocks(locker)) >= 2)
    for (const path of ['/species', '/species?sort=habitat:asc', '/missions']) {
      t.is((await honest.get(path)).status, 200, path)
    }
    t.is((await honest.post('/spacecraft', { name: 'Served', kind: 'rover' })).status, 201)
    t.true((await waitingForLocks(locker)) > 0, 'the others still wait')
    await locker.query('ROLLBACK')
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    t.deepEqual([...new Set(statuses)].sort(), [200, 201, 404])
  },
)

onServer('a caller that is alone leaves two connections to the next one', async (t) => {
  const { service, locker } = await startLockable(t)
  const greedy = service.withSubject('greedy')
  t.is((await greedy.get('/planets')).status, 200)
  await delay(1_100)
  await locker.query('BEGIN; LOCK TABLE public.planets IN ACCESS EXCLUSIVE MODE')
  const waiting = Array.from({ length: 20 }, (_, index) => greedy.get(`/planets?limit=1&page=${index + 1}`))
  await until(async () => (await waitingForLocks(locker)) >= 8)
  t.is((await service.withSubject('honest').get('/missions')).status, 200)
  t.is(await waitingForLocks(locker), 8)
  await locker.query('ROLLBACK')
  for (const { status } of await Promise.all(waiting)) t.is(status, 200)
})

onServer('beside a caller that reads single resources, another one reads one list at a time', async (t) => {
  const { service, locker } = await startLockable(t)
  const [greedy, honest] = [service.withSubject('greedy'), service.withSubject('honest')]
  t.is((await greedy.get('/planets')).status, 200)
  // As long as it takes until a caller is alone.
  for (let number = 0; number < 24; number++) {
    t.is((await honest.get('/species/none')).status, 404)
    await delay(50)
  }
  await locker.query('BEGIN; LOCK TABLE public.planets IN ACCESS EXCLUSIVE MODE')
  const waiting = Array.from({ length: 20 }, (_, index) => greedy.get(`/planets?limit=1&page=${index + 1}`))
  await until(async () => (await waitingForLocks(locker)) >= 1)
  t.is((await honest.get('/species/none')).status, 404)
  t.is(await waitingForLocks(locker), 1)
  await locker.query('ROLLBACK')
  await Promise.all(waiting)
})

/** A service with ten connections to a database of its own, and a session that can lock its tables. */
async function startLockable(t: ExecutionContext) {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const settings = { databaseUrl, databasePoolSize: 10, loadCapacity: 64, callerShare: 8 }
  const service = await startTestService(t, settings)
  const locker = new pg.Client({ connectionString: databaseUrl })
  await locker.connect()
  locker.on('error', () => {})
  t.teardown(() => locker.end())
  return { service, locker }
}

async function waitingForLocks(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    'SELECT count(DISTINCT pid)::int AS count FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())',
  )
  return rows[0].count
}

async function until(isReached: () => Promise<boolean>): Promise<void> {
  for (let wait = 0; !(await isReached()); wait++) {
    if (wait === 1_000) throw new Error('the requests do not wait for the lock')
    await delay(20)
  }
}

test('a caller that leaves its responses unread is refused more of them, and others are served', async (t) => {
  const service = await startTestService(t, {
    loadCapacity: 16,
    callerShare: 8,
    databaseTimeout: 4_000,
    maximumPageSize: 400,
  })
  await createLongMissions(service)
  const greedy = service.withSubject('greedy')
  const unread = Array.from({ length: 2 }, () => openUnread(greedy, `${service.base}/missions?limit=400`))
  t.teardown(() => unread.forEach((socket) => void socket.destroy()))
  await Promise.all(unread.map((socket) => once(socket, 'readable')))
  const query = '{ missionPage(limit: 400) { items { objective } } }'
  const refused = await Promise.all([greedy.get('/missions?limit=400'), greedy.graphql(query)])
  t.deepEqual(
    refused.map(({ status }) => status),
    [503, 503],
  )
  // On a busy machine, one attempt can take longer than the service waits.
  const served = async (path: string, caller: Client) =>
    t.is((await untilStatus(200, () => caller.get(path))).status, 200)
  await served('/missions?limit=20', service.withSubject('honest'))
  for (const socket of unread) socket.resume()
  await Promise.all(unread.map((socket) => once(socket, 'close')))
  await served('/missions?limit=400', greedy)
})

test('a caller whose large bodies do not end is refused more of them, and others are served', async (t) => {
  const service = await startTestService(t, { loadCapacity: 4, callerShare: 2 })
  const greedy = service.withSubject('greedy')
  // Two are read, eight wait, and one is too many.
  const sockets = await Promise.all(Array.from({ length: 11 }, () => openConnection(service.origin)))
  t.teardown(() => sockets.forEach((socket) => void socket.destroy()))
  const { pathname } = new URL(service.base)
  const head = `POST ${pathname}/species HTTP/1.1\r\nHost: x\r\nAuthorization: ${greedy.authorization}\r\n`
  for (const socket of sockets) {
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 20000\r\n\r\n{`)
  }
  const [answer] = await Promise.race(sockets.map((socket) => once(socket, 'data')))
  t.regex(String(answer), /^HTTP\/1.1 503 /)
  const large = { scientific_name: 'x'.repeat(20_000) }
  t.is((await greedy.post('/species', large)).status, 503)
  t.is((await service.withSubject('honest').post('/species', large)).status, 400)
  for (const socket of sockets) socket.destroy()
  // The service learns of the lost connections later than this test.
  t.is((await untilStatus(400, () => greedy.post('/species', large))).status, 400)
})

/** A connection that asks for a long list and takes no more of it than its buffers do. */
const SUBSCRIPTION = 'subscription { missionChanged(since: "MA") { resource } }'

for (const [what, path, headers, body] of [
  ['feed', '/api/v1/changes?collection=missions', {}, ''],
  [
    'subscription',
    '/graphql',
    { 'Content-Type': 'application/json' },
    JSON.stringify({ query: SUBSCRIPTION }),
  ],
] as const) {
  test(`the unread stream of a ${what} counts among the responses of its caller`, async (t) => {
    const limits = { loadCapacity: 16, callerShare: 8, databaseTimeout: 2_000, maximumPageSize: 400 }
    const service = await startTestService(t, limits)
    await createLongMissions(service)
    const greedy = service.withSubject('greedy')
    const unread = openUnread(
      greedy,
      service.origin + path,
      { ...headers, Accept: 'text/event-stream' },
      body,
    )
    t.teardown(async () => void unread.destroy())
    await once(unread, 'readable')
    // Long enough for the estimate, and short to send.
    const long = '{ missionPage(limit: 400, filter: { id: { equals: "none" } }) { items { objective } } }'
    t.is((await untilStatus(503, () => greedy.graphql(long))).status, 503)
    t.is((await untilStatus(200, () => service.withSubject('honest').graphql(long))).status, 200)
    unread.destroy()
    t.is((await untilStatus(200, () => greedy.graphql(long))).status, 200)
  })
}

/** 12 MB of missions. */
async function createLongMissions({ database }: TestService): Promise<void> {
  await database.client.prisma.mission.createMany({
    data: Array.from({ length: 400 }, (_, number) => ({
      id: `m${number}`,
      name: `mission ${number}`,
      status: 'planned',
      objective: '世'.repeat(10_000),
    })),
  })
}

/** Sends a request whose response nobody reads. */
function openUnread(client: Client, url: string, headers: Record<string, string> = {}, body = ''): Socket {
  const { hostname, port, pathname, search } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const all = {
    Host: 'x',
    Authorization: client.authorization,
    Connection: 'close',
    'Content-Length': body.length,
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const method = body === '' ? 'GET' : 'POST'
  socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
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
