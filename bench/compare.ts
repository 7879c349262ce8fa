import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { embeddedConnection } from '../src/database/embedded/embedded-database.ts'
import { prepareFolder } from '../src/database/embedded/folder.ts'
import { buildCommit } from './builds.ts'
import { checkEqualAnswers } from './check.ts'
import { addDoomed, createScratch, fill, removeAdded, SERVER, sessionSeconds, versionOf } from './database.ts'
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
    const database = async (project?: string) => {
      const { url, drop } = await createScratch(options.server, options.rows, project)
      releases.push(drop)
      return url
    }
    const own = await database()
    const again = isChosen(options.only, 'again') ? await database() : undefined
    const against = options.against === undefined ? undefined : await buildCommit(options.against)
    if (against) releases.push(against.remove)
    const other = against && { folder: against.folder, url: await database(against.folder) }
    const dataDir = await mkdtemp(join(tmpdir(), 'halgraph-bench-'))
    releases.push(() => rm(dataDir, { recursive: true, force: true }))
    const wanted = contenders({ own, again, other, dataDir }).filter(
      ({ name }) => name === 'service' || name === 'against' || isChosen(options.only, name),
    )
    const embedded = wanted.find((contender) => contender.dataDir)
    if (embedded) await fillEmbedded(embedded, dataDir, options.rows)
    const running: Running[] = []
    for (const contender of wanted) {
      const server = await start(contender)
      releases.push(() => server.stop())
      running.push(server)
    }
    const prepare = (server: Running) => addDoomedTo(server, CHECKED, 2)
    await checkEqualAnswers(running, token(), options.rows, { prepare, clean: removeAddedBy })
    const generator = await startGenerator()
    releases.push(generator.stop)
    const seen = new Map<Scenario, Map<Running, Measured[]>>()
    for (const scenario of scenarios.filter(({ name }) => isChosen(options.scenarios, name))) {
      seen.set(scenario, await compare(generator, scenario, running, options))
    }
    const { rows, connections, rounds, seconds } = options
    const conditions = `${rows.toLocaleString('en')} rows, ${connections} connections, ${rounds} rounds of ${seconds} s`
    console.log(table(seen, running, conditions, await versionOf(own)))
  })
}

function read(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '1' },
      connections: { type: 'string', default: '16' },
      only: { type: 'string', default: 'again,lean' },
      against: { type: 'string' },
      scenarios: { type: 'string', default: SCENARIOS },
      server: { type: 'string', default: SERVER },
    },
  })
  return {
    ...values,
    rows: Number(values.rows),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
  }
}

/** Those that a run has time for, unless others are named. */
const SCENARIOS = 'one,alone,not-modified,first,pages,filtered,dashboard,post,put,patch,delete,batch'

function isChosen(names: string, name: string): boolean {
  return names.split(',').includes(name)
}

/** Round 0 is for the compilers: V8 goes on for seconds, and after one a request takes up to half as much again. */
const WARM_UP_SECONDS = 2

/**
 * Loads each in turn, round by round, so that what disturbs the machine disturbs all of them. Every other round is in
 * reverse order.
 */
async function compare(
  generator: Generator,
  scenario: Scenario,
  running: readonly Running[],
  { rows, rounds, ...options }: Options,
): Promise<Map<Running, Measured[]>> {
  const asked = participants(running, scenario)
  const { connections = options.connections } = scenario
  const seen = new Map(asked.map((server): [Running, Measured[]] => [server, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const server of round % 2 === 0 ? asked : asked.toReversed()) {
      const seconds = round === 0 ? WARM_UP_SECONDS : options.seconds
      const doomed = Math.ceil((DOOMED_PER_SECOND * seconds) / connections)
      if (scenario.deletes) await addDoomedTo(server, connections, doomed)
      const order = { scenario: scenario.name, origin: server.origin, token: token(), connections, rows }
      const [before, inDatabase] = [server.processorSeconds(), await databaseSeconds(server)]
      const result = await generator.load({ ...order, seconds })
      const missed = scenario.deletes ? Math.max(0, result.requests - doomed * connections) : 0
      const cost = ((server.processorSeconds() - before) / result.requests) * 1e6
      const databaseCost = (spent(inDatabase, await databaseSeconds(server)) / result.requests) * 1e6
      if (round > 0)
        seen.get(server)?.push({ ...result, failures: result.failures + missed, cost, databaseCost })
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

async function removeAddedBy(server: Running): Promise<void> {
  await removeAdded(await addressOf(server))
}

/** More than there are requests in a check. */
const CHECKED = 1_000
/** More than a server deletes, each of which takes 0.1 ms to insert. */
const DOOMED_PER_SECOND = 3_000

async function addDoomedTo(server: Running, connections: number, each: number): Promise<void> {
  await addDoomed(await addressOf(server), server.table ?? 'species', connections, each)
}

async function addressOf({ dataDir, environment }: Running): Promise<pg.ClientConfig> {
  const connectionString = environment['DATABASE_URL'] as string
  return dataDir === undefined ? { connectionString } : embeddedAddress(dataDir)
}

async function databaseSeconds({ environment }: Running): Promise<Map<number, number>> {
  const url = environment['DATABASE_URL']
  return url === undefined ? new Map() : sessionSeconds(url)
}

/** What those sessions used that are still there; pools close those that had nothing to do. */
function spent(before: Map<number, number>, after: Map<number, number>): number {
  const known = [...after].filter(([, seconds]) => !Number.isNaN(seconds))
  if (known.length === 0) return Number.NaN
  return known.reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0)
}

async function embeddedAddress(dataDir: string): Promise<pg.ClientConfig> {
  return embeddedConnection((await prepareFolder(dataDir)).socketFolder)
}
