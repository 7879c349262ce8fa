import { setTimeout as delay } from 'node:timers/promises'
import type { Owner } from '../test/helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../test/helpers/database/postgres-server.ts'
import { timeUntilReady } from '../test/helpers/load/kill.ts'
import { type ServiceProcess, startProcess } from '../test/helpers/service/service-process.ts'
import { compare } from './feed/compare.ts'
import { Copy } from './feed/copy.ts'
import { startConsumers } from './feed/following.ts'
import { committed, current, Ledger, noteCommitted } from './feed/ledger.ts'
import { measure } from './feed/measure.ts'
import { openSession } from './feed/session.ts'
import { write, writeSlowly } from './feed/writers.ts'
import { withOwner } from './owner.ts'
import { Skipped } from './skipped.ts'

/** Connections whose transactions stay open for a while. */
const SLOW_WRITERS = 6

const KILL_MILLISECONDS = 4_000

/** Subscribers of one process, in turn. */
const SUBSCRIBERS = [0, 100, 1_000]

/**
 * Lets writers of all kinds and slow transactions write over two processes, while consumers follow the feed: each sees
 * exactly what was committed, once and in one order. Then measures many subscribers.
 *
 * @param only `killed`: one of the processes is killed again and again; `subscribers`: only these
 */
export async function run(writes = 20_000, only?: string): Promise<string[]> {
  const server = findServer(console.log)
  if (!server)
    throw new Skipped('it needs PostgreSQL, since the embedded database has one transaction at a time')
  const broken = only === 'subscribers' ? [] : await follow(server, writes, only === 'killed')
  return only === 'killed' ? broken : [...broken, ...(await measure(server, SUBSCRIBERS))]
}

function follow(server: string, writes: number, isKilled: boolean): Promise<string[]> {
  return withOwner(async (owner) => {
    const database = await createDatabaseOn(server, owner)
    const client = await openSession(database, owner)
    await noteCommitted(client)
    const services = await startServices(database, owner)
    const origin = services.next
    const consumers = await startConsumers(origin)
    const ledger = new Ledger()
    const writing = new AbortController()
    const started = performance.now()
    const killing = isKilled ? services.killUntil(writing.signal) : Promise.resolve(0)
    const slow = Array.from({ length: SLOW_WRITERS }, async () =>
      writeSlowly(await openSession(database, owner), ledger, () => writing.signal.aborted),
    )
    const copy = new Copy(origin)
    const copying = (async () => {
      while (ledger.count < writes / 4) await delay(20)
      await copy.begin()
      while (!writing.signal.aborted) await copy.apply()
    })()
    const written = write(services.origins, ledger, writes).finally(() => writing.abort())
    const [kills, late] = await Promise.all([killing, Promise.all(slow), copying, written])
    const seconds = (performance.now() - started) / 1_000
    const problems = await consumers.catchUp(origin)
    await copy.apply()
    const lateCommits = late.reduce((sum, one) => sum + one, 0)
    console.log(
      `${ledger.count} changes acknowledged in ${seconds.toFixed(0)} s, ${lateCommits} transactions committed late, ${kills} kills`,
    )
    console.log(`not acknowledged: ${JSON.stringify(ledger.answers)}`)
    const expected = { committed: await committed(client), current: await current(client), ledger }
    console.table(
      Object.fromEntries(
        consumers.all.map(({ name, seen, connections }) => [name, { changes: seen.length, connections }]),
      ),
    )
    console.log(
      `committed: ${expected.committed.length} changes, of ${expected.current.size} resources that exist`,
    )
    const failed = Object.keys(ledger.answers).filter((status) => /^5(?!03)/.test(status))
    return [
      ...problems,
      ...failed.map((status) => `${ledger.answers[status]} writes were answered ${status}`),
      ...compare(consumers.all, expected),
      ...(await copy.compare()).slice(0, 5),
    ]
  })
}

async function startServices(database: string, owner: Owner) {
  const start = () =>
    startProcess({ DATABASE_URL: database, LOG_LEVEL: 'info', DATABASE_TIMEOUT: '60000' }, owner)
  const services: ServiceProcess[] = [start(), start()]
  const origins = await Promise.all(services.map((service) => service.origin))
  let turn = 0
  return {
    origins: () => origins,
    next: () => origins[turn++ % origins.length] as string,
    /** Kills the first one, and starts it again on another port, until the signal is aborted. */
    async killUntil(signal: AbortSignal): Promise<number> {
      let kills = 0
      for (; !signal.aborted; kills++) {
        await delay(Math.random() * KILL_MILLISECONDS)
        const [service] = services as [ServiceProcess]
        service.kill('SIGKILL')
        await service.exited
        services[0] = start()
        await timeUntilReady(services[0])
        origins[0] = await services[0].origin
      }
      return kills
    },
  }
}
