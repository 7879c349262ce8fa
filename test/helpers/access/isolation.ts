import { writeFile } from 'node:fs/promises'
import type { ExecutionContext } from 'ava'
import { baselineFile, readMigrations } from '../../../src/database/migrations/migration-files.ts'
import { readServed, schemaOf } from '../../../src/database/namespaces/registry.ts'
import { internalSchema } from '../../../src/database/session.ts'
import { createCompleteSchema } from '../../../src/service/features.ts'
import type { Settings } from '../../../src/service/settings/settings.ts'
import { withShadow } from '../../../tools/resource/tables/shadow.ts'
import type { ManyNames } from '../database/postgres-server.ts'
import { type MadeDomain, makeDomain } from '../domain/made-domain.ts'
import { SEED } from '../process/run.ts'
import { accessToken } from '../service/access-token.ts'
import { OWN_HEADERS } from '../service/client.ts'
import { type ManyService, query, startMany } from '../service/namespaces.ts'
import { SECRET } from '../service/service.ts'
import { Report, randomConversation, unequalPart, withSortedErrors } from './oracle.ts'
import { Random } from './random.ts'
import { loadStatements, randomRows } from './random-rows.ts'
import { type Answer, ORIGIN, type Request, send } from './service-pair.ts'

/** How many writes are done. The others are dry runs. */
const DONE = 0.3

/**
 * Compares services that have several namespaces, which are asked at the same time, with services that have one each. All
 * hold other rows with the same identifiers. Writes are done, so that all that is kept about one namespace changes.
 *
 * @param settings those of each service that has all namespaces
 * @param distribute gives the address of an engine that keeps the namespaces on its nodes
 */
export async function compareNamespaces(
  t: ExecutionContext,
  server: string,
  names: ManyNames,
  requests: number,
  settings: readonly Partial<Settings>[],
  distribute?: (made: MadeDomain) => Promise<string>,
): Promise<void> {
  const made = await makeDomain(t, 'clinic')
  const distributedUrl = await distribute?.(made)
  const start = (names: ManyNames, overrides: Partial<Settings>, databaseUrl?: string) =>
    startMany(t, server, { publicBaseUrl: ORIGIN, ...overrides }, { ...made, databaseUrl }, names)
  const shared = await Promise.all(settings.map((overrides) => start(names, overrides, distributedUrl)))
  const { resources } = made.domain
  const schema = createCompleteSchema(resources)
  const report = new Report()
  t.log(`seeds from ${SEED}`)
  await Promise.all(
    names.map(async (name, index) => {
      const random = new Random(SEED + index)
      const rows = randomRows(random, resources)
      const services = [await start([name], {}), ...shared]
      for (const { databaseUrl } of services) {
        const path = schemaOf(name)
        const served = await query(databaseUrl, (send) => readServed(send, undefined, databaseUrl))
        await query(served.get(name)?.address ?? databaseUrl, async (statement) => {
          await statement(`SET search_path TO ${path}, ${internalSchema(path)}, pg_temp`)
          for (const text of loadStatements(rows, resources)) await statement(text)
        })
      }
      while (report.requests < requests && report.differences.length < 10) {
        const seed = random.below(2 ** 31)
        const converse = () => randomConversation({ random: new Random(seed), resources, rows }, schema)
        await compareConversations({ name, random }, converse, services, report)
        if (random.chance(0.1)) await compareConversations({ name, random }, readChanges, services, report)
      }
    }),
  )
  report.log(t)
  t.deepEqual(report.differences.map(({ text }) => text).slice(0, 3), [])
}

/** Writes that of a domain: with it a distributed schema begins. */
export async function writeBaseline({ domain }: MadeDomain): Promise<void> {
  const migrations = await readMigrations(domain.folder.migrations)
  const text = await withShadow(migrations, (shadow) => shadow.baseline(migrations))
  await writeFile(baselineFile(domain.folder.migrations), text)
}

/** The end of the record. */
function* readChanges(): ReturnType<typeof randomConversation> {
  const request = { door: 'changes', method: 'GET', path: '/api/v1/changes?limit=100', headers: {} }
  let answer = yield request
  while (answer.text.includes('"has_more":true')) {
    const [, next = ''] = /"next":\{"href":"([^"]+)"/.exec(answer.text) ?? []
    answer = yield { ...request, path: next.slice(ORIGIN.length) }
  }
}

/** Each follows the links that its own service has given it. */
async function compareConversations(
  { name, random }: { readonly name: string; readonly random: Random },
  converse: () => ReturnType<typeof randomConversation>,
  services: readonly ManyService[],
  report: Report,
): Promise<void> {
  const conversations = services.map(converse)
  let steps = conversations.map((one) => one.next())
  while (steps.every(({ done }) => !done)) {
    const done = random.chance(DONE) ? String(random.below(9)) : undefined
    const asked = steps.map(({ value }) => inNamespace(value as Request, name, done))
    const answers = await Promise.all(
      asked.map((request, index) => send(services[index]?.origin ?? '', tokenFor(name), request)),
    )
    const [request] = asked as [Request]
    report.count(request.door, answers[0]?.status ?? 0)
    const [expected = '', ...others] = answers.map((answer) => normalized(answer as Answer))
    for (const [index, other] of others.entries())
      if (other !== expected)
        report.differences.push({
          door: request.door,
          text: `${name}, ${index + 1}: ${JSON.stringify(request)}\n${unequalPart(other, expected)}`,
        })
    steps = conversations.map((one, index) => one.next(outside(answers[index] as Answer, name)))
  }
}

const tokenFor = (name: string) =>
  accessToken({ secret: SECRET, scope: '*:read *:write', subject: 'ada', claims: { namespaces: name } })

/**
 * Requests are made for a service without namespaces.
 *
 * @param done the idempotency key of a write that is done and not only tried
 */
function inNamespace(request: Request, name: string, done: string | undefined): Request {
  const { path, headers, method } = request
  const moved = path.startsWith('/graphql') ? `/${name}${path}` : path.replace('/api/', `/${name}/`)
  const { prefer = '', ...others } = headers
  const preferred = done === undefined ? prefer : prefer.replace(/^tx=rollback(, )?/, '')
  const isCreation = method === 'POST' && !/graphql|batch/.test(path)
  const key = done !== undefined && isCreation && { 'idempotency-key': done }
  return { ...request, path: moved, headers: { ...others, ...key, ...(preferred && { prefer: preferred }) } }
}

/** The same answer with the links of a service without namespaces. */
function outside({ headers, text, ...answer }: Answer, name: string): Answer {
  const moved = (value: string) => value.replaceAll(`${ORIGIN}/${name}/`, `${ORIGIN}/api/`)
  return {
    ...answer,
    text: moved(text),
    headers: new Headers([...headers].map(([key, value]) => [key, moved(value)])),
  }
}

/** Two services write and number changes at different times, and generate other identifiers. */
function normalized({ status, headers, text }: Answer): string {
  const shown = [...headers].filter(([header]) => ![...OWN_HEADERS, 'last-modified'].includes(header))
  const lines = shown.map(([header, value]) => `${header}: ${value}`)
  const all = [status, ...lines, '', withSortedErrors(text)]
    .join('\n')
    .replaceAll(headers.get('x-request-id') || '\0', '')
  // Those of a list, also of one that is embedded, depend on the identifiers.
  const positions = withoutOwn(all).replaceAll(
    /(since=|W\/"|revision": ?"|"[\w-]+:\d+:)[\w.-]+(?=[~"])/g,
    '$1',
  )
  return positions.replaceAll(/[\w-]{24,}/g, decoded)
}

function withoutOwn(text: string): string {
  return (
    text
      .replaceAll(/20(?:2[6-9]|[3-9]\d)-\d\d-\d\dT[\d:.]+Z/g, 'now')
      .replaceAll(/\w{3}, \d\d \w{3} 20(?:2[6-9]|[3-9]\d) [\d:]+ GMT/g, 'now')
      // It depends on the size of the tables.
      .replaceAll(/limit of \d+: up to \d+/g, 'limit')
      .replaceAll(/[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g, 'new')
  )
}

/** Cursors have times and identifiers, node identifiers have identifiers. */
function decoded(token: string): string {
  const text = Buffer.from(token, 'base64url').toString()
  if (/^.{8}\["/.test(text)) return withoutOwn(text.slice(8))
  return /^[A-Z]\w*\/[ -~]+@/.test(text) ? withoutOwn(text) : token
}
