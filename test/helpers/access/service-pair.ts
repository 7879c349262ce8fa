import { isDeepStrictEqual } from 'node:util'
import { defineResource } from '../../../src/model/definition/define-resource.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import type { Owner } from '../database/database.ts'
import { makeDomain, serveDomain } from '../domain/made-domain.ts'
import { accessToken } from '../service/access-token.ts'
import { SECRET, type TestService } from '../service/service.ts'
import { holds, type WireFilter } from './random-filters.ts'
import { loadStatements, type RandomRow } from './random-rows.ts'

/** Which rows a caller may read: for each path true, false or a filter. All of others. Other actions precede the path. */
export type Rules = Readonly<Record<string, boolean | WireFilter>>

export interface Request {
  /** For reports: what is asked for, such as `list`. */
  readonly door: string
  readonly method: string
  /** Below the origin. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Asked by a caller who sees all rows, so not compared. */
  readonly asOther?: true
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * Two services of one domain. The first has all rows, and rules of access that depend on the caller; the second has only the
 * rows that the rules of one caller admit, and knows no rules.
 */
export interface ServicePair {
  readonly resources: readonly Resource[]
  /** Makes both hold these rows, the second those that exist for the caller with these rules. */
  load(rows: readonly RandomRow[], rules: Rules): Promise<void>
  /** The first service answers a caller with these rules. */
  askRestricted(rules: Rules, scope: string, request: Request): Promise<Answer>
  /** The second service answers a caller without any. */
  askReduced(scope: string, request: Request): Promise<Answer>
  /** The tables of the first service. */
  dump(): Promise<string>
}

export const ORIGIN = 'http://clinic.example'

/** A domain of its own, in which any of these resources has rules. */
export async function startServicePair(
  owner: Owner,
  ruled: readonly string[],
  server: string | undefined,
): Promise<ServicePair> {
  const made = await makeDomain(owner, 'clinic')
  const registry = new Registry()
  const restricted = await serveDomain(
    owner,
    { ...made, domain: { ...made.domain, resources: withRules(made.domain.resources, ruled, registry) } },
    { publicBaseUrl: ORIGIN },
    server,
  )
  const reduced = await serveDomain(owner, made, { publicBaseUrl: ORIGIN }, server)
  const { resources } = made.domain
  return {
    resources,
    async load(rows, rules) {
      const isAdmitted = admission(rows, rules)
      await Promise.all([run(restricted, rows), run(reduced, rows.filter(isAdmitted))])
      async function run({ database }: TestService, own: readonly RandomRow[]) {
        for (const statement of loadStatements(own, resources)) await database.pool.query(statement)
      }
    },
    askRestricted: (rules, scope, request) =>
      send(
        restricted.origin,
        accessToken({ secret: SECRET, scope, claims: { rules: registry.name(rules) } }),
        request,
      ),
    askReduced: (scope, request) => send(reduced.origin, accessToken({ secret: SECRET, scope }), request),
    async dump() {
      const tables = resources.map(({ path }) => `SELECT to_jsonb(one) FROM ${path} AS one ORDER BY id`)
      const results = []
      for (const text of tables) results.push((await restricted.database.pool.query(text)).rows)
      return JSON.stringify(results)
    },
  }
}

/** Whether a row exists for a caller: its parent does, and the rule of its resource admits it. */
export function admission(rows: readonly RandomRow[], rules: Rules): (row: RandomRow) => boolean {
  const byKey = new Map(rows.map((row) => [keyOf(row.resource.path, row.id), row]))
  const isAdmitted = ({ resource, parentId, columns }: RandomRow): boolean => {
    const rule = rules[resource.path] ?? true
    const isOwn = typeof rule === 'boolean' ? rule : holds(resource, rule, columns, rows)
    const parent = resource.owner && byKey.get(keyOf(resource.owner.path, parentId as string))
    return isOwn && (!parent || isAdmitted(parent))
  }
  return isAdmitted
}

/** Only parents are looked up, whose identifiers are unique in their collection. */
const keyOf = (path: string, id: string) => `${path}/${id}`

/** Rules by the claim of a token. */
class Registry {
  readonly #rules: Rules[] = []

  name(rules: Rules): string {
    const index = this.#rules.findIndex((one) => one === rules || isDeepStrictEqual(one, rules))
    return String(index < 0 ? this.#rules.push(rules) - 1 : index)
  }

  get(name: unknown): Rules {
    return this.#rules[Number(name)] as Rules
  }
}

function withRules(resources: readonly Resource[], ruled: readonly string[], registry: Registry): Resource[] {
  const made = new Map<string, Resource>()
  for (const { owner, ...resource } of resources) {
    const { path } = resource
    const ruleOf = (name: string) => (caller: Caller) => registry.get(caller.claims['rules'])[name] ?? true
    const access = { read: ruleOf(path), create: ruleOf(`create ${path}`), change: ruleOf(`change ${path}`) }
    const definition = {
      ...resource,
      ...(owner && { owner: made.get(owner.path) as Resource }),
      ...(ruled.includes(path) && { access }),
    }
    made.set(path, defineResource(definition))
  }
  return [...made.values()]
}

interface Caller {
  readonly claims: Readonly<Record<string, unknown>>
}

export async function send(
  origin: string,
  token: string,
  { method, path, headers, body }: Request,
): Promise<Answer> {
  const response = await fetch(origin + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity', ...headers },
    redirect: 'manual',
    ...(body !== undefined && { body }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
