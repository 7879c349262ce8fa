import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { createHttpServer } from '../../../src/http/server.ts'
import { defineResource } from '../../../src/model/definition/define-resource.ts'
import type { Field, GroupField } from '../../../src/model/definition/fields.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import { prepareApplication } from '../../../src/service/application.ts'
import { createCompleteSchema } from '../../../src/service/features.ts'
import type { LocatedDomain } from '../../../src/service/settings/domain-folder.ts'
import { makeDomain, serveDomain } from '../domain/made-domain.ts'
import { SEED } from '../process/run.ts'
import { accessToken } from '../service/access-token.ts'
import { type TestService, TOKENS } from '../service/service.ts'
import { differenceOf, hold, Report, randomConversation } from './oracle.ts'
import { Random } from './random.ts'
import { loadStatements, randomRows } from './random-rows.ts'
import { ORIGIN, type Request, send } from './service-pair.ts'

type Fields = Readonly<Record<string, Field>>

/** Changes the leaves of each resource, or leaves them out; groups without members are left out. */
function redefined(
  resources: readonly Resource[],
  change: (place: string, field: Field) => Field | undefined,
): Resource[] {
  const changed = (place: string, fields: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
        const own = change(`${place}.${name}`, field)
        if (own?.type !== 'group') return own ? [[name, own]] : []
        const members = changed(`${place}.${name}`, own.fields) as GroupField['fields']
        return Object.keys(members).length > 0 ? [[name, { ...own, fields: members }]] : []
      }),
    )
  const made = new Map<string, Resource>()
  for (const { owner, ...resource } of resources) {
    const parent = owner && { owner: made.get(owner.path) as Resource }
    const fields = changed(resource.path, resource.fields) as Resource['fields']
    made.set(resource.path, defineResource({ ...resource, ...parent, fields }))
  }
  return [...made.values()]
}

/** Which fields need a scope, and which one. */
function randomScopes(random: Random, resources: readonly Resource[]): ReadonlyMap<string, string> {
  const share = random.pick([0.1, 0.3, 0.6])
  const places = resources.flatMap(({ path, fields }) => [
    ...Object.keys(fields).map((name) => `${path}.${name}`),
    ...Object.entries(fields).flatMap(([name, field]) =>
      field.type === 'group' ? Object.keys(field.fields).map((member) => `${path}.${name}.${member}`) : [],
    ),
  ])
  // A filter on a nickname also finds the chip, so both need the same scope.
  const others = places.filter((place) => !/\.(?:chip|nickname)$/.test(place) && random.chance(share))
  const together = random.chance(0.5) ? ['animals.chip', 'animals.nickname'] : []
  return new Map([
    ...others.map((place) => [place, random.pick(['medical', 'office'])] as const),
    ...together.map((place) => [place, 'chip'] as const),
  ])
}

/** The scopes, and the definitions without their fields, each of which has a field that callers may write. */
function randomDefinition(random: Random, resources: readonly Resource[]) {
  for (;;) {
    const scopes = randomScopes(random, resources)
    const open = redefined(resources, (place, field) => (scopes.has(place) ? undefined : field))
    if (open.every(({ writable }) => writable.length > 0) && isServable(open)) return { scopes, open }
  }
}

/** A schema cannot have a type without members, such as the filter of a group that has only JSON. */
function isServable(resources: readonly Resource[]): boolean {
  try {
    createCompleteSchema(resources)
    return true
  } catch {
    return false
  }
}

/** With each definition, so many requests. */
const REQUESTS_PER_ROUND = 200

/**
 * Compares the answers to so many requests of a caller without the scopes of fields with those of a service whose
 * definitions lack these fields. Prints the seeds; TEST_SEED repeats a round.
 *
 * @param server a PostgreSQL server, instead of the embedded database
 */
export async function compareFields(
  t: ExecutionContext,
  requests: number,
  server = process.env['TEST_DATABASE_URL'],
): Promise<void> {
  t.log(`seeds from ${SEED}`)
  const report = new Report()
  const made = await makeDomain(t, 'clinic')
  const base = await serveDomain(t, made, { publicBaseUrl: ORIGIN }, server)
  const { resources } = made.domain
  for (let seed = SEED; report.requests < requests; seed++) {
    const random = new Random(seed)
    const { scopes, open } = randomDefinition(random, resources)
    const scoped = redefined(resources, (place, field) => {
      const readScope = scopes.get(place)
      return readScope === undefined ? field : { ...field, readScope }
    })
    const rows = randomRows(random, resources)
    for (const statement of loadStatements(rows, resources)) await base.database.pool.query(statement)
    const restricted = await serveBeside(base, { ...made.domain, resources: scoped })
    const reduced = await serveBeside(base, { ...made.domain, resources: open })
    try {
      const schema = createCompleteSchema(open)
      const end = report.requests + Math.min(REQUESTS_PER_ROUND, requests)
      while (report.requests < end) {
        const world = { random, resources: open, rows }
        await hold(randomConversation(world, schema, false), async (request) => {
          const [answer, expected] = [await restricted.ask(request), await reduced.ask(request)]
          report.count(request.door, expected.status)
          // One service knows the name of the field, and refuses it with the scope that it needs.
          const isNamed = answer.status === 403 && expected.status === 400
          const difference = isNamed ? undefined : differenceOf(request, answer, expected)
          if (difference) {
            const text = `seed ${seed}, ${JSON.stringify([...scopes])}\n${difference}`
            report.differences.push({ door: request.door, text })
          }
          return expected
        })
      }
    } finally {
      for (const { stop } of [restricted, reduced]) stop()
    }
  }
  report.log(t)
  t.deepEqual([...new Set(report.differences.map(({ door }) => door))], [])
}

/** Another service on the database of the first, with other definitions of the same tables. */
async function serveBeside({ database, settings, faults }: TestService, domain: LocatedDomain) {
  const state = { isStopping: false, refusedConnections: 0 }
  const reportFault = (error: unknown) => void faults.push(error as Error)
  const prepared = await prepareApplication({ settings, tokens: TOKENS, domain, reportFault })
  const { handler, stop } = await prepared(database, undefined, state, (work) => work())
  const { server } = createHttpServer(handler, settings, state)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const token = accessToken({ secret: TOKENS.jwt.secret, scope: '*:read *:write' })
  return {
    async ask(request: Request) {
      const answer = await send(origin, token, request)
      // Whether a response depends on the token, depends on the definitions.
      return { ...answer, headers: new Headers([...answer.headers].filter(([name]) => name !== 'vary')) }
    },
    stop() {
      stop()
      server.closeAllConnections()
      server.close()
    },
  }
}
