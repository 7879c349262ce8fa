import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import jwt from 'jsonwebtoken'
import pg from 'pg'
import { embeddedConnection } from '../src/domain/database/embedded-database.ts'
import { prepareFolder } from '../src/domain/database/embedded-folder.ts'
import { checkEqualAnswers } from './check.ts'
import { createScratch, fill, removeAdded } from './database.ts'
import type { Order, Seen } from './load.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { type Contender, contenders, participants, type Running, SECRET, start } from './servers.ts'
import { type Measured, table } from './table.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rows: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    only: { type: 'string' },
    scenarios: { type: 'string' },
    server: { type: 'string', default: 'postgresql://postgres@127.0.0.1:5432/postgres' },
  },
})
const rows = Number(options.rows ?? 20_000)
const rounds = Number(options.rounds ?? (options.quick ? 3 : 5))
const seconds = Number(options.seconds ?? (options.quick ? 1 : 4))
const connections = Number(options.connections)
const isChosen = (names: string | undefined, name: string) =>
  names === undefined || names.split(',').includes(name)
const token = jwt.sign({ scope: '*:read *:write' }, SECRET, { expiresIn: '12h' })

const releases: (() => Promise<unknown>)[] = []
try {
  await main()
} finally {
  for (const release of releases.reverse()) await release()
}

async function main(): Promise<void> {
  await linkFolders()
  const scratch = await createScratch(options.server, rows)
  releases.push(() => scratch.drop())
  const dataDir = await mkdtemp(join(tmpdir(), 'halgraph-bench-'))
  releases.push(() => rm(dataDir, { recursive: true, force: true }))
  const wanted = contenders(scratch.url, dataDir).filter(
    ({ name }) => name === 'service' || isChosen(options.only, name),
  )
  const embedded = wanted.find((contender) => contender.dataDir)
  if (embedded) await fillEmbedded(embedded, dataDir)
  const running: Running[] = []
  for (const contender of wanted) {
    const server = await start(contender)
    releases.push(() => server.stop())
    running.push(server)
  }
  const clean = (server: Running) => removeAddedBy(server, scratch.url)
  await checkEqualAnswers(running, token, rows, clean)
  const generator = fork(fileURLToPath(new URL('./load.js', import.meta.url)))
  releases.push(async () => generator.disconnect())
  const seen = new Map<Scenario, Map<Running, Measured[]>>()
  for (const scenario of scenarios.filter(({ name }) => isChosen(options.scenarios, name))) {
    seen.set(scenario, await compare(generator, scenario, running, clean))
  }
  const conditions = `${rows.toLocaleString('en')} rows, ${connections} connections, ${rounds} rounds of ${seconds} s`
  console.log(table(seen, running, conditions, await versionOf(scratch.url)))
}

/** The peers that use parts of the service look for what comes with it beside their own compiled files. */
async function linkFolders(): Promise<void> {
  for (const name of ['prisma', 'public', 'operations']) {
    const link = fileURLToPath(new URL(`../${name}`, import.meta.url))
    await rm(link, { force: true })
    await symlink(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), link, 'junction')
  }
}

/** Loads each in turn, round by round, so that what disturbs the machine disturbs all of them. */
async function compare(
  generator: ChildProcess,
  scenario: Scenario,
  running: readonly Running[],
  clean: (server: Running) => Promise<void>,
): Promise<Map<Running, Measured[]>> {
  const asked = participants(running, scenario)
  const seen = new Map(asked.map((server): [Running, Measured[]] => [server, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const server of asked) {
      const order = { scenario: scenario.name, origin: server.origin, token, connections, rows }
      const before = server.processorSeconds()
      const result = await load(generator, { ...order, seconds: round === 0 ? 1 : seconds })
      const cost = ((server.processorSeconds() - before) / result.requests) * 1e6
      // Round 0 is for the compilers to warm up.
      if (round > 0) seen.get(server)?.push({ ...result, cost })
      if (scenario.writes) await clean(server)
    }
  }
  console.error(`${scenario.title}: ${asked.map((one) => `${one.name} ${rates(seen.get(one))}`).join(' | ')}`)
  return seen
}

function rates(seen: readonly Measured[] = []): string {
  return seen.map(({ requestsPerSecond }) => Math.round(requestsPerSecond)).join(' ')
}

async function load(generator: ChildProcess, order: Order): Promise<Seen> {
  generator.send(order)
  const [seen] = await once(generator, 'message')
  return seen as Seen
}

/** The first start makes the database; the one that is measured finds it there. */
async function fillEmbedded(contender: Contender, dataDir: string): Promise<void> {
  const server = await start(contender)
  try {
    await fill(await embeddedAddress(dataDir), rows)
  } finally {
    await server.stop()
  }
}

async function removeAddedBy({ dataDir }: Running, connectionString: string): Promise<void> {
  await removeAdded(dataDir === undefined ? { connectionString } : await embeddedAddress(dataDir))
}

async function embeddedAddress(dataDir: string): Promise<pg.ClientConfig> {
  return embeddedConnection((await prepareFolder(dataDir)).socketFolder)
}

async function versionOf(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query('SHOW server_version')
  await client.end()
  return `PostgreSQL ${rows[0].server_version.split(' ')[0]}`
}
