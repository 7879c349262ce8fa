// Loaded first by each process of test/suites/restricted, or by `node --import` for torture: puts a restricted engine
// in front of TEST_DATABASE_URL. TEST_ENGINE_ALLOWS names restrictions to leave out, with a semicolon between them, by default
// those that the migrator does not follow; TEST_ENGINE_ABORTS is the rate of statements and commits that the engine ends (0.02,
// for instance), and TEST_ENGINE_SEED chooses them.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { SET_UP } from './faults.ts'
import { RESTRICTIONS, TRANSACTIONS_WITH_DDL } from './restrictions.ts'
import type { ThreadData, ThreadMessage } from './thread.ts'

const server = process.env['TEST_DATABASE_URL']
if (!server) throw new Error('Set TEST_DATABASE_URL to a PostgreSQL server.')

const given = process.env['TEST_ENGINE_ALLOWS']?.split(';').map((name) => name.trim())
const allowed = given ?? TRANSACTIONS_WITH_DDL
const unknown = allowed.filter((name) => name !== '' && RESTRICTIONS.every((row) => row.name !== name))
if (unknown.length > 0) throw new Error(`TEST_ENGINE_ALLOWS: no restriction is called ${unknown.join(', ')}`)

const rate = Number(process.env['TEST_ENGINE_ABORTS'] ?? 0)
const seed = Number(process.env['TEST_ENGINE_SEED'] ?? process.pid)
const workerData: ThreadData = {
  server,
  allowed,
  faults: { seed, aborts: rate, refusedCommits: rate, lostCommits: 0 },
  faultsSince: SET_UP,
}
const thread = new Worker(new URL('../dist/test/restricted-engine/thread.js', import.meta.url), {
  workerData,
  // Otherwise a process that imports this file by an option would start a thread in each thread.
  execArgv: [],
})
const [{ address }] = (await once(thread, 'message')) as [ThreadMessage]
process.env['TEST_DATABASE_URL'] = address
// Templates that other runs have made on the server came into being without the restrictions.
process.env['TEST_ENGINE'] = 'restricted'

const times = new Map<string, number>()
thread.on('message', ({ noted = '' }: ThreadMessage) => times.set(noted, (times.get(noted) ?? 0) + 1))
process.on('exit', () => {
  if (times.size > 0) console.error(`The engine (TEST_ENGINE_SEED=${seed}) has`)
  for (const [noted, count] of times) console.error(`  ${noted}${count > 1 ? ` (${count} times)` : ''}`)
})
// A process ends while its engine runs. A listener of messages would keep it.
thread.unref()
