import { graphNames, parentArgument, singular, toGraphNames } from '../../../src/graph/names.ts'
import { fc } from '../process/run.ts'
import type { Json } from '../service/client.ts'
import { resourceAt } from './fixtures.ts'

/** A write over REST or GraphQL. `§` in a text stands for the resources of one execution. */
export interface RandomWrite {
  /** Such as `/planets/§p0/moons`. */
  readonly collection: string
  readonly id: string
  readonly body: Json
  /** `PUT` creates or replaces, the other two do one of both. */
  readonly kind: 'POST' | 'PUT' | 'PUT new' | 'PUT existing' | 'PATCH' | 'DELETE' | 'DELETE strict'
  /** If-Match. */
  readonly versions: readonly number[] | undefined
  /** What a GraphQL mutation selects. */
  readonly shows: 'outcome' | 'resource' | 'relation'
}

const some = <Value>(...values: Value[]) => fc.constantFrom(...values)
const often = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>) => ({ weight, arbitrary })

/** Mostly the first value. */
const usually = <Value>(first: Value, other: Value) => fc.oneof(often(5, some(first)), often(1, some(other)))
const names = (...last: string[]) => last.map((name) => `§ ${name}`)

const planetIds = some('§p0', '§p1', '§p2', '§p3')
const missionIds = usually('§m0', '§m1')
const astronautIds = some('§a0', '§a1')

/** The first planets have the first names. */
const planets = fc.record({
  collection: some('/planets'),
  id: planetIds,
  body: fc.record(
    { name: some(...names('A', 'B', 'C', 'c', 'D', 'E', 'F', 'G', 'H')), host_star: some('Sol', 'Vega') },
    { requiredKeys: ['name'] },
  ),
})

const species = fc.record({
  collection: some('/species'),
  id: some('§s0', '§s1'),
  body: fc.record(
    {
      scientific_name: some(...names('bat', 'Bat', 'owl', 'eel', 'elk', 'emu', 'fox', 'gnu')),
      habitat: some('air', 'water'),
      planet_origin: some('§p0', '§ B', '§ new', '§-NEW', '§p3'),
      temperature_range: usually({ min_celsius: 1 }, { min_celsius: -300 }),
    },
    { requiredKeys: ['scientific_name'] },
  ),
})

const moons = fc.record({
  collection: usually('/planets/§p0/moons', '/planets/§p2/moons'),
  id: some('§x0', '§x1'),
  body: fc.record({ name: some('Luna', 'Ash') }),
})

const missions = fc.record({
  collection: some('/missions'),
  id: missionIds,
  body: fc.record(
    {
      name: some(...names('one', 'two', 'three', 'four')),
      status: usually('planned', 'active'),
      destination_planet_id: usually('§p0', '§p3'),
      spacecraft_id: usually('§c0', '§none'),
    },
    { requiredKeys: ['name'] },
  ),
})

const crew = fc.record({
  collection: missionIds.map((id) => `/missions/${id}/crew`),
  id: some('§w0', '§w1'),
  body: fc.record({ astronaut_id: astronautIds, role: some('pilot') }),
})

const kinds = fc.oneof(
  often(14, some<RandomWrite['kind']>('POST', 'PUT', 'PUT')),
  often(5, some<RandomWrite['kind']>('PATCH', 'DELETE')),
  often(1, some<RandomWrite['kind']>('PUT existing', 'PUT new', 'DELETE strict')),
)

const versions = fc.oneof(often(9, some(undefined)), often(1, some([1], [2], [1, 2], [1, 2, 3])))

/** Writes of one kind of resource, which may be executed together. */
const writesOf = (target: fc.Arbitrary<Pick<RandomWrite, 'collection' | 'id' | 'body'>>) =>
  fc.array(
    fc
      .tuple(target, kinds, versions, some<RandomWrite['shows']>('outcome', 'resource', 'relation'))
      .map(([resource, kind, versions, shows]): RandomWrite => ({ ...resource, kind, versions, shows })),
    { minLength: 1, maxLength: 4 },
  )

export const randomWrites: fc.Arbitrary<RandomWrite[]> = fc
  .array(
    fc.oneof(
      often(5, writesOf(planets)),
      often(3, writesOf(species)),
      often(2, writesOf(moons)),
      often(1, writesOf(missions)),
      often(1, writesOf(crew)),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((groups) => groups.flat())

const existing: readonly [collection: string, id: string, body: Json][] = [
  ['/planets', '§p0', { name: '§ A' }],
  ['/planets', '§p1', { name: '§ B' }],
  ['/species', '§s0', { scientific_name: '§ bat', planet_origin: '§p0' }],
  ['/planets/§p0/moons', '§x0', { name: 'Luna' }],
  ['/spacecraft', '§c0', { name: '§ ship', kind: 'lander', crew_capacity: 1 }],
  ['/astronauts', '§a0', { name: 'Ida' }],
  ['/astronauts', '§a1', { name: 'Ina' }],
  ['/missions', '§m0', { name: '§ one', spacecraft_id: '§c0' }],
]

/** What is stored before the random writes. */
export const existingWrites: readonly RandomWrite[] = existing.map(([collection, id, body]) => ({
  collection,
  id,
  body,
  kind: 'PUT new',
  versions: undefined,
  shows: 'outcome',
}))

/** As an operation of a batch, or as a request. */
export function asRequest({ collection, id, body, kind, versions }: RandomWrite) {
  const [method = ''] = kind.split(' ')
  if (kind === 'POST') return { method, path: collection, headers: {}, body }
  const headers = {
    ...(versions && { 'if-match': versions.map((version) => `"${id}:${version}"`).join() }),
    ...(kind === 'PUT new' && { 'if-none-match': '*' }),
    ...(kind === 'DELETE strict' && { prefer: 'handling=strict' }),
  }
  const sent = kind === 'PUT' ? { ...body, id } : body
  return { method, path: `${collection}/${id}`, headers, ...(method !== 'DELETE' && { body: sent }) }
}

/** A mutation with a field for each write, `w0` and so on, from an index. */
export function asMutation(writes: readonly RandomWrite[], directive: string, from = 0) {
  const fields = writes.map((write, index) => fieldOf(write, index + from))
  const declared = fields.flatMap(({ type, variable }) => (type ? [`$${variable}: ${type}`] : []))
  const declarations = declared.length > 0 ? `(${declared.join(', ')})` : ''
  return {
    query: `mutation ${declarations} ${directive} { ${fields.map(({ text }) => text).join('\n')} }`,
    variables: Object.fromEntries(
      fields.flatMap(({ type, variable, input }) => (type ? [[variable, input]] : [])),
    ),
  }
}

const RELATIONS: Readonly<Record<string, string>> = {
  planets: 'moons { totalCount } species { totalCount }',
  species: 'planet { name species { totalCount } }',
  moons: 'planet { name moons { totalCount } }',
  missions: 'crew { totalCount }',
  crew: 'astronaut { name currentMissionId }',
}

function fieldOf({ collection, id, body, kind, versions, shows }: RandomWrite, index: number) {
  const [, first = '', parentId, second] = collection.split('/')
  const resource = resourceAt(second ?? first)
  const names = graphNames(resource)
  const [method = ''] = kind.split(' ')
  const field = { POST: names.create, PUT: names.put, PATCH: names.patch, DELETE: names.delete }[method]
  const variable = `input${index}`
  const parent = parentArgument(resource)
  const list = [
    ...(parent ? [`${parent}: "${parentId}"`] : []),
    ...(kind === 'POST' ? [] : [`id: "${id}"`]),
    ...(method === 'DELETE' ? [] : [`${method === 'PATCH' ? 'patch' : 'input'}: $${variable}`]),
    ...(versions && kind !== 'POST' ? [`ifVersion: [${versions}]`] : []),
    ...(kind === 'PUT existing' ? ['mayCreate: false'] : []),
    ...(kind === 'PUT new' ? ['mayReplace: false'] : []),
    ...(kind === 'DELETE strict' ? ['strict: true'] : []),
  ]
  const input = toGraphNames(resource, body)
  const own = Object.keys(input).filter((name) => name !== 'temperatureRange')
  const shown = shows === 'resource' ? `id version ${own.join(' ')}` : RELATIONS[resource.path]
  const isShown = shows !== 'outcome' && method !== 'DELETE'
  return {
    text: `w${index}: ${field}(${list.join(', ')}) { outcome ${isShown ? `${singular(resource)} { ${shown} }` : ''} }`,
    variable,
    /** Of the variable; undefined if there is none. */
    type: { POST: `${names.input}!`, PUT: `${names.input}!`, PATCH: `${names.patchInput}!` }[method],
    input,
  }
}
