import { parseArgs } from 'node:util'
import { createScratch, removeAdded, SERVER } from './database.ts'
import { startGenerator } from './generator.ts'
import { withReleases } from './releases.ts'
import { serviceOn, start, token } from './servers.ts'

/** What the service is asked for in turn, in each minute. */
const SCENARIOS = ['one', 'not-modified', 'list', 'first', 'filtered', 'mixed', 'put', 'patch', 'dashboard']
const ROWS = 20_000
const CONNECTIONS = 16

/** Asks the service for everything, over and over, and prints what it holds in memory after each minute. */
export async function run(commandLine: string[]): Promise<void> {
  const { values: options } = parseArgs({
    args: commandLine,
    options: { minutes: { type: 'string', default: '30' }, server: { type: 'string', default: SERVER } },
  })
  await withReleases(async (releases) => {
    const scratch = await createScratch(options.server, ROWS)
    releases.push(() => scratch.drop())
    const server = await start(serviceOn(scratch.url))
    releases.push(() => server.stop())
    const generator = await startGenerator()
    releases.push(generator.stop)
    const order = { origin: server.origin, token: token(), connections: CONNECTIONS, rows: ROWS }
    const seconds = 60 / SCENARIOS.length
    let requests = 0
    let failures = 0
    console.log('| minute | requests | failed | resident | p99 of GET one |\n| --: | --: | --: | --: | --: |')
    console.log(`| 0 | 0 | 0 | ${Math.round(server.memoryMegabytes())} MB | — |`)
    for (let minute = 1; minute <= Number(options.minutes); minute++) {
      let p99 = 0
      for (const scenario of SCENARIOS) {
        const seen = await generator.load({ ...order, scenario, seconds })
        requests += seen.requests
        failures += seen.failures
        if (scenario === 'one') p99 = seen.p99
      }
      await removeAdded({ connectionString: scratch.url })
      const memory = Math.round(server.memoryMegabytes())
      const all = requests.toLocaleString('en')
      console.log(`| ${minute} | ${all} | ${failures} | ${memory} MB | ${p99.toFixed(1)} ms |`)
    }
  })
}
