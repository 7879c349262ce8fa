import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type { DatabaseClient } from '../../src/database/client.ts'
import { startKeyExpiry } from '../../src/domain/idempotency.ts'
import { createTestDatabase, openTestDatabase } from '../helpers/database.ts'
import { startTestService } from '../helpers/service.ts'

/** The number of keys that are two days old, and of new ones. */
async function addKeys(client: DatabaseClient, old: number, recent: number): Promise<void> {
  const shared = { subject: 'someone', collection: 'species', parent_id: '', request_hash: '' }
  const long = new Date(Date.now() - 48 * 3_600_000)
  await client.idempotencyKey.createMany({
    data: [
      ...Array.from({ length: old }, (_, number) => ({
        ...shared,
        key: `old ${number}`,
        created_date: long,
      })),
      ...Array.from({ length: recent }, (_, number) => ({ ...shared, key: `recent ${number}` })),
    ],
  })
}

async function untilKeys(client: DatabaseClient, count: number): Promise<void> {
  for (let wait = 0; wait < 600 && (await client.idempotencyKey.count()) !== count; wait++) await delay(50)
}

test('expired keys are deleted a thousand at a time, and the others stay', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await addKeys(database.client, 2_500, 5)
  const counts: number[] = []
  const deleteMany = async (parameters: object) => {
    const deleted = await database.client.idempotencyKey.deleteMany(parameters)
    counts.push(deleted.count)
    return deleted
  }
  const stop = startKeyExpiry({ idempotencyKey: { deleteMany } } as unknown as DatabaseClient, 24, 0)
  await untilKeys(database.client, 5)
  stop()
  t.deepEqual(counts, [1_000, 1_000, 500])
  t.is(await database.client.idempotencyKey.count({ where: { key: { startsWith: 'recent' } } }), 5)
})

test('a service deletes expired keys soon after its start', async (t) => {
  const { databaseUrl, dataDir, ...options } = await createTestDatabase(t)
  const database = await openTestDatabase({ databaseUrl, dataDir, ...options })
  await addKeys(database.client, 1, 1)
  await database.close()
  const service = await startTestService(t, { databaseUrl, dataDir })
  await untilKeys(service.database.client, 1)
  t.is(await service.database.client.idempotencyKey.count(), 1)
})

test('if the database fails, deletion is postponed and nothing is thrown', async (t) => {
  let calls = 0
  const deleteMany = async () => {
    calls += 1
    throw new Error('no database')
  }
  const stop = startKeyExpiry({ idempotencyKey: { deleteMany } } as unknown as DatabaseClient, 24, 0)
  for (let wait = 0; calls === 0 && wait < 200; wait++) await delay(10)
  await delay(20)
  stop()
  t.is(calls, 1)
})
