import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type { Database } from '../../src/database/database.ts'
import type { StatementClient } from '../../src/database/database-client.ts'
import type { Statement } from '../../src/database/sql/statement.ts'
import { startKeyExpiry } from '../../src/domain/idempotency.ts'
import { createTestDatabase, openTestDatabase } from '../helpers/database/database.ts'
import { startTestService } from '../helpers/service/service.ts'

/** Adds keys that are two days old, and new ones. */
async function addKeys({ pool }: Database, old: number, recent: number): Promise<void> {
  await pool.query(
    `INSERT INTO idempotency_keys (subject, collection, parent_id, request_hash, key, created_date)
     SELECT 'someone', 'species', '', '', name || number, now() - age
     FROM (VALUES ('old ', $1::int, interval '2 days'), ('recent ', $2, interval '0')) AS kinds (name, count, age),
       generate_series(1, count) AS number`,
    [old, recent],
  )
}

async function keys({ pool }: Database): Promise<string[]> {
  return (await pool.query('SELECT key FROM idempotency_keys ORDER BY key')).rows.map(({ key }) => key)
}

async function untilKeys(database: Database, count: number): Promise<void> {
  for (let wait = 0; wait < 600 && (await keys(database)).length !== count; wait++) await delay(50)
}

test('expired keys are deleted a thousand at a time, and the others stay', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await addKeys(database, 2_500, 5)
  const counts: number[] = []
  const $rows: StatementClient['$rows'] = async <Result>(statement: Statement) => {
    const deleted = await database.client.$rows<Result>(statement)
    counts.push(deleted.length)
    return deleted
  }
  const stop = startKeyExpiry({ $rows }, 24, 0)
  await untilKeys(database, 5)
  stop()
  t.deepEqual(counts, [1_000, 1_000, 500])
  t.true((await keys(database)).every((key) => key.startsWith('recent')))
})

test('a service deletes expired keys soon after its start', async (t) => {
  const { databaseUrl, dataDir, ...options } = await createTestDatabase(t)
  const database = await openTestDatabase({ databaseUrl, dataDir, ...options })
  await addKeys(database, 1, 1)
  await database.close()
  const service = await startTestService(t, { databaseUrl, dataDir })
  await untilKeys(service.database, 1)
  t.deepEqual(await keys(service.database), ['recent 1'])
})

test('if the database fails, deletion is postponed and nothing is thrown', async (t) => {
  let calls = 0
  const $rows = async () => {
    calls += 1
    throw new Error('no database')
  }
  const stop = startKeyExpiry({ $rows }, 24, 0)
  for (let wait = 0; calls === 0 && wait < 200; wait++) await delay(10)
  await delay(20)
  stop()
  t.is(calls, 1)
})
