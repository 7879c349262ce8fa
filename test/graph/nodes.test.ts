import anyTest, { type TestFn } from 'ava'
import { camelCase, graphNames, parentArgument } from '../../src/graph/names.ts'
import { countStatements } from '../helpers/database/statements.ts'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures } from '../helpers/domain/fixtures.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

const NODES = `query ($nodeIds: [ID!]!) { nodes(nodeIds: $nodeIds) { __typename nodeId
  ... on Moon { id name planet { name } } ... on Planet { id } ... on Species { id } } }`

async function ask(query: string, variables: object = {}): Promise<Json> {
  const { data, errors } = await service().reader.graphql(query, variables)
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}

/** Planets with the same moons each. */
async function addPlanets(names: readonly string[], moons: readonly string[]): Promise<void> {
  const { client } = service().database
  await client.prisma.planet.createMany({ data: names.map((id) => ({ id, name: id })) })
  const data = names.flatMap((id) =>
    moons.map((moon) => ({ planet_id: id, id: moon, name: `${moon} of ${id}` })),
  )
  await client.prisma.moon.createMany({ data })
}

/** The nodeIds of the moons of planets, in the order of the planets. */
async function moonsOf(names: readonly string[]): Promise<Json[]> {
  const query = `query ($names: [ID!]) { planetPage(limit: 100, sort: [{ field: ID }], filter: { id: { in: $names } }) {
    items { nodeId moons(sort: [{ field: ID }]) { items { nodeId name } } } } }`
  const { planetPage } = await ask(query.replace('[ID!]', '[ID!]!'), { names })
  return planetPage.items
}

for (const resource of resources) {
  test(`${resource.path}: node reads a resource by the nodeId that every way to it shows`, async (t) => {
    const created = await new Fixtures(service().writer).create(resource)
    const parent = parentArgument(resource)
    const args = [
      ...(parent ? [`${parent}: "${created.parentId}"`] : []),
      ...(resource.kind === 'singleton' ? [] : [`id: "${created.id}"`]),
    ].join(', ')
    const { read } = graphNames(resource)
    const { resource: found } = await ask(`{ resource: ${read}(${args}) { nodeId id lastUpdated version } }`)
    t.regex(found.nodeId, /^[A-Za-z0-9_-]+$/)
    const { node } = await ask(
      `query ($nodeId: ID!) { node(nodeId: $nodeId) { __typename nodeId
        ... on ${resource.name} { id lastUpdated version ${parent ? camelCase(resource.parentField as string) : ''} } } }`,
      { nodeId: found.nodeId },
    )
    t.like(node, { ...found, __typename: resource.name })
    if (parent) t.is(node[parent], created.parentId)
    const { errors, data } = await service()
      .withScope(resource.path === 'planets' ? 'species:read' : 'planets:read')
      .graphql(NODES, { nodeIds: [found.nodeId, 'nonsense'] })
    t.is(errors?.[0].extensions.code, 'ACCESS_DENIED')
    t.deepEqual(errors?.[0].path, ['nodes', 0])
    t.deepEqual(data.nodes, [null, null])
    await service().writer.delete(created.path)
    t.deepEqual(await ask(NODES, { nodeIds: [found.nodeId] }), { nodes: [null] })
  })
}

test('owned resources with one identifier under several parents are told apart', async (t) => {
  await addPlanets(['earth', 'mars'], ['alpha'])
  const [earth, mars] = await moonsOf(['earth', 'mars'])
  const nodeIds = [mars.moons.items[0].nodeId, earth.nodeId, earth.moons.items[0].nodeId]
  t.is(new Set([...nodeIds, mars.nodeId]).size, 4)
  const { nodes } = await ask(NODES, { nodeIds })
  t.deepEqual(
    nodes.map(({ name, id }: Json) => name ?? id),
    ['alpha of mars', 'earth', 'alpha of earth'],
  )
})

test('an invalid or changed nodeId finds nothing', async (t) => {
  await addPlanets(['venus'], ['beta'])
  const [venus] = await moonsOf(['venus'])
  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  const nodeIds = [
    '',
    'x',
    '\u0000',
    `${venus.nodeId}=`,
    `${venus.nodeId}\n`,
    ...[
      'Planet',
      'Planet/',
      'Planet/venus/',
      'planets/venus',
      'Moon/beta',
      'Moon/venus/beta/',
      'Planet/a b',
    ].map(encoded),
    ...[
      'Nothing/venus',
      'Node/venus',
      'Query/venus',
      '__proto__/venus',
      'Planet/\u0000',
      'Moon/\u0000/beta',
    ].map(encoded),
    ...['Planet/other', 'Moon/other/beta', 'Moon/venus/other', 'Atmosphere/venus'].map(encoded),
  ]
  t.deepEqual(await ask(NODES, { nodeIds }), { nodes: nodeIds.map(() => null) })
})

test.serial('many nodes take one statement for each type', async (t) => {
  const names = Array.from({ length: 40 }, (_, index) => `world-${String(index).padStart(2, '0')}`)
  await addPlanets(names, ['alpha', 'beta'])
  const worlds = await moonsOf(names)
  for (const count of [2, 40]) {
    const nodeIds = worlds
      .slice(0, count)
      .flatMap(({ nodeId, moons }: Json, index: number) => [nodeId, moons.items[index % 2].nodeId])
    const { result, statements } = await countStatements(() => ask(NODES, { nodeIds }))
    t.is(statements.length, 2, statements.join('\n'))
    t.deepEqual(
      result.nodes.map(({ nodeId }: Json) => nodeId),
      nodeIds,
    )
    t.deepEqual(
      result.nodes.filter(({ planet }: Json) => planet).map(({ name }: Json) => name),
      names.slice(0, count).map((name, index) => `${['alpha', 'beta'][index % 2]} of ${name}`),
    )
  }
})

test('nodes takes as many as a page has, each of which counts as an object', async (t) => {
  const { reader } = service()
  const nodeIds = Array.from({ length: 101 }, () => 'x')
  const { errors } = await reader.graphql(NODES, { nodeIds })
  t.is(errors?.[0].extensions.code, 'INVALID_QUERY_PARAMETER')
  t.is(errors?.[0].extensions.details[0].field, 'nodeIds')
  const costly = await reader.graphql(
    `query ($nodeIds: [ID!]!) { nodes(nodeIds: $nodeIds) { ... on Planet { moonsConnection(first: 100) { nodes { name planet { name } } } } } }`,
    { nodeIds: nodeIds.slice(1) },
  )
  t.is(costly.status, 400)
  t.regex(costly.errors?.[0].message, /may cost more than the limit of 20000: up to \d+\./)
})

test('a list of REST asks for no nodeId', async (t) => {
  const { headers } = await service().reader.get('/planets', { prefer: 'graphql-operation' })
  const operation = headers.get('graphql-operation') ?? ''
  t.true(operation.includes('planetPage'))
  t.false(operation.includes('nodeId'))
})
