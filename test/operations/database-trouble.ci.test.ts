import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { retryPatiently } from '../../src/database/connection.ts'
import { DomainError } from '../../src/model/errors.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import type { Client } from '../helpers/service/client.ts'
import { startTestService, type TestService } from '../helpers/service/service.ts'
import { startServiceOverLink } from '../helpers/service/service-over-link.ts'
import { untilStatus } from '../helpers/service/until-status.ts'

const server = findServer((reason) => console.log(`database trouble: ${reason}`))
const claim = server ? test : test.skip

const serviceOverLink = (t: ExecutionContext, databasePoolSize = 4) =>
  startServiceOverLink(t, server, { databasePoolSize, databaseTimeout: 1_500 })

const species = (name: string) => ({ scientific_name: name, planet_origin: `Planet of ${name}` })

/** Every kind of request, all at once. */
async function askEverything({ writer }: TestService, name: string) {
  const answers = await Promise.all([
    writer.get('/species'),
    writer.get('/species/none'),
    writer.post('/species', species(name)),
    writer.put(`/species/${name}`, { ...species(`${name} put`), id: name }),
    writer.patch('/species/none', { habitat: 'x' }),
    writer.delete('/planets/none'),
  ])
  return answers
}

async function isUnavailable(t: ExecutionContext, service: TestService, name: string): Promise<void> {
  for (const { status, headers, body } of await askEverything(service, name)) {
    t.is(status, 503)
    t.is(body.error.code, 'SERVICE_UNAVAILABLE')
    t.truthy(headers.get('retry-after'))
  }
  const { status, errors } = await service.writer.graphql('{ speciesPage { totalCount } }')
  t.true(status === 503 || errors?.[0].extensions.code === 'SERVICE_UNAVAILABLE')
  t.is((await service.anonymous.get(`${service.origin}/health/live`)).status, 200)
  t.is((await service.anonymous.get(`${service.origin}/health/ready`)).status, 503)
}

/** On a busy machine, a request can take longer than the service waits for its database. */
async function serves(t: ExecutionContext, { get }: Client): Promise<void> {
  t.is((await untilStatus(200, () => get('/species'))).status, 200)
}

async function recovers(t: ExecutionContext, { anonymous, writer, origin }: TestService): Promise<void> {
  const until = Date.now() + 30_000
  while ((await anonymous.get(`${origin}/health/ready`)).status !== 200 && Date.now() < until) await delay(20)
  for (let round = 0; round < 8; round++) await serves(t, writer)
  let attempt = 0
  const create = () => writer.post('/species', species(`back again ${attempt++}`))
  t.is((await untilStatus(201, create)).status, 201)
}

claim('a write that the timeout cancels is sent once', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const { writer } = await startTestService(t, { databaseUrl, databaseTimeout: 3_000 })
  await writer.put('/planets/held', { id: 'held', name: 'Held' })
  const holder = new pg.Client({ connectionString: databaseUrl })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query("BEGIN; SELECT FROM public.planets WHERE id = 'held' FOR UPDATE")
  t.is((await writer.patch('/planets/held', { habitable: true })).status, 503)
  // If it was sent again, it waits for the row again, and then changes it.
  await delay(500)
  await holder.query('ROLLBACK')
  await delay(500)
  t.is((await writer.get('/planets/held')).body.habitable, undefined)
  t.is((await writer.patch('/planets/held', { habitable: true })).status, 204)
})

test('a start repeats what the database does not answer, as long as it waits, and nothing else', async (t) => {
  const unanswered = new DomainError('SERVICE_UNAVAILABLE', 'The database is not responding.')
  const isTemporary = (error: Error) => error === unanswered
  const reports: string[] = []
  const patience = { seconds: 60, report: (reason: string) => void reports.push(reason) }
  const answers = [() => Promise.reject(unanswered), () => Promise.resolve('answered')]
  t.is(await retryPatiently(patience, isTemporary, async () => answers.shift()?.()), 'answered')
  t.deepEqual(reports, [unanswered.message])
  t.is(
    await t.throwsAsync(
      retryPatiently({ ...patience, seconds: 0 }, isTemporary, () => Promise.reject(unanswered)),
    ),
    unanswered,
  )
  const other = new Error('The database refuses this.')
  let calls = 0
  const refuse = () => Promise.reject(calls++ === 0 ? other : unanswered)
  t.is(await t.throwsAsync(retryPatiently(patience, isTemporary, refuse)), other)
})

claim('a server that is down is a 503 to every request, and forgotten when it is back', async (t) => {
  const { service, link } = await serviceOverLink(t)
  await serves(t, service.writer)
  link.set('down')
  await isUnavailable(t, service, 'down')
  link.set('open')
  await recovers(t, service)
})

claim('a server whose packets vanish is a 503 to every request, and forgotten when it is back', async (t) => {
  const { service, link } = await serviceOverLink(t)
  await askEverything(service, 'before')
  link.set('black hole')
  await isUnavailable(t, service, 'vanished')
  link.set('open')
  await recovers(t, service)
})

claim('connections reset in the middle of their work are 503s, and the next ones serve', async (t) => {
  const { service, link } = await serviceOverLink(t)
  const working = Array.from({ length: 40 }, (_, index) =>
    service.writer.post('/species', species(`s${index}`)),
  )
  link.reset()
  const statuses = (await Promise.all(working)).map(({ status }) => status)
  t.deepEqual(
    statuses.filter((status) => status !== 201 && status !== 503),
    [],
  )
  await recovers(t, service)
})

claim('connections reset over and over, under reads and writes, are 503s at worst', async (t) => {
  const { service, link } = await serviceOverLink(t)
  const timer = setInterval(link.reset, 20)
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    const statuses: number[] = []
    for (let round = 0; round < 8; round++) {
      statuses.push((await service.reader.get('/species')).status)
      statuses.push((await service.reader.get('/planets/nowhere')).status)
      statuses.push((await service.writer.post('/species', species(`s${caller} ${round}`))).status)
    }
    return statuses
  })
  const statuses = new Set((await Promise.all(callers)).flat())
  clearInterval(timer)
  t.deepEqual(
    [...statuses].filter((status) => ![200, 201, 404, 503].includes(status)),
    [],
  )
  await recovers(t, service)
})

claim('a creation that the database has executed is not repeated when its response is lost', async (t) => {
  const { service, link, direct } = await serviceOverLink(t)
  const database = new pg.Client({ connectionString: direct })
  database.on('error', () => {})
  await database.connect()
  const isTrue = async (condition: string) => {
    const until = Date.now() + 30_000
    while (Date.now() < until) {
      if ((await database.query(`SELECT ${condition} AS it`)).rows[0].it) return true
      await delay(20)
    }
    return false
  }
  await database.query('BEGIN; LOCK TABLE public.species IN SHARE MODE')
  const response = service.writer.post('/species', { scientific_name: 'Lost on the way' })
  t.true(
    // The databases of other tests are copies of the same template, whose tables have the same identifiers.
    await isTrue(`EXISTS (SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE NOT granted AND datname = current_database() AND relation = 'public.species'::regclass)`),
  )
  link.set('mute')
  await database.query('ROLLBACK')
  t.true(await isTrue('EXISTS (SELECT FROM public.species)'))
  link.set('open')
  link.reset()
  t.is((await response).status, 503)
  t.deepEqual((await database.query('SELECT count(*)::int AS count FROM public.species')).rows, [
    { count: 1 },
  ])
  await database.end()
})

claim('sessions that an administrator ends are 503s at most, and the next ones serve', async (t) => {
  const { service, direct } = await serviceOverLink(t)
  const administrator = new pg.Client({ connectionString: direct })
  await administrator.connect()
  const working = Array.from({ length: 40 }, (_, index) =>
    service.writer.post('/species', species(`s${index}`)),
  )
  await administrator.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await administrator.end()
  const statuses = (await Promise.all(working)).map(({ status }) => status)
  t.deepEqual(
    statuses.filter((status) => status !== 201 && status !== 503),
    [],
  )
  await recovers(t, service)
})

claim(
  'a pool whose sessions all wait is a 503 to writers, and serves again once they are free',
  async (t) => {
    const { service, direct } = await serviceOverLink(t, 2)
    const locker = new pg.Client({ connectionString: direct })
    await locker.connect()
    await locker.query(
      'BEGIN; LOCK TABLE public.species, public.planets, public_internal.tombstones IN ACCESS EXCLUSIVE MODE',
    )
    for (const { status } of await askEverything(service, 'locked')) t.is(status, 503)
    t.is((await service.anonymous.get(`${service.origin}/health/live`)).status, 200)
    await locker.query('ROLLBACK')
    await locker.end()
    await recovers(t, service)
  },
)

/** PostgreSQL, appendix A: a database with connections is not renamed. */
const OBJECT_IN_USE = '55006'

for (const [trouble, begin, end, suffix] of [
  ['that refuses connections', 'ALLOW_CONNECTIONS false', 'ALLOW_CONNECTIONS true', ''],
  ['that does not exist', 'RENAME TO "{}_gone"', 'RENAME TO "{}"', '_gone'],
] as const) {
  claim(`a database ${trouble} is a 503 to every request, and forgotten when it is back`, async (t) => {
    const { service, direct } = await serviceOverLink(t)
    await askEverything(service, 'before')
    const name = new URL(direct).pathname.slice(1)
    const administrator = new pg.Client({ connectionString: server })
    await administrator.connect()
    const disconnect = (database: string) =>
      administrator.query(
        'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1',
        [database],
      )
    // The service may connect again between two statements.
    const alter = async (from: string, to: string, change: string): Promise<void> => {
      await disconnect(from)
      try {
        await administrator.query(`ALTER DATABASE "${from}" ${change.replace('{}', name)}`)
      } catch (error) {
        if ((error as pg.DatabaseError).code !== OBJECT_IN_USE) throw error
        return alter(from, to, change)
      }
      await disconnect(to)
    }
    await alter(name, name + suffix, begin)
    await isUnavailable(t, service, 'gone')
    await alter(name + suffix, name, end)
    await administrator.end()
    await recovers(t, service)
  })
}

for (const [state, trouble] of Object.entries({
  '53100': 'a full disk',
  '53300': 'too many connections',
  '57P03': 'a server that starts up',
  '25006': 'a server that only reads',
})) {
  claim(`${trouble} is a 503`, async (t) => {
    const { service, direct } = await serviceOverLink(t)
    const client = new pg.Client({ connectionString: direct })
    await client.connect()
    await client.query(`
      CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = '${state}'; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON public.species EXECUTE FUNCTION public.fail()`)
    await client.end()
    const { status, body } = await service.writer.post('/species', species('unlucky'))
    t.deepEqual([status, body.error.code], [503, 'SERVICE_UNAVAILABLE'])
    await serves(t, service.writer)
  })
}
