import { readFileSync } from 'node:fs'
import test from 'ava'
import { buildSchema, parse, validate } from 'graphql'
import { CostEstimator, changesPerPage } from '../../../src/features/load/cost.ts'
import { createCompleteSchema } from '../../../src/service/features.ts'
import { resources } from '../../helpers/domain/domain.ts'
import { claimResults } from '../../helpers/service/transcript.ts'

const schema = buildSchema(`
  interface Node { id: ID }
  type Planet implements Node { id: ID name: String moons(limit: Int): [Moon] list(first: Int, last: Int): [Moon] }
  type Moon implements Node { id: ID }
  enum Kind { ROCK GAS ICE }
  input Filter { name: Condition kind: Kind }
  input Condition { equals: String prefix: String suffix: String }
  type Query { planet(id: ID, filter: Filter): Planet node: Node planets(nodeIds: [ID]): [Planet] }
`)

const estimator = new CostEstimator(schema, [], async () => 0)

const COSTS = {
  '{ planet { name } }': 2,
  // A list of the default length.
  '{ planet { moons { id } } }': 4,
  '{ planet { moons(limit: 0) { id } } }': 3,
  '{ planet { moons(limit: 50) { id } } }': 7,
  '{ planet { list(last: 50) { id } } }': 7,
  '{ planets(nodeIds: ["a", "b"]) { name moons(limit: 100) { id } } }': 23,
  '{ __schema { types { name } } }': 22,
  '{ __schema { queryType { name } mutationType { name } } }': 11,
  '{ __schema { directives { name } } }': 7,
  '{ __schema { types { fields { name } } } }': 74,
  '{ __schema { types { inputFields { name } } } }': 33,
  '{ __schema { types { enumValues { name } } } }': 54,
  '{ __schema { types { interfaces { name } } } }': 23,
  '{ __schema { types { possibleTypes { name } } } }': 23,
  '{ __schema { types { ofType { name } } } }': 31,
  '{ __schema { types { fields { args { name } } } } }': 83,
  // The largest type of the schema; `Node`, by the number of its types.
  '{ __type(name: "Planet") { fields { name } } }': 17,
  '{ __type(name: "Node") { possibleTypes { name } } }': 22,
}

/** What these operations, which are the keys, cost. */
function costsOf(estimator: CostEstimator, operations: object): Record<string, number> {
  const costs = Object.keys(operations).map((operation) => [
    operation,
    estimator.response({ document: parse(operation), variables: {} }),
  ])
  return Object.fromEntries(costs)
}

test('a field costs one, and its texts as often as it has items; introspection, as the types have on average', (t) => {
  t.deepEqual(costsOf(estimator, COSTS), COSTS)
})

test('a page of changes has as many as cost 2,000 at most, and one in any case', (t) => {
  t.deepEqual([1, 7, 1_000, 2_000, 2_001].map(changesPerPage), [2_000, 285, 2, 1, 1])
})

const builtIn = new CostEstimator(
  buildSchema(readFileSync('docs/schema.graphql', 'utf8')),
  resources,
  async () => 0,
)

const COSTS_OF_TEXTS = {
  '{ species(id: "x") { nodeId } }': 2,
  '{ species(id: "x") { scientificName } }': 3,
  '{ species(id: "x") { changedBy } }': 9,
  '{ atmosphere(planetId: "x") { composition } }': 51,
  '{ planetPage(limit: 1) { nextCursor } }': 5,
  '{ planetPage(limit: 1) { previousCursor } }': 5,
  '{ planetConnection(first: 1) { pageInfo { startCursor } } }': 6,
  '{ planetConnection(first: 1) { pageInfo { endCursor } } }': 6,
  '{ planetConnection(first: 1) { edges { cursor } } }': 6,
  '{ changes { nextCursor } }': 81,
  '{ changes { items { cursor } } }': 23,
  '{ changes { items { by } } }': 181,
  '{ changes { items { resource } } }': 1_141,
  '{ versions(collection: "species", id: "x") { items { by } } }': 341,
  '{ versions(collection: "species", id: "x") { items { resource } } }': 1_141,
  '{ speciesAggregate(groupBy: [HABITAT]) { groups { key { habitat } } } }': 401,
}

test('a text costs as much as its longest value, and a recorded resource as the longest one', (t) => {
  t.deepEqual(costsOf(builtIn, COSTS_OF_TEXTS), COSTS_OF_TEXTS)
})

const schemaOfDomain = createCompleteSchema(resources)
const TABLES = resources.map(({ path }) => path)
const MOST_OF_A_STATEMENT = 50_000

test('operations cost what costs.txt says, as do the tables that they scan', async (t) => {
  const bytesOf = async ({ path }: { path: string }) => 32 * 1024 * 1_000 * 2 ** TABLES.indexOf(path)
  const whole = new CostEstimator(schemaOfDomain, resources, bytesOf)
  await claimResults(t, 'test/features/load/costs.txt', async ([text = '', variables = '{}']) => {
    const document = parse(text)
    t.deepEqual(validate(schemaOfDomain, document), [], text)
    const operation = { document, variables: JSON.parse(variables) }
    const { response, total } = await whole.all(operation, MOST_OF_A_STATEMENT)
    return [`response ${response}, tables ${total - response}`]
  })
})
