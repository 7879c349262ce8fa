import test, { type ExecutionContext } from 'ava'
import type { Client } from 'pg'
import { findServer } from '../helpers/database/postgres-server.ts'
import { createEngines, send } from './client.ts'
import { Faults } from './faults.ts'

const server = findServer((reason) => console.log(`restricted engine: ${reason}`))
const claim = server ? test : test.skip
const createEngine = createEngines(server)

const CONFLICT = /^(?:40001|40P01)$/
const INSERT = 'INSERT INTO items (id) VALUES (gen_random_uuid())'

/** The SQLSTATE of the refusal of a statement. */
async function refusal(t: ExecutionContext, sent: Promise<unknown>): Promise<string> {
  const error = await t.throwsAsync(sent)
  return (error as Error & { code: string }).code
}

async function count(client: Client): Promise<number> {
  return Number((await client.query('SELECT count(*) FROM items')).rows[0].count)
}

claim('a statement that is ended has no effect, and ends its transaction', async (t) => {
  const engine = await createEngine(t, { faults: { aborts: 1 } })
  const client = await engine.connect()
  t.regex(await refusal(t, client.query(INSERT)), CONFLICT)
  await client.query('BEGIN')
  t.regex(await refusal(t, send(client, INSERT, 'extended')), CONFLICT)
  t.is(await refusal(t, client.query('SELECT 1')), '25P02')
  await client.query('ROLLBACK')
  t.deepEqual((await client.query('SELECT 1 AS one')).rows, [{ one: 1 }])
  t.is(await count(await engine.connect(direct(engine.address))), 0)
  t.is(
    [...engine.faults.values()].reduce((sum, times) => sum + times, 0),
    2,
  )
})

/** The server itself has the same database. */
function direct(address: string): string {
  const url = new URL(address)
  url.host = new URL(server as string).host
  return url.href
}

claim('a prepared statement that is ended can be executed again', async (t) => {
  const client = await (await createEngine(t, { faults: { aborts: 0.5 } })).connect()
  const statement = {
    name: 'insertion',
    text: 'INSERT INTO items (id) VALUES (gen_random_uuid()) RETURNING $1',
    values: ['one'],
  }
  const outcomes = new Set<boolean>()
  for (let attempt = 0; attempt < 100 && outcomes.size < 2; attempt++) {
    outcomes.add(
      await client.query(statement).then(
        () => true,
        () => false,
      ),
    )
  }
  t.is(outcomes.size, 2)
})

for (const queryMode of [undefined, 'extended'] as const) {
  claim(
    `a commit that is refused undoes its transaction, and ends it (${queryMode ?? 'simple'} protocol)`,
    async (t) => {
      const engine = await createEngine(t, { faults: { refusedCommits: 1 } })
      const client = await engine.connect()
      for (let round = 0; round < 2; round++) {
        await client.query('BEGIN')
        await client.query(INSERT)
        t.is(await refusal(t, send(client, 'COMMIT', queryMode)), '40001')
        t.is(await count(client), 0)
        // The client learns it from the message after that of the error, which another statement awaits.
        t.is(client.getTransactionStatus(), 'I')
      }
      await client.query(INSERT)
      t.is(await count(client), 1)
    },
  )
}

claim('a commit whose connection is lost has either been executed or not', async (t) => {
  const engine = await createEngine(t, { faults: { lostCommits: 1 } })
  const observer = await engine.connect()
  const found = new Set<number>()
  for (let attempt = 0; attempt < 40 && found.size < 2; attempt++) {
    const client = await engine.connect()
    await client.query('BEGIN')
    await client.query(INSERT)
    const queryMode = attempt % 2 === 0 ? 'extended' : undefined
    await t.throwsAsync(send(client, 'COMMIT', queryMode), { message: /Connection terminated/ })
    found.add(await count(observer))
    await observer.query('DELETE FROM items')
  }
  t.deepEqual([...found].sort(), [0, 1])
})

test('the same seed makes the same faults', (t) => {
  const faultsOf = (seed: number) => {
    const faults = new Faults({ seed, aborts: 0.2, refusedCommits: 0.2, lostCommits: 0.2 })
    return Array.from({ length: 100 }, () => [faults.ofStatement(), faults.ofCommit()])
  }
  t.deepEqual(faultsOf(7), faultsOf(7))
  t.notDeepEqual(faultsOf(7), faultsOf(8))
})
