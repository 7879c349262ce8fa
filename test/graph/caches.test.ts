import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import anyTest, { type TestFn } from 'ava'
import relay, { type ConcreteRequest } from 'relay-runtime'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

// Normalizing caches identify objects by one value. The setups are those of docs/guides/graphql-clients.md.

const { createOperationDescriptor, Environment, fetchQuery, Network, RecordSource, Store } = relay
const test = anyTest as TestFn
const service = shareTestService(test)

test.serial.before(async () => {
  const { client } = service().database
  await client.prisma.planet.createMany({ data: ['earth', 'mars'].map((id) => ({ id, name: id })) })
  const data = ['earth', 'mars'].map((id) => ({ planet_id: id, id: 'alpha', name: `alpha of ${id}` }))
  await client.prisma.moon.createMany({ data })
})

function apollo(cache: InMemoryCache): ApolloClient {
  const headers = { authorization: service().writer.authorization as string }
  return new ApolloClient({ cache, link: new HttpLink({ uri: `${service().origin}/graphql`, headers }) })
}

const APOLLO_CLIENTS = {
  'with the line of the documentation': () => ({
    cache: new InMemoryCache({ dataIdFromObject: ({ nodeId }) => nodeId as string | undefined }),
    identifiers: 'id nodeId',
  }),
  'with default settings, and nodeId as id': () => ({
    cache: new InMemoryCache(),
    identifiers: 'id: nodeId',
  }),
  'with the line, where nodeId is not asked for': () => ({
    cache: new InMemoryCache({ dataIdFromObject: ({ nodeId }) => nodeId as string | undefined }),
    identifiers: 'id',
  }),
}

for (const [settings, create] of Object.entries(APOLLO_CLIENTS)) {
  test(`Apollo Client ${settings} does not mix up moons with the same id`, async (t) => {
    const { cache, identifiers } = create()
    const client = apollo(cache)
    const list = gql`query ($planetId: ID!) { moonPage(planetId: $planetId) { items { ${identifiers} name } } }`
    const nested = gql`query { planetPage(sort: [{ field: ID }]) { items { ${identifiers} name moons { items { ${identifiers} name } } } } }`
    const namesOf = async (planetId: string) => {
      const { data } = await client.query<Json>({ query: list, variables: { planetId } })
      return data.moonPage.items.map(({ name }: Json) => name)
    }
    for (const planet of ['earth', 'mars', 'earth', 'mars']) {
      t.deepEqual(await namesOf(planet), [`alpha of ${planet}`])
    }
    const { data } = await client.query<Json>({ query: nested })
    t.deepEqual(
      data.planetPage.items.map(({ moons }: Json) => moons.items[0].name),
      ['alpha of earth', 'alpha of mars'],
    )
    t.deepEqual(
      (client.readQuery<Json>({ query: list, variables: { planetId: 'earth' } }) as Json).moonPage.items[0]
        .name,
      'alpha of earth',
    )
    client.stop()
  })
}

test.serial(
  'a mutation by Apollo Client updates the one moon that it changed, wherever it is shown',
  async (t) => {
    const client = apollo(
      new InMemoryCache({ dataIdFromObject: ({ nodeId }) => nodeId as string | undefined }),
    )
    const list = gql`query ($planetId: ID!) { moonPage(planetId: $planetId) { items { nodeId id radiusKilometres } } }`
    for (const planetId of ['earth', 'mars']) await client.query({ query: list, variables: { planetId } })
    await client.mutate({
      mutation: gql`mutation { patchMoon(planetId: "mars", id: "alpha", patch: { radiusKilometres: 11 }) { moon { nodeId radiusKilometres } } }`,
    })
    const radiusOf = (planetId: string) =>
      (client.readQuery<Json>({ query: list, variables: { planetId } }) as Json).moonPage.items[0]
        .radiusKilometres
    t.deepEqual([radiusOf('earth'), radiusOf('mars')], [null, 11])
    client.stop()
  },
)

const scalar = (name: string) => ({ alias: null, args: null, kind: 'ScalarField', name, storageKey: null })

const linked = (
  name: string,
  concreteType: string | null,
  plural: boolean,
  selections: object[],
  argument?: string,
) => ({
  alias: null,
  args: argument ? [{ kind: 'Variable', name: argument, variableName: argument }] : null,
  concreteType,
  kind: 'LinkedField',
  name,
  plural,
  selections,
  storageKey: null,
})

/** A request as relay-compiler makes it with the configuration of docs/GRAPHQL.md. */
function relayRequest(text: string, argument: string, selections: object[]): ConcreteRequest {
  const variables = [{ defaultValue: null, kind: 'LocalArgument', name: argument }]
  const common = { argumentDefinitions: variables, name: 'Test', selections }
  return {
    fragment: { ...common, kind: 'Fragment', metadata: null, type: 'Query', abstractKey: null },
    kind: 'Request',
    operation: { ...common, kind: 'Operation' },
    params: { cacheID: text, id: null, metadata: {}, name: 'Test', operationKind: 'query', text },
  } as unknown as ConcreteRequest
}

const MOON_FIELDS = ['id', 'name', 'nodeId'].map(scalar)

const MOONS = relayRequest(
  'query Test($planetId: ID!) { moonPage(planetId: $planetId) { items { id name nodeId } } }',
  'planetId',
  [linked('moonPage', 'MoonPage', false, [linked('items', 'Moon', true, MOON_FIELDS)], 'planetId')],
)

const REFETCH = relayRequest(
  'query Test($nodeId: ID!) { node(nodeId: $nodeId) { __typename ... on Moon { id name } nodeId } }',
  'nodeId',
  [
    linked(
      'node',
      null,
      false,
      [
        scalar('__typename'),
        scalar('nodeId'),
        { kind: 'InlineFragment', selections: MOON_FIELDS, type: 'Moon', abstractKey: null },
      ],
      'nodeId',
    ),
  ],
)

test.serial(
  'Relay does not mix up moons with the same id, and refetches the one that is meant',
  async (t) => {
    const environment = new Environment({
      network: Network.create(async ({ text }, variables) => {
        const { data, errors } = await service().reader.graphql(text as string, variables)
        if (errors) throw new Error(JSON.stringify(errors))
        return { data }
      }),
      store: new Store(new RecordSource()),
      getDataID: (object: Json) => object.nodeId,
    } as ConstructorParameters<typeof Environment>[0])
    const lookUp = (planetId: string): Json =>
      environment.lookup(createOperationDescriptor(MOONS, { planetId }).fragment).data
    for (const planetId of ['earth', 'mars']) await fetchQuery(environment, MOONS, { planetId }).toPromise()
    t.is(lookUp('earth').moonPage.items[0].name, 'alpha of earth')
    t.is(lookUp('mars').moonPage.items[0].name, 'alpha of mars')
    await service().writer.patch('/planets/mars/moons/alpha', { name: 'renamed' })
    const { nodeId } = lookUp('mars').moonPage.items[0]
    const answer = (await fetchQuery(environment, REFETCH, { nodeId }).toPromise()) as Json
    t.like(answer.node, { __typename: 'Moon', id: 'alpha', name: 'renamed', nodeId })
    t.is(lookUp('mars').moonPage.items[0].name, 'renamed')
    t.is(lookUp('earth').moonPage.items[0].name, 'alpha of earth')
    await service().writer.patch('/planets/mars/moons/alpha', { name: 'alpha of mars' })
  },
)
