import { parseArgs } from 'node:util'
import { createScratch, SERVER } from './database.ts'
import { timeFieldsOf } from './fields.ts'
import { followNext } from './follow-next.ts'
import { startGenerator } from './generator.ts'
import { withReleases } from './releases.ts'
import { scenarios } from './scenarios.ts'
import { type Running, serviceOn, start, token } from './servers.ts'
import { median } from './table.ts'

const SMALL = 10_000
const CONNECTIONS = 16
const SCENARIOS = ['one', 'list', 'first']

/** Compares a small catalogue with a large one, and prints what grew with it. */
export async function run(commandLine: string[]): Promise<void> {
  const { values: options } = parseArgs({
    args: commandLine,
    options: {
      large: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '4' },
      server: { type: 'string', default: SERVER },
    },
  })
  const sizes = [SMALL, Number(options.large)]
  await withReleases(async (releases) => {
    const running: Running[] = []
    for (const rows of sizes) {
      const scratch = await createScratch(options.server, rows)
      releases.push(() => scratch.drop())
      const server = await start(serviceOn(scratch.url))
      releases.push(() => server.stop())
      running.push(server)
    }
    await compareRates(running, sizes, Number(options.rounds), Number(options.seconds))
    const large = running[1] as Running
    console.log(await followNext(large.origin, token(), sizes[1] as number))
    console.log(await timeFieldsOf(large.origin, token()))
  })
}

async function compareRates(
  running: readonly Running[],
  sizes: readonly number[],
  rounds: number,
  seconds: number,
): Promise<void> {
  const generator = await startGenerator()
  console.log(
    `| requests per second | ${sizes.map((size) => size.toLocaleString('en')).join(' | ')} | ratio |`,
  )
  console.log('| --- | --: | --: | --: |')
  for (const { name, title } of scenarios.filter((scenario) => SCENARIOS.includes(scenario.name))) {
    const rates: [number[], number[]] = [[], []]
    for (let round = 0; round <= rounds; round++) {
      for (const [index, { origin }] of running.entries()) {
        const order = { scenario: name, origin, token: token(), connections: CONNECTIONS, seconds }
        const { requestsPerSecond } = await generator.load({ ...order, rows: sizes[index] as number })
        // Round 0 is for the compilers, and the database's memory, to warm up.
        if (round > 0) rates[index]?.push(requestsPerSecond)
      }
    }
    const [small, large] = rates
    const ratio = median(large.map((rate, round) => rate / (small[round] as number)))
    const shown = rates.map((seen) => Math.round(median(seen)).toLocaleString('en'))
    console.log(`| ${title} | ${shown.join(' | ')} | ${ratio.toFixed(2)} |`)
  }
  generator.stop()
}
