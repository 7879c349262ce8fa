import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { timeUntilReady } from '../test/helpers/load/kill.ts'
import { startProcess } from '../test/helpers/service/service-process.ts'
import { type Cluster, createCluster } from './cluster/cluster.ts'
import { compare } from './cluster/comparison.ts'
import { findComponents } from './cluster/components.ts'
import { FAULTS, type Fault } from './cluster/faults.ts'
import { createLoad, type Load } from './cluster/load.ts'
import type { Member } from './cluster/members.ts'
import { compare as compareFeed } from './feed/compare.ts'
import type { Consumer } from './feed/consumers.ts'
import { startConsumers } from './feed/following.ts'
import { committed, current, Ledger, noteCommitted } from './feed/ledger.ts'
import { withOwner } from './owner.ts'
import { percentile } from './percentile.ts'
import { Skipped } from './skipped.ts'

const DATABASE = 'halgraph'
const WORKERS = 2
const ANSWER_MILLISECONDS = 3_000
const SERVING_MILLISECONDS = 5_000
const PATIENCE_MILLISECONDS = 60_000

/** A round with fewer acknowledged writes, or fewer in flight when the fault begins, shows nothing. */
const LEAST_ACKNOWLEDGED = 300
const LEAST_EXPOSED = 8

/** The load runs for so long before a fault, before it is undone, and afterwards. */
const CALM_MILLISECONDS = 2_000

/**
 * Kills, freezes, partitions and switches over the primary of a cluster under load: no acknowledged write is lost,
 * no response is wrong, the service serves again soon after another member is the primary, and consumers of the feed see
 * each committed change once.
 */
export async function run(rounds = 20, only?: string): Promise<string[]> {
  const components = await findComponents()
  if (typeof components === 'string') throw new Skipped(components)
  return withOwner(async (owner) => {
    const cluster = await createCluster(owner, components)
    await createDatabase(await cluster.whole())
    const address = (port: number) => `postgresql://postgres@127.0.0.1:${port}/${DATABASE}`
    const settings = {
      DATABASE_URL: address(cluster.primaryPort),
      DATABASE_REPLICA_URLS: cluster.replicaPorts.map(address).join(),
      MIGRATE_ON_START: 'true',
      WORKERS: String(WORKERS),
      LOG_LEVEL: 'info',
    }
    const service = startProcess(settings, owner)
    const complaints: string[] = []
    service.child.stdout?.on('data', (lines: Buffer) => {
      complaints.push(...(lines.toString().match(/^.*"msg":"(?:fault|worker died)".*$/gm) ?? []))
    })
    await timeUntilReady(service)
    await until(() => service.output().split('"msg":"listening"').length > WORKERS)
    const origin = await service.origin
    const load = createLoad(origin)
    const broken: string[] = []
    await inSession(address(cluster.primaryPort), noteCommitted)
    const consumers = await startConsumers(() => origin)
    for (const [name, fault] of Object.entries(FAULTS)) {
      if (only !== undefined && only !== name) continue
      broken.push(...(await endure(name, fault, rounds, load, origin, cluster)))
    }
    broken.push(...(await consumers.catchUp(() => origin)))
    const expected = await inSession(address(cluster.primaryPort), async (client) => {
      return { committed: await committed(client), current: await current(client), ledger: new Ledger() }
    })
    broken.push(...compareFeed(consumers.all, expected))
    console.log(`the feed: ${expected.committed.length} changes committed, ${describe(consumers.all)}`)
    return [...broken, ...complaints, ...(service.child.exitCode === null ? [] : ['the service has ended'])]
  })
}

async function inSession<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function describe(consumers: readonly Consumer[]): string {
  return consumers
    .map(({ name, seen, connections }) => `${name}: ${seen.length} seen on ${connections} connections`)
    .join(', ')
}

async function endure(
  name: string,
  fault: Fault,
  rounds: number,
  load: Load,
  origin: string,
  cluster: Cluster,
) {
  const broken: string[] = []
  const results: Round[] = []
  for (let number = 1; number <= rounds; number++) {
    const round = await strike(fault, load, origin, cluster)
    results.push(round)
    broken.push(...judge(round).map((problem) => `${name}, round ${number}: ${problem}`))
    console.log(`${name}, round ${number}: ${JSON.stringify(round)}`)
  }
  const median = (figure: (round: Round) => number) => Math.round(percentile(results.map(figure), 0.5))
  const most = (figure: (round: Round) => number) => Math.max(...results.map(figure))
  const sum = (figure: (round: Round) => number) => results.reduce((total, round) => total + figure(round), 0)
  console.log(
    `${name} ${rounds} times: ${sum(({ acknowledged }) => acknowledged)} writes acknowledged, ${sum(({ exposed }) => exposed)} in flight at a fault, ` +
      `${sum(({ responses }) => responses)} responses, ${sum(({ refused }) => refused)} of them 503, ` +
      `slowest ${most(({ slowest }) => slowest)} ms; promotion after ${median(({ promoted }) => promoted)} ms, ` +
      `at most ${most(({ promoted }) => promoted)} ms; writing again ${median(({ writing }) => writing)} ms after that, ` +
      `at most ${most(({ writing }) => writing)} ms; ${broken.length} problems`,
  )
  return broken
}

/** What one fault did. Times are in milliseconds. */
interface Round {
  /** From the fault to the promotion of another member. */
  readonly promoted: number
  /** From the promotion to the first acknowledged write, and to the last 503 before the fault was undone. */
  readonly writing: number
  readonly refusing: number
  readonly acknowledged: number
  /** How many writes were in flight when the fault began. */
  readonly exposed: number
  readonly responses: number
  readonly refused: number
  readonly slowest: number
  readonly problems: readonly string[]
}

async function strike(fault: Fault, load: Load, origin: string, { members, whole }: Cluster): Promise<Round> {
  const primary = await whole()
  load.reset()
  load.start()
  await delay(CALM_MILLISECONDS)
  const begun = performance.now()
  const exposed = load.observations.writing
  await fault.begin(primary)
  const promotion = await untilPromoted(members.filter((member) => member !== primary))
  const { observations } = load
  await until(() => observations.writtenAt > promotion)
  const writing = observations.writtenAt - promotion
  await delay(CALM_MILLISECONDS)
  const refusing = Math.max(observations.refusedAt - promotion, 0)
  await fault.end(primary)
  const successor = await whole()
  await delay(CALM_MILLISECONDS)
  await load.stop()
  const differences = await compare(origin, observations, members, successor, DATABASE)
  const counts = [...observations.statuses.values()]
  return {
    promoted: Math.round(promotion - begun),
    writing: Math.round(writing),
    refusing: Math.round(refusing),
    acknowledged: observations.acknowledged,
    exposed,
    responses: counts.reduce((total, count) => total + count, 0),
    refused: observations.statuses.get('503') ?? 0,
    slowest: Math.round(observations.slowest),
    problems: [...observations.problems, ...differences],
  }
}

function judge({ problems, slowest, writing, refusing, acknowledged, exposed }: Round): string[] {
  return [
    ...problems,
    ...(acknowledged < LEAST_ACKNOWLEDGED ? [`only ${acknowledged} writes were acknowledged`] : []),
    ...(exposed < LEAST_EXPOSED ? [`only ${exposed} writes were in flight`] : []),
    ...(slowest > ANSWER_MILLISECONDS ? [`an answer after ${slowest} ms`] : []),
    ...(Math.max(writing, refusing) > SERVING_MILLISECONDS
      ? [`serving ${Math.max(writing, refusing)} ms after the promotion`]
      : []),
  ]
}

/** When one of the members became the primary. */
async function untilPromoted(members: readonly Member[]): Promise<number> {
  await until(async () => {
    const standby = await Promise.all(members.map((member) => member.isStandby()))
    return standby.includes(false)
  })
  return performance.now()
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + PATIENCE_MILLISECONDS
  while (!(await condition())) {
    if (performance.now() > limit)
      throw new Error('the service did not start or write, or no other member became the primary')
    await delay(20)
  }
}

async function createDatabase(primary: Member): Promise<void> {
  const client = new pg.Client({ connectionString: primary.databaseUrl('postgres') })
  await client.connect()
  await client.query(`CREATE DATABASE ${DATABASE}`)
  await client.end()
}
