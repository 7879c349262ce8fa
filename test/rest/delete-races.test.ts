import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type pg from 'pg'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import type { Answer } from '../helpers/service/client.ts'
import { shareTestService, startTestService, type TestService } from '../helpers/service/service.ts'

// Another writer commits between the moment at which a request looks at the row and its own statement.
const server = findServer((reason) => console.log(`a row held by another session: ${reason}`))
const onServer = server ? test.serial : test.skip

const service = shareTestService(test)

/** Every kind of deletion: of a resource without a guard, of one with a guard, of an owned one. */
const PATHS = ['/planets/held', '/spacecraft/held', '/planets/parent/moons/held']

onServer('a DELETE whose If-Match was overtaken is 409, and the resource stays', async (t) => {
  const on = await serviceOnServer(t)
  for (const path of PATHS) {
    const held = await hold(on, path)
    const deletion = on.writer.delete(path, { 'If-Match': held.tag })
    await held.commitOnceWaitedFor(1)
    t.is((await deletion).status, 409, path)
    const { status, body } = await on.writer.get(path)
    t.deepEqual([status, body.name], [200, 'Changed meanwhile'])
  }
})

onServer('a PATCH and a PUT whose If-Match was overtaken are 409, and change nothing', async (t) => {
  const on = await serviceOnServer(t)
  for (const path of PATHS) {
    const held = await hold(on, path)
    const condition = { 'If-Match': held.tag }
    const writes = [
      on.writer.patch(path, { name: 'Patched' }, condition),
      on.writer.put(path, { ...held.body, name: 'Put' }, condition),
    ]
    await held.commitOnceWaitedFor(2)
    for (const { status } of await Promise.all(writes)) t.is(status, 409, path)
    t.is((await on.writer.get(path)).body.name, 'Changed meanwhile')
  }
})

onServer('a DELETE without a condition happens after the write that was faster', async (t) => {
  const on = await serviceOnServer(t)
  for (const path of PATHS) {
    const held = await hold(on, path)
    const deletion = on.writer.delete(path)
    await held.commitOnceWaitedFor(1)
    t.is((await deletion).status, 204, path)
    t.is((await on.writer.get(path)).status, 410)
  }
})

onServer('of a join and a smaller crew_capacity that race only one succeeds', async (t) => {
  const { writer, database } = await serviceOnServer(t)
  await writer.put('/spacecraft/craft', { id: 'craft', name: 'Craft', kind: 'capsule', crew_capacity: 2 })
  await writer.put('/missions/open', { id: 'open', name: 'Open', spacecraft_id: 'craft' })
  const astronauts = [1, 2].map((number) => writer.post('/astronauts', { name: `Astronaut ${number}` }))
  const [first, second] = (await Promise.all(astronauts)).map(({ body }) => body.id)
  const join = (id: string) => writer.post('/missions/open/crew', { astronaut_id: id, role: 'pilot' })
  t.is((await join(first)).status, 201)
  const session = await database.pool.connect()
  await session.query('BEGIN')
  await session.query('SELECT FROM astronauts WHERE id = $1 FOR UPDATE', [second])
  // The astronaut is the last row that a join looks at.
  const joining = join(second)
  while ((await waiting(database.pool)) < 1) await delay(10)
  let isAnswered = false
  const shrinking = writer.patch('/spacecraft/craft', { crew_capacity: 1 }).finally(() => {
    isAnswered = true
  })
  while (!isAnswered && (await waiting(database.pool)) < 2) await delay(10)
  await session.query('COMMIT')
  session.release()
  t.deepEqual([(await joining).status, (await shrinking).status], [201, 422])
})

test.serial('of a DELETE, a PUT and a PATCH that race with one If-Match exactly one succeeds', async (t) => {
  const { writer } = service()
  for (let round = 0; round < 6; round++) {
    const path = `/planets/raced-${round}`
    const body = { id: `raced-${round}`, name: `Raced ${round}` }
    const tag = (await writer.put(path, body)).headers.get('etag') as string
    const requests: (() => Promise<Answer>)[] = [
      () => writer.delete(path, { 'If-Match': tag, Prefer: 'handling=strict' }),
      () => writer.put(path, { ...body, host_star: 'Put' }, { 'If-Match': tag }),
      () => writer.patch(path, { host_star: 'Patched' }, { 'If-Match': tag }),
    ]
    const order = [0, 1, 2].map((place) => requests[(place + round) % 3] as () => Promise<Answer>)
    const answers = await Promise.all(order.map((send) => send()))
    const statuses = answers.map(({ status }) => status)
    t.is(statuses.filter((status) => status === 204).length, 1, `round ${round}: ${statuses}`)
  }
})

/** The database is on a server even where the other tests use the embedded one, which has a single session. */
async function serviceOnServer(t: Parameters<typeof startTestService>[0]): Promise<TestService> {
  return startTestService(t, { databaseUrl: await createDatabaseOn(server as string, t) })
}

interface Held {
  /** What the resource was before it was changed. */
  readonly tag: string
  readonly body: { readonly name: string }
  /** Commits the change as soon as so many statements wait for the row. */
  commitOnceWaitedFor(statements: number): Promise<void>
}

/** Makes a resource, and changes it in a transaction of another session that is still open. */
async function hold(service: TestService, path: string): Promise<Held> {
  const { writer, database } = service
  if (path.includes('moons')) await writer.put('/planets/parent', { id: 'parent', name: 'Parent' })
  const body = { id: 'held', name: 'Held', ...(path.includes('spacecraft') && { kind: 'rover' }) }
  const { headers } = await writer.put(path, body)
  const session = await database.pool.connect()
  await session.query('BEGIN')
  await session.query(`UPDATE ${path.split('/').at(-2)} SET name = 'Changed meanwhile' WHERE id = 'held'`)
  return {
    body,
    tag: headers.get('etag') as string,
    async commitOnceWaitedFor(statements) {
      while ((await waiting(database.pool)) < statements) await delay(10)
      await session.query('COMMIT')
      session.release()
    },
  }
}

async function waiting(pool: pg.Pool): Promise<number> {
  const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
  return (await pool.query(text)).rowCount ?? 0
}
