import { referenceLeaves } from '../../../src/model/definition/relations.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import { operatorDefinition } from '../../../src/model/query/operators.ts'
import { sortable } from '../../../src/model/query/query.ts'
import { embedsOf, selectableNames } from '../../../src/rest/selection.ts'
import type { Random } from './random.ts'
import { type Condition, randomCondition } from './random-filters.ts'
import type { RandomRow } from './random-rows.ts'
import { type Answer, ORIGIN, type Request } from './service-pair.ts'

/** What requests are about. */
export interface World {
  readonly random: Random
  readonly resources: readonly Resource[]
  readonly rows: readonly RandomRow[]
}

/** Requests of one client, each of which may follow from the answers before. */
export type Conversation = Generator<Request, void, Answer>

const BASE = '/api/v1'
const JSON_TYPES = ['application/json', 'application/hal+json', 'application/prs.hal-forms+json']
const LIST_TYPES = [
  ...JSON_TYPES,
  'text/csv',
  'application/x-ndjson',
  'application/problem+json, application/json',
]

/** Mostly where most can go wrong. */
export function randomResource({ random, resources }: World): Resource {
  return random.weighted(
    resources.map((resource) => [resource.path === 'animals' ? 3 : 1, resource] as const),
  )
}

/** Any row, whether it exists for the caller, was deleted, or neither. */
export function randomRow({ random, rows }: World, resource: Resource): RandomRow | undefined {
  const own = rows.filter((row) => row.resource.path === resource.path)
  return random.chance(0.95) ? random.pick(own) : undefined
}

/** Below the entry document. */
export function pathOf(resource: Resource, row: RandomRow | undefined): string {
  const { path, owner, listed } = resource
  const id = row?.id ?? 'none'
  if (!owner) return `${BASE}/${path}/${id}`
  return `${BASE}/${owner.path}/${row?.parentId ?? 'none'}/${path}${listed ? `/${id}` : ''}`
}

function queryOf(parameters: readonly (readonly [name: string, value: string])[]): string {
  const text = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return text && `?${text}`
}

export function wireCondition({ leaf, operator, value }: Condition): string {
  const { parameter = operator } = operatorDefinition(operator)
  const name = operator === 'equals' ? leaf.name : `${leaf.name}[${parameter}]`
  return `${name}:${[value].flat().join('|')}`
}

function selectionOf({ random, resources }: World, resource: Resource): [string, string][] {
  const relations = embedsOf(resource, resources).map(({ relation }) => relation)
  return [
    ...(random.chance(0.2)
      ? [['fields', random.some(selectableNames(resource), 5).join()] as [string, string]]
      : []),
    ...(random.chance(0.35) && relations.length > 0
      ? [['embed', random.some(relations, 3).join()] as [string, string]]
      : []),
  ]
}

/** One resource: read, then asked for again only if it has changed. */
export function* readOne(world: World): Conversation {
  const { random } = world
  const resource = randomResource(world)
  const path = pathOf(resource, randomRow(world, resource)) + queryOf(selectionOf(world, resource))
  const headers = { accept: random.pick([...JSON_TYPES, 'application/problem+json, application/json']) }
  const method = random.chance(0.15) ? 'HEAD' : 'GET'
  const answer = yield { door: 'read', method, path, headers }
  yield* askAgain(random, answer, { door: 'read again', method: 'GET', path, headers })
}

function* askAgain(random: Random, answer: Answer, request: Request): Conversation {
  const [tag, modified] = [answer.headers.get('etag'), answer.headers.get('last-modified')]
  if (tag && random.chance(0.4)) yield { ...request, headers: { ...request.headers, 'if-none-match': tag } }
  if (modified && random.chance(0.2))
    yield { ...request, headers: { ...request.headers, 'if-modified-since': modified } }
}

/** The lists of a collection: the whole one, those below parents and those below what it refers to. */
function listPath(world: World, resource: Resource): string {
  const { random, resources, rows } = world
  const nested = referenceLeaves(resource)
    .filter(({ field }) => field.nested)
    .flatMap(({ field }) => resources.filter(({ path }) => path === field.to))
  const parent = random.pick([...(resource.owner ? [resource.owner] : [undefined]), ...nested])
  if (!parent) return `${BASE}/${resource.path}`
  const parents = rows.filter((row) => row.resource.path === parent.path)
  return `${BASE}/${parent.path}/${random.chance(0.95) ? random.pick(parents).id : 'none'}/${resource.path}`
}

/** A list: some of its pages, in both directions, as links lead to them. */
export function* readList(world: World): Conversation {
  const { random, rows } = world
  const resource = random.pick(world.resources.filter(({ listed }) => listed))
  const own = rows.filter((row) => row.resource.path === resource.path)
  const filters = Array.from(
    {
      length: random.weighted([
        [5, 0],
        [4, 1],
        [2, 2],
      ]),
    },
    () => wireCondition(randomCondition(random, { leaves: resource.shownLeaves }, own)),
  )
  const sorts = random
    .some(sortable(resource.shownLeaves), 3)
    .map(({ name }) => `${name}:${random.pick(['asc', 'desc'])}`)
  const parameters: [string, string][] = [
    ...(random.chance(0.3) ? [['page', String(1 + random.below(4))] as [string, string]] : []),
    ...(random.chance(0.8) ? [['limit', String(1 + random.below(9))] as [string, string]] : []),
    ...(random.chance(0.6) ? [['sort', sorts.join()] as [string, string]] : []),
    ...filters.map((filter): [string, string] => ['filter', filter]),
    ...(random.chance(0.15)
      ? [['q', random.pick(['ann', 'bo', 'Bo ann', 'owl', 'a%'])] as [string, string]]
      : []),
    ...(random.chance(0.08) ? [['id', random.pick(own).id] as [string, string]] : []),
    ...selectionOf(world, resource),
  ]
  const headers = {
    accept: random.pick(LIST_TYPES),
    ...(random.chance(0.15) && { prefer: 'count=none' }),
  }
  const method = random.chance(0.05) ? 'HEAD' : 'GET'
  const request = { door: 'list', method, path: listPath(world, resource) + queryOf(parameters), headers }
  let answer = yield request
  yield* askAgain(random, answer, { ...request, door: 'list again' })
  for (let steps = random.below(5); steps > 0; steps--) {
    const links = linksOf(answer)
    if (links.length === 0) return
    const followed = { ...request, door: 'link of a list', method: 'GET', path: random.pick(links) }
    answer = yield followed
    yield* askAgain(random, answer, { ...followed, door: 'list again' })
  }
}

/** Mostly the next and the previous page. */
function linksOf({ headers, text }: Answer): string[] {
  const inBody = [...text.matchAll(/"(next|prev|first|last|self)": ?\{"href": ?"([^"]+)"/g)]
  const inHeader = [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(next|prev|first|last)"/g)]
  const all = [
    ...inBody.map(([, relation, href]) => [relation, href]),
    ...inHeader.map(([, href, relation]) => [relation, href]),
  ] as [string, string][]
  const repeated = all.flatMap((link) =>
    link[0] === 'next' || link[0] === 'prev' ? [link, link, link] : [link],
  )
  return repeated.map(([, href]) => href.slice(ORIGIN.length))
}

/** The neighbours of a page of another caller, whose last item may not exist for this one. */
export function* followOther({ random }: World): Conversation {
  const sort = `${random.pick(['story', 'story', 'name', 'born_date'])}:${random.pick(['asc', 'desc'])}`
  const path = `${BASE}/animals?limit=${1 + random.below(6)}&page=${1 + random.below(4)}&sort=${sort}`
  const request = { door: 'cursor of another caller', method: 'GET', path, headers: {} }
  const links = linksOf(yield { ...request, asOther: true })
  for (const link of random.some(links, 2)) yield { ...request, path: link }
}

/** The versions that are kept of a resource, or one of them. */
export function* readVersions(world: World): Conversation {
  const { random } = world
  const resource = randomResource(world)
  const row = randomRow(world, resource)
  // A caller with rules does not learn which other versions are kept.
  const number = random.chance(0.4) ? `/${row?.columns['version'] ?? 1}` : ''
  const path = `${pathOf(resource, row)}/versions${number}`
  yield { door: 'versions', method: 'GET', path, headers: {} }
}

/** A link of a resource, and a link of what that leads to. */
export function* walk(world: World): Conversation {
  const { random } = world
  let path = random.chance(0.1)
    ? BASE
    : pathOf(randomResource(world), randomRow(world, randomResource(world)))
  for (let steps = 4; steps > 0; steps--) {
    const answer = yield { door: 'walk', method: 'GET', path, headers: { accept: random.pick(JSON_TYPES) } }
    const hrefs = [...answer.text.matchAll(/"href": ?"(http:\/\/clinic\.example[^"{]+)/g)].map(
      ([, href]) => href as string,
    )
    if (hrefs.length === 0) return
    path = random.pick(hrefs).slice(ORIGIN.length)
  }
}
