import anyTest, { type TestFn } from 'ava'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

/** Fewer values than planets in each of these, and none in some: ties and nulls in every order. */
test.serial.before(async () => {
  const { client } = service().database
  await client.prisma.planet.createMany({
    data: Array.from({ length: 23 }, (_, index) => ({
      id: `p${String(index).padStart(2, '0')}`,
      name: `Name ${(index * 7) % 23}`,
      host_star: index % 4 === 0 ? null : `star ${index % 3}`,
      mass_jupiters: index % 5 === 0 ? null : (index % 6) + 0.1,
      discovery_year: index % 3 === 0 ? null : 2000 + (index % 4),
      habitable: [true, false, null][index % 3] as boolean | null,
    })),
  })
  await client.prisma.moon.createMany({
    data: Array.from({ length: 12 }, (_, index) => ({
      planet_id: `p0${index % 3}`,
      id: `m${index}`,
      name: `Moon ${index % 2}`,
    })),
  })
})

const SORTS = [
  '[]',
  '[{ field: NAME }]',
  '[{ field: HOST_STAR }, { field: MASS_JUPITERS, direction: DESC }]',
  '[{ field: DISCOVERY_YEAR, direction: DESC }]',
  '[{ field: HABITABLE }]',
  '[{ field: HABITABLE, direction: DESC }, { field: HOST_STAR, direction: DESC }]',
  '[{ field: LAST_UPDATED, direction: DESC }, { field: ID, direction: DESC }]',
]

for (const sort of SORTS) {
  test(`cursors visit every resource once, in order, in both directions: sort ${sort}`, async (t) => {
    const whole = (await ask(`planetPage(limit: 100, sort: ${sort}) { items { id } }`)).planetPage.items
    const expected = whole.map(({ id }: Json) => id)
    t.is(expected.length, 23)
    t.deepEqual(await walk(sort, 'forwards'), expected)
    t.deepEqual(await walk(sort, 'backwards'), expected)
  })
}

test('a connection has edges, nodes, page info and the total count', async (t) => {
  const { planetConnection: first } = await ask(
    'planetConnection(first: 2, sort: [{ field: ID }]) { totalCount nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }',
  )
  t.deepEqual(first.nodes, [{ id: 'p00' }, { id: 'p01' }])
  t.deepEqual(
    first.edges.map((edge: Json) => edge.node.id),
    ['p00', 'p01'],
  )
  t.is(first.totalCount, 23)
  t.like(first.pageInfo, { hasNextPage: true, hasPreviousPage: false, startCursor: first.edges[0].cursor })
  const between = await ask(
    `planetConnection(first: 100, sort: [{ field: ID }], after: "${first.edges[0].cursor}", before: "${await cursorOf('p05')}") { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage } }`,
  )
  t.deepEqual(
    between.planetConnection.nodes.map(({ id }: Json) => id),
    ['p01', 'p02', 'p03', 'p04'],
  )
  t.is(between.planetConnection.totalCount, 23)
})

test('a cursor stays valid when its resource is deleted', async (t) => {
  const { client } = service().database
  await client.prisma.spacecraft.createMany({
    data: ['a', 'b', 'c'].map((id) => ({ id, name: id, kind: 'lander' })),
  })
  const query = (after: string) =>
    `spacecraftConnection(first: 1, sort: [{ field: ID }]${after}) { nodes { id } pageInfo { endCursor } }`
  const { spacecraftConnection } = await ask(query(''))
  await client.prisma.spacecraft.delete({ where: { id: 'a' } })
  const next = await ask(query(`, after: "${spacecraftConnection.pageInfo.endCursor}"`))
  t.deepEqual(next.spacecraftConnection.nodes, [{ id: 'b' }])
})

test('the lists of several parents are connections as well', async (t) => {
  const { planetPage } = await ask(
    `planetPage(filter: { id: { in: ["p00", "p01", "p05"] } }) { items { id moonsConnection(last: 2) { totalCount nodes { id } pageInfo { hasPreviousPage } } } }`,
  )
  t.deepEqual(planetPage.items, [
    moonsOf('p00', ['m6', 'm9'], 4, true),
    moonsOf('p01', ['m4', 'm7'], 4, true),
    moonsOf('p05', [], 0, false),
  ])
})

test('an owned list is a connection under its parent, which must exist', async (t) => {
  const { moonConnection } = await ask(
    'moonConnection(planetId: "p01", first: 1) { totalCount nodes { id } }',
  )
  t.deepEqual(moonConnection, { totalCount: 4, nodes: [{ id: 'm1' }] })
  const { errors } = await service().reader.graphql('{ moonConnection(planetId: "never") { nodes { id } } }')
  t.is(errors?.[0].extensions.code, 'RESOURCE_NOT_FOUND')
})

for (const [args, field] of [
  ['first: 101', 'first'],
  ['last: -1', 'last'],
  ['first: 1, last: 1', 'last'],
  ['after: "nonsense"', 'after'],
  ['before: "W10"', 'before'],
] as const) {
  test(`a connection refuses ${args} and names the argument`, async (t) => {
    const { errors } = await service().reader.graphql(`{ planetConnection(${args}) { nodes { id } } }`)
    t.is(errors?.[0].extensions.code, 'INVALID_QUERY_PARAMETER')
    t.is(errors?.[0].extensions.details[0].field, field)
  })
}

test('a cursor of one order is refused in another', async (t) => {
  const cursor = await cursorOf('p03')
  const { errors } = await service().reader.graphql(
    `{ planetConnection(after: "${cursor}", sort: [{ field: NAME }]) { nodes { id } } }`,
  )
  t.is(errors?.[0].extensions.details[0].field, 'after')
})

function moonsOf(id: string, moons: string[], totalCount: number, hasPreviousPage: boolean) {
  return {
    id,
    moonsConnection: {
      totalCount,
      nodes: moons.map((moon) => ({ id: moon })),
      pageInfo: { hasPreviousPage },
    },
  }
}

async function cursorOf(id: string): Promise<string> {
  const { planetConnection } = await ask(
    `planetConnection(first: 1, sort: [{ field: ID }], filter: { id: { equals: "${id}" } }) { edges { cursor } }`,
  )
  return planetConnection.edges[0].cursor
}

async function walk(sort: string, direction: 'forwards' | 'backwards'): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = null
  for (let part = 0; part < 20; part++) {
    const place: string =
      cursor === null ? '' : `, ${direction === 'forwards' ? 'after' : 'before'}: "${cursor}"`
    const size = direction === 'forwards' ? 'first: 4' : 'last: 4'
    const { planetConnection: answer } = await ask(
      `planetConnection(${size}, sort: ${sort}${place}) { nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`,
    )
    const ids = answer.nodes.map(({ id }: Json) => id)
    if (direction === 'forwards') seen.push(...ids)
    else seen.unshift(...ids)
    const { hasNextPage, hasPreviousPage, startCursor, endCursor } = answer.pageInfo
    if ((direction === 'forwards' ? hasPreviousPage : hasNextPage) !== (cursor !== null))
      throw new Error(`The other side of part ${part} is wrong`)
    if (!(direction === 'forwards' ? hasNextPage : hasPreviousPage)) return seen
    cursor = direction === 'forwards' ? endCursor : startCursor
  }
  return seen
}

async function ask(selection: string): Promise<Json> {
  const { data, errors } = await service().reader.graphql(`{ ${selection} }`)
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}
