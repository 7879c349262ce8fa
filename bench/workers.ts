import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createScratch, SERVER } from './database.ts'
import { startGenerator } from './generator.ts'
import { childrenOf, limitProcessors } from './processor-share.ts'
import { withReleases } from './releases.ts'
import { type Running, serviceOn, start, token } from './servers.ts'
import { median } from './table.ts'

const ROWS = 20_000
const CONNECTIONS = 32
const SCENARIOS = ['not-modified', 'one', 'first', 'mixed']

/**
 * Loads the service with one process and with several, in turn, and prints how the rate grows. With a share
 * each process has no more than that of a processor: then the database and the load generator are not what
 * limits them, even where there are few processors.
 */
export async function run(commandLine: string[]): Promise<void> {
  const { values: options } = parseArgs({
    args: commandLine,
    options: {
      processes: { type: 'string', default: String(availableParallelism()) },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '4' },
      share: { type: 'string' },
      server: { type: 'string', default: SERVER },
    },
  })
  await withReleases(async (releases) => {
    const scratch = await createScratch(options.server, ROWS)
    releases.push(() => scratch.drop())
    const generator = await startGenerator()
    releases.push(generator.stop)
    const counts = Array.from({ length: Number(options.processes) }, (_, index) => index + 1)
    const running: Running[] = []
    for (const count of counts) {
      const server = await start(serviceOn(scratch.url, { WORKERS: String(count) }))
      if (options.share !== undefined) {
        const pids = count === 1 ? [server.pid] : await workersOf(server.pid, count)
        releases.push(await limitProcessors(pids, Number(options.share)))
      }
      releases.push(() => server.stop())
      running.push(server)
    }
    console.log(`| requests per second | ${counts.map((count) => `WORKERS=${count}`).join(' | ')} |`)
    console.log(`| --- |${counts.map(() => ' --: |').join('')}`)
    for (const scenario of SCENARIOS) {
      const rates = running.map((): number[] => [])
      for (let round = 0; round <= Number(options.rounds); round++) {
        for (const [index, { origin }] of running.entries()) {
          const order = { scenario, origin, token: token(), connections: CONNECTIONS, rows: ROWS }
          const { requestsPerSecond } = await generator.load({ ...order, seconds: Number(options.seconds) })
          // Round 0 is for the compilers to warm up.
          if (round > 0) rates[index]?.push(requestsPerSecond)
        }
      }
      const cells = rates.map((seen) => {
        const ratios = seen.map((rate, round) => rate / (rates[0]?.[round] as number))
        return `${Math.round(median(seen)).toLocaleString('en')} (× ${median(ratios).toFixed(2)})`
      })
      console.log(`| ${scenario} | ${cells.join(' | ')} |`)
    }
  })
}

/** The others start once the first listens. */
async function workersOf(pid: number, count: number): Promise<number[]> {
  let workers = await childrenOf(pid)
  while (workers.length < count) {
    await delay(100)
    workers = await childrenOf(pid)
  }
  return workers
}
