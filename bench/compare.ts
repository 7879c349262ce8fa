import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { embeddedConnection } from '../src/database/embedded/embedded-database.ts'
import { prepareFolder } from '../src/database/embedded/folder.ts'
import { buildCommit } from './builds.ts'
import { checkEqualAnswers } from './check.ts'
import { createScratch, fill, removeAdded, SERVER, sessionSeconds, versionOf } from './database.ts'
import { type Generator, startGenerator } from './generator.ts'
import { withReleases } from './releases.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { type Contender, contenders, participants, type Running, start, token } from './servers.ts'
import { type Measured, table } from './table.ts'

type Options = ReturnType<typeof read>

/** Compares the service with its peers, and prints the table of bench/README.md. */
export async function run(commandLine: string[]): Promise<void> {
  const options = read(commandLine)
  await withReleases(async (releases) => {
    const scratch = await createScratch(options.server, options.rows)
    releases.push(() => scratch.drop())
    const other = options.against === undefined ? undefined : await otherBuild(options, releases)
    const dataDir = await mkdtemp(join(tmpdir(), 'halgraph-bench-'))
    releases.push(() => rm(dataDir, { recursive: true, force: true }))
    // Beside another build, no peer runs unless it is named.
    const only = options.only ?? (other && '')
    const wanted = contenders(scratch.url, dataDir, other).filter(
      ({ name }) => name === 'service' || name === 'against' || isChosen(only, name),
    )
    const embedded = wanted.find((contender) => contender.dataDir)
    if (embedded) await fillEmbedded(embedded, dataDir, options.rows)
    const running: Running[] = []
    for (const contender of wanted) {
      const server = await start(contender)
      releases.push(() => server.stop())
      running.push(server)
    }
    await checkEqualAnswers(running, token(), options.rows, removeAddedBy)
    const generator = await startGenerator()
    releases.push(generator.stop)
    const seen = new Map<Scenario, Map<Running, Measured[]>>()
    for (const scenario of scenarios.filter(({ name }) => isChosen(options.scenarios, name))) {
      seen.set(scenario, await compare(generator, scenario, running, options))
    }
    const { rows, connections, rounds, seconds } = options
    const conditions = `${rows.toLocaleString('en')} rows, ${connections} connections, ${rounds} rounds of ${seconds} s`
    console.log(table(seen, running, conditions, await versionOf(scratch.url)))
  })
}

function read(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      rows: { type: 'string', default: '20000' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      connections: { type: 'string', default: '16' },
      only: { type: 'string' },
      against: { type: 'string' },
      scenarios: { type: 'string' },
      server: { type: 'string', default: SERVER },
    },
  })
  return {
    ...values,
    rows: Number(values.rows),
    rounds: Number(values.rounds ?? (values.quick ? 3 : 5)),
    seconds: Number(values.seconds ?? (values.quick ? 1 : 4)),
    connections: Number(values.connections),
  }
}

function isChosen(names: string | undefined, name: string): boolean {
  return names === undefined || names.split(',').includes(name)
}

/** Round 0 is for the compilers: V8 goes on for seconds, and after one a request takes up to half as much again. */
const WARM_UP_SECONDS = 3

/**
 * Loads each in turn, round by round, so that what disturbs the machine disturbs all of them. Every other round is in
 * reverse order.
 */
async function compare(
  generator: Generator,
  scenario: Scenario,
  running: readonly Running[],
  { rows, rounds, seconds, connections }: Options,
): Promise<Map<Running, Measured[]>> {
  const asked = participants(running, scenario)
  const seen = new Map(asked.map((server): [Running, Measured[]] => [server, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const server of round % 2 === 0 ? asked : asked.toReversed()) {
      const order = { scenario: scenario.name, origin: server.origin, token: token(), connections, rows }
      const [before, inDatabase] = [server.processorSeconds(), await databaseSeconds(server)]
      const result = await generator.load({ ...order, seconds: round === 0 ? WARM_UP_SECONDS : seconds })
      const cost = ((server.processorSeconds() - before) / result.requests) * 1e6
      const databaseCost = (((await databaseSeconds(server)) - inDatabase) / result.requests) * 1e6
      if (round > 0) seen.get(server)?.push({ ...result, cost, databaseCost })
      if (scenario.writes) await removeAddedBy(server)
    }
  }
  console.error(`${scenario.title}: ${asked.map((one) => `${one.name} ${rates(seen.get(one))}`).join(' | ')}`)
  return seen
}

function rates(seen: readonly Measured[] = []): string {
  return seen.map(({ requestsPerSecond }) => Math.round(requestsPerSecond)).join(' ')
}

/** The first start makes the database; the one that is measured finds it there. */
async function fillEmbedded(contender: Contender, dataDir: string, rows: number): Promise<void> {
  const server = await start(contender)
  try {
    await fill(await embeddedAddress(dataDir), rows)
  } finally {
    await server.stop()
  }
}

async function removeAddedBy({ dataDir, environment }: Running): Promise<void> {
  const connectionString = environment['DATABASE_URL'] as string
  await removeAdded(dataDir === undefined ? { connectionString } : await embeddedAddress(dataDir))
}

async function databaseSeconds({ environment }: Running): Promise<number> {
  const url = environment['DATABASE_URL']
  return url === undefined ? Number.NaN : sessionSeconds(url)
}

/** The build of a commit, with a database of its own, since that may lack migrations. */
async function otherBuild({ against = '', server, rows }: Options, releases: (() => unknown)[]) {
  const { folder, remove } = await buildCommit(against)
  releases.push(remove)
  const { url: databaseUrl, drop } = await createScratch(server, rows, folder)
  releases.push(drop)
  return { folder, databaseUrl }
}

async function embeddedAddress(dataDir: string): Promise<pg.ClientConfig> {
  return embeddedConnection((await prepareFolder(dataDir)).socketFolder)
}
