import type { ExecutionContext } from 'ava'
import type { GraphQLSchema } from 'graphql'
import { createCompleteSchema } from '../../../src/service/features.ts'
import { SEED } from '../process/run.ts'
import { OWN_HEADERS } from '../service/client.ts'
import { Random } from './random.ts'
import { randomFilter, withMissing, withRelation } from './random-filters.ts'
import { connection, page, query } from './random-queries.ts'
import {
  type Conversation,
  followOther,
  readList,
  readOne,
  readVersions,
  type World,
  walk,
} from './random-requests.ts'
import { type RandomRow, randomRows } from './random-rows.ts'
import { write } from './random-writes.ts'
import {
  type Answer,
  admission,
  type Request,
  type Rules,
  type ServicePair,
  startServicePair,
} from './service-pair.ts'
import { compareWriteRules } from './write-rules.ts'

/** The resources that can have rules, each with how often it has one. */
const RULED: Readonly<Record<string, number>> = {
  animals: 0.95,
  visits: 0.4,
  passport: 0.4,
  weighings: 0.3,
  stays: 0.4,
  treatments: 0.5,
}

const WRITES = ['patch', 'replace', 'delete', 'create', 'create by PUT', 'batch', 'mutation']

/** Requests at the same time, so that look-ups are made together and equal reads are shared. */
const CONCURRENCY = 6

interface Difference {
  readonly door: string
  readonly text: string
}

/** What was compared, and what differed. */
export class Report {
  requests = 0
  readonly statuses = new Map<string, number>()
  readonly differences: Difference[] = []

  count(door: string, status: number): void {
    this.requests++
    const key = `${door} ${status}`
    this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1)
  }

  log(t: ExecutionContext): void {
    const statuses = [...this.statuses].sort(([one], [other]) => one.localeCompare(other))
    t.log(`${this.requests} requests: ${statuses.map(([key, count]) => `${key}: ${count}`).join(', ')}`)
    for (const door of new Set(this.differences.map(({ door }) => door))) {
      const all = this.differences.filter((difference) => difference.door === door)
      t.log(`${door}: ${all.length} differences, such as\n${all[0]?.text}`)
    }
  }
}

/** In each round, other data and other rules. */
const REQUESTS_PER_ROUND = 200

/**
 * Compares the answers to so many requests of restricted callers with those of a service that has only the rows that exist
 * for them. Prints the seeds; TEST_SEED repeats a round.
 *
 * @param server a PostgreSQL server, instead of the embedded database
 */
export async function compareRounds(
  t: ExecutionContext,
  requests: number,
  server = process.env['TEST_DATABASE_URL'],
): Promise<void> {
  const pair = await startServicePair(t, Object.keys(RULED), server)
  t.log(`seeds from ${SEED}`)
  const report = new Report()
  for (let seed = SEED; report.requests < requests && report.differences.length < 20; seed++) {
    await compareRound(pair, seed, Math.min(REQUESTS_PER_ROUND, requests), report)
  }
  report.log(t)
  t.deepEqual([...new Set(report.differences.map(({ door }) => door))], [])
}

/** Loads data and rules that the seed determines, and compares the answers to this many requests. */
async function compareRound(
  pair: ServicePair,
  seed: number,
  requests: number,
  report: Report,
): Promise<void> {
  const random = new Random(seed)
  const { resources } = pair
  const rows = randomRows(random, resources)
  const rules = randomRules(random, rows, resources)
  const others = [{}, randomRules(random, rows, resources)]
  await pair.load(rows, rules)
  const before = await pair.dump()
  const scopes = random.chance(0.25)
    ? [...random.some(resources, 5).map(({ path }) => `${path}:read`), '*:write'].join(' ')
    : '*:read *:write'
  const schema = createCompleteSchema(resources)
  const end = report.requests + requests
  while (report.requests < end) {
    const conversations = Array.from({ length: CONCURRENCY }, () => {
      // Its choices do not depend on the order in which answers arrive.
      const own = { random: new Random(random.below(2 ** 31)), resources, rows }
      // Tags, cursors and links of another caller tell this one nothing.
      let isForeign = own.random.chance(0.12)
      return hold(randomConversation(own, schema), async (request) => {
        if (request.asOther || (isForeign && request.method !== 'DELETE')) {
          isForeign = false
          return pair.askRestricted({}, scopes, request)
        }
        // Another caller asks the same at the same time.
        const noise = own.random.chance(0.4)
          ? pair.askRestricted(own.random.pick(others), '*:read *:write', request)
          : undefined
        const [answer, expected] = await Promise.all([
          pair.askRestricted(rules, scopes, request),
          pair.askReduced(scopes, request),
          noise,
        ])
        report.count(request.door, expected.status)
        const difference =
          expected.status === 500
            ? `${request.path} ${request.body ?? ''} failed`
            : differenceOf(request, answer, expected)
        if (difference) {
          const place = `seed ${seed}, scopes ${scopes}, rules ${JSON.stringify(rules)}`
          report.differences.push({ door: request.door, text: `${place}\n${difference}` })
        }
        return expected
      })
    })
    await Promise.all(conversations)
  }
  await compareWriteRules(pair, { random, resources, rows }, report)
  if ((await pair.dump()) !== before) {
    report.differences.push({
      door: 'writes',
      text: `seed ${seed}: a dry run or a refused write has changed something`,
    })
  }
}

export async function hold(
  conversation: Conversation,
  ask: (request: Request) => Promise<Answer>,
): Promise<void> {
  let step = conversation.next()
  while (!step.done) step = conversation.next(await ask(step.value))
}

export function randomConversation(world: World, schema: GraphQLSchema, isWriting = true): Conversation {
  const make = world.random.weighted<() => Conversation>([
    [4, () => readOne(world)],
    [5, () => readList(world)],
    [1, () => walk(world)],
    [2, () => readVersions(world)],
    [1, () => followOther(world)],
    [4, () => query(world, schema)],
    [1, () => page(world, schema)],
    [1, () => connection(world, schema)],
    [isWriting ? 3 : 0, () => write(world)],
  ])
  return make()
}

/** Rules under which some animals exist and some do not. */
function randomRules(random: Random, rows: readonly RandomRow[], resources: World['resources']): Rules {
  for (let attempt = 0; ; attempt++) {
    const rules = Object.fromEntries(
      resources.flatMap((resource) => {
        if (!random.chance(RULED[resource.path] ?? 0)) return []
        const own = rows.filter((row) => row.resource.path === resource.path)
        const related = withRelation(random, resource, rows, randomFilter(random, resource, own))
        const filter = withMissing(random, related)
        return [[resource.path, random.chance(0.03) ? random.chance(0.5) : filter]]
      }),
    )
    const animals = rows.filter(({ resource }) => resource.path === 'animals')
    const share = animals.filter(admission(rows, rules)).length / animals.length
    if ((share > 0.15 && share < 0.85) || attempt > 30) return rules
  }
}

/** Undefined if both answers are as they must be. */
export function differenceOf(request: Request, answer: Answer, expected: Answer): string | undefined {
  const [own, other] = [normalized(answer), normalized(expected)]
  if (own === other) return undefined
  // What an operation may cost is not told by the number of rows to a caller that may not read all of them.
  if (TOO_EXPENSIVE.test(answer.text)) return undefined
  // A write that succeeds without the other rows may conflict with one of them, or be of a row that can be written and not read.
  if (WRITES.includes(request.door) && !isMissing(expected) && !isMissing(answer)) return undefined
  const { method, path, headers, body = '' } = request
  const lines = own.split('\n').filter((line) => !other.split('\n').includes(line))
  const theirs = other.split('\n').filter((line) => !own.split('\n').includes(line))
  const parts = lines.map((line, index) => unequalPart(line, theirs[index] ?? ''))
  return [`${method} ${path} ${JSON.stringify(headers)} ${body}`, ...parts].join('\n    ')
}

/** Both texts where they begin to differ. */
export function unequalPart(own: string, other: string): string {
  const place = [...own].findIndex((character, index) => character !== other[index])
  const from = Math.max(0, (place < 0 ? own.length : place) - 100)
  return `${own.slice(from, from + 300)}\n      instead of ${other.slice(from, from + 300)}`
}

/** 404 or 410, or the same in GraphQL or a batch; and a reference to what does not exist. */
function isMissing({ status, text }: Answer): boolean {
  return status === 404 || status === 410 || /RESOURCE_NOT_FOUND|RESOURCE_GONE|UNKNOWN_REFERENCE/.test(text)
}

const TOO_EXPENSIVE = /may cost more than the limit of \d+/

/** Fields of one query fail in any order. */
export function withSortedErrors(text: string): string {
  if (!text.startsWith('{"errors":')) return text
  const { errors, ...others } = JSON.parse(text)
  const sorted = errors.map((error: unknown) => JSON.stringify(error)).sort()
  return JSON.stringify({ errors: sorted, ...others })
}

/** Without positions of the feed. */
function normalized({ status, headers, text: body }: Answer): string {
  const text = withSortedErrors(body)
  const shown = [...headers].filter(([name]) => !OWN_HEADERS.includes(name))
  const id = headers.get('x-request-id') ?? ''
  const lines = shown.map(
    ([name, value]) => `${name}: ${value.replaceAll(/(changes\?[^>]*since=)[\w-]+/g, '$1')}`,
  )
  return [status, ...lines, '', id === '' ? text : text.replaceAll(id, '')].join('\n')
}
