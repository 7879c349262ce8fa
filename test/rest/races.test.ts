import test from 'ava'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures, resourcePath } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import type { Client } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

// A deadlock takes two sessions, which only a server has.
const server = findServer((reason) => console.log(`swaps on PostgreSQL: ${reason}`))

// Each race has the database to itself.
const service = shareTestService(test)

const times = <Result>(count: number, make: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

for (const resource of representatives.filter((candidate) => candidate.replaceable)) {
  test.serial(
    `${resource.path}: of 20 simultaneous PUT-creates one is 201 and nineteen are 204`,
    async (t) => {
      const fixtures = new Fixtures(service().writer)
      const parentId = await fixtures.parent(resource)
      const address = resourcePath(resource, parentId, 'raced')
      const body = {
        ...(await fixtures.body(resource)),
        ...(resource.listed && { id: 'raced' }),
      }
      const answers = await times(20, () => service().writer.put(address, body))
      const statuses = answers.map(({ status }) => status).sort()
      t.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 204)])
      const tags = new Set(answers.map(({ headers }) => headers.get('etag')))
      t.deepEqual([...tags], [(await service().reader.get(address)).headers.get('etag')])
    },
  )
}

test.serial(
  'creates of one id with different bodies: the last one stands whole, and none is lost count of',
  async (t) => {
    const answers = await times(20, (index) =>
      service().writer.put('/species/mixed', {
        id: 'mixed',
        scientific_name: `Mixta ${index}`,
        habitat: `habitat ${index}`,
      }),
    )
    t.is(answers.filter(({ status }) => status === 201).length, 1)
    const { body, headers } = await service().reader.get('/species/mixed')
    t.is(headers.get('etag'), '"mixed:20"')
    t.is(body.habitat, body.scientific_name.replace('Mixta', 'habitat'))
  },
)

test.serial('of 20 simultaneous creates that may only create, one does and the rest are 412', async (t) => {
  const body = { id: 'only', scientific_name: 'Sola' }
  const answers = await times(20, () => service().writer.put('/species/only', body, { 'If-None-Match': '*' }))
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 19 }, () => 412)])
})

test.serial('of 20 simultaneous POSTs of one name one is 201 and the rest are 409', async (t) => {
  const answers = await times(20, () => service().writer.post('/planets', { name: 'Contested' }))
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 19 }, () => 409)])
})

test.serial(
  '8 clients that add to one number, with If-Match and again after 409, lose nothing',
  async (t) => {
    const { reader, writer } = service()
    const address = '/planets/counter'
    await writer.put(address, { id: 'counter', name: 'Counter', discovery_year: 0 })
    let acknowledged = 0
    await times(8, async () => {
      for (let added = 0; added < 4; ) {
        const { body, headers } = await reader.get(address)
        const tag = headers.get('etag') as string
        const { status } = await writer.put(
          address,
          { ...body, discovery_year: body.discovery_year + 1 },
          { 'If-Match': tag },
        )
        if (status === 409) continue
        t.is(status, 204)
        added += 1
        acknowledged += 1
      }
    })
    const { body, headers } = await reader.get(address)
    t.deepEqual([acknowledged, body.discovery_year, headers.get('etag')], [32, 32, '"counter:33"'])
  },
)

test.serial('writes without If-Match never fail because of other requests', async (t) => {
  const { reader, writer } = service()
  await writer.put('/species/busy', { id: 'busy', scientific_name: 'Occupata' })
  const answers = await times(20, (index) =>
    index % 2
      ? writer.patch('/species/busy', { habitat: `habitat ${index}` })
      : writer.patch('/species/busy', { classification: { class: `class ${index}` } }),
  )
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204]))
  const { body, headers } = await reader.get('/species/busy')
  t.is(headers.get('etag'), '"busy:21"')
  t.truthy(body.habitat && body.classification.class, 'neither overwrote what the other had set')
})

test.serial(
  'creates and deletes of one id at the same time: every answer is one of theirs, and versions only grow',
  async (t) => {
    const { reader, writer } = service()
    const body = { id: 'flicker', scientific_name: 'Intermittens' }
    const answers = await times(40, (index) =>
      index % 2 ? writer.delete('/species/flicker') : writer.put('/species/flicker', body),
    )
    t.deepEqual(
      answers.filter(({ status }) => status !== 201 && status !== 204).map(({ text }) => text),
      [],
    )
    const created = answers.filter(({ status }) => status === 201).map(({ headers }) => headers.get('etag'))
    t.is(new Set(created).size, created.length, 'no entity tag is given to two creations')
    t.true([200, 410].includes((await reader.get('/species/flicker')).status))
  },
)

test.serial('a list that is read while it grows has its count and its rows from one snapshot', async (t) => {
  const { reader, writer } = service()
  const filter = 'filter=habitat:growing&limit=100'
  let growing = true
  const grown = times(30, (index) =>
    writer.post('/species', { scientific_name: `Crescens ${index}`, habitat: 'growing' }),
  )
  grown.finally(() => {
    growing = false
  })
  while (growing) {
    const { body } = await reader.get(`/species?${filter}`)
    t.is(body._embedded.species.length, body.total_count)
  }
  await grown
  t.is((await reader.get(`/species?${filter}`)).body.total_count, 30)
})

test.serial(
  'a list has the write of its caller, also while an earlier read of it is under way',
  async (t) => {
    const { reader, writer, database } = service()
    const pool = database.pool as { query?: unknown }
    const query = database.pool.query.bind(database.pool) as (statement: object) => Promise<unknown>
    let end = () => {}
    const reading = new Promise<void>((started) => {
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      pool.query = async (statement: object) => {
        const rows = await query(statement)
        started()
        await ended
        return rows
      }
    })
    const earlier = reader.get('/spacecraft?limit=7')
    await reading
    delete pool.query
    t.is((await writer.post('/spacecraft', { name: 'Meanwhile', kind: 'rover' })).status, 201)
    const later = reader.get('/spacecraft?limit=7')
    // Not a list, because beside others, a caller reads one at a time.
    await reader.get('/spacecraft/none')
    end()
    t.is((await later).body.total_count, (await earlier).body.total_count + 1)
  },
)

/** Has every pair swap its values of a unique field, by so many callers on each side at once. */
async function swap(client: Client, resource: (typeof resources)[number], field: string, callers: number) {
  const fixtures = new Fixtures(client)
  const [one, other] = [await fixtures.create(resource), await fixtures.create(resource)]
  const take = (path: string, value: string) => client.patch(path, { [field]: value })
  return Promise.all(
    Array.from({ length: callers }, () => [
      take(one.path, other.body[field]),
      take(other.path, one.body[field]),
    ]).flat(),
  )
}

const swapped = resources.flatMap((resource) =>
  resource.leaves
    .filter(({ field }) => field.type === 'text' && field.unique)
    .map(({ name }) => ({ resource, name })),
)

for (const { resource, name } of swapped) {
  test(`${resource.path}: callers who swap a ${name} get RESOURCE_ALREADY_EXISTS`, async (t) => {
    const answers = await swap(service().writer, resource, name, 2)
    for (const { status, body } of answers) {
      t.is(status, 409)
      t.deepEqual(body.error.details[0], { ...body.error.details[0], field: name, code: 'DUPLICATE_VALUE' })
    }
  })
}

const onServer = server ? test : test.skip

onServer('a value that another transaction is giving up is taken, and is not waited for', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const { writer, database } = await startTestService(t, { databaseUrl, databaseTimeout: 15_000 })
  await writer.put('/planets/first', { id: 'first', name: 'First' })
  await writer.put('/planets/second', { id: 'second', name: 'Second' })
  await database.client.prisma.$transaction(async (transaction) => {
    await transaction.planet.update({ where: { id: 'first' }, data: { name: 'Given up' } })
    t.is((await writer.patch('/planets/second', { name: 'First' })).status, 409)
  })
  t.is((await writer.patch('/planets/second', { name: 'First' })).status, 204)
})

onServer('on PostgreSQL, swaps never end in a deadlock', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const { writer, database } = await startTestService(t, { databaseUrl })
  for (const { resource, name } of swapped) {
    const answers = await swap(writer, resource, name, 16)
    t.deepEqual([...new Set(answers.map(({ status }) => status))], [409])
  }
  const [counted] = await database.client.prisma.$queryRaw<{ deadlocks: bigint }[]>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
  t.is(counted?.deadlocks, 0n)
})

test('a value is free for a new owner once its old one has another', async (t) => {
  const { writer } = service()
  await writer.put('/planets/first', { id: 'first', name: 'Contended' })
  await writer.put('/planets/second', { id: 'second', name: 'Other' })
  t.is(
    (await writer.patch('/planets/first', { name: 'contended ' })).status,
    204,
    'its own, in other letters',
  )
  t.is((await writer.patch('/planets/first', { name: 'Released' })).status, 204)
  t.is((await writer.patch('/planets/second', { name: 'Contended' })).status, 204)
})
