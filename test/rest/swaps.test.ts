import test from 'ava'
import type { Client } from '../helpers/client.ts'
import { resources } from '../helpers/domain.ts'
import { Fixtures } from '../helpers/fixtures.ts'
import { createDatabaseOn, findServer } from '../helpers/postgres-server.ts'
import { shareTestService, startTestService } from '../helpers/service.ts'

// A deadlock takes two sessions, which only a server has.
const server = await findServer((reason) => console.log(`swaps on PostgreSQL: ${reason}`))
const service = shareTestService(test)

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
  await database.client.$transaction(async (transaction) => {
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
  const [counted] = await database.client.$queryRaw<{ deadlocks: bigint }[]>`
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
