import anyTest, { type TestFn } from 'ava'
import { parse } from 'graphql'
import type { TableSizes } from '../../src/domain/table-sizes.ts'
import { CostEstimator } from '../../src/graph/execution/cost.ts'
import { createSchema } from '../../src/graph/schema/schema.ts'
import { domain } from '../helpers/domain/domain.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

test.serial.before(async () => {
  const { client } = service().database
  await client.planet.create({ data: { id: 'p', name: 'p' } })
  await client.moon.createMany({
    data: ['a', 'b', 'c'].map((id) => ({ planet_id: 'p', id, name: id, tidally_locked: id === 'a' })),
  })
})

/** How many moons each way of reading finds for a filter. */
async function found(filter: string): Promise<Json> {
  const { data, errors } = await service().reader.graphql(`{
    moonPage(planetId: "p", filter: ${filter}) { totalCount items { id } }
    moonConnection(planetId: "p", filter: ${filter}) { totalCount nodes { id } }
    moonAggregate(filter: ${filter}) { groups { count } }
    planetPage { items { moons(filter: ${filter}) { totalCount items { id } } } }
  }`)
  if (errors) throw new Error(JSON.stringify(errors))
  const [{ moons }] = data.planetPage.items
  return {
    page: [data.moonPage.totalCount, data.moonPage.items.length],
    connection: [data.moonConnection.totalCount, data.moonConnection.nodes.length],
    aggregate: data.moonAggregate.groups[0].count,
    nested: [moons.totalCount, moons.items.length],
  }
}

for (const [filter, count] of [
  ['{ or: [] }', 0],
  ['{ and: [{ or: [] }] }', 0],
  ['{ or: [{ or: [] }, { id: { equals: "a" } }] }', 1],
  ['{ and: [] }', 3],
  ['{ or: [{}] }', 3],
  ['{ name: { in: [] } }', 0],
  ['{ tidallyLocked: { in: [] } }', 0],
  ['{ createdDate: { in: [] } }', 0],
  ['{ tidallyLocked: { in: [true, false] } }', 3],
  ['{ name: { contains: "%" } }', 0],
] as const) {
  test(`the filter ${filter} means the same for pages, connections, aggregates and nested lists`, async (t) => {
    t.deepEqual(await found(filter), {
      page: [count, count],
      connection: [count, count],
      aggregate: count,
      nested: [count, count],
    })
  })
}

test('a time outside the years 1 to 9999 is refused wherever there is a filter', async (t) => {
  const { reader } = service()
  for (const moment of ['0000-06-01T00:00:00Z', '0000-12-31T23:59:59.999Z']) {
    const filter = `{ createdDate: { gt: "${moment}" } }`
    for (const query of [
      `{ moonPage(planetId: "p", filter: ${filter}) { items { id } } }`,
      `{ moonAggregate(filter: ${filter}) { groups { count } } }`,
      `{ planetPage { items { moons(filter: ${filter}) { items { id } } } } }`,
    ]) {
      const { errors } = await reader.graphql(query)
      t.is(errors?.[0].extensions.code, 'VALIDATION_FAILED', query)
      t.regex(errors?.[0].message, /years 1 to 9999/)
    }
  }
})

test('the first or last 0 of a list are none', async (t) => {
  for (const size of ['first: 0', 'last: 0']) {
    const { data } = await service().reader.graphql(
      `{ moonConnection(planetId: "p", ${size}) { totalCount nodes { id } edges { cursor } pageInfo { startCursor } } }`,
    )
    t.deepEqual(data.moonConnection, { totalCount: 3, nodes: [], edges: [], pageInfo: { startCursor: null } })
  }
})

for (const [filter, field] of [
  ['{ name: { equals: null } }', 'filter.name.equals'],
  ['{ name: { equals: $unset } }', 'filter.name.equals'],
  ['{ name: { equals: $absent } }', 'filter.name'],
  ['{ name: { in: null } }', 'filter.name.in'],
  ['{ name: { equals: "a", contains: null } }', 'filter.name.contains'],
  ['{ createdDate: { gte: null } }', 'filter.createdDate.gte'],
  ['{ tidallyLocked: null }', 'filter.tidallyLocked'],
  ['{ or: null }', 'filter.or'],
  ['{ and: null }', 'filter.and'],
  ['{ and: [{ name: { equals: "a" } }, { or: [{ id: { in: null } }] }] }', 'filter.and.1.or.0.id.in'],
] as const) {
  test(`an operand that is null or unset is refused wherever there is a filter: ${filter}`, async (t) => {
    for (const list of [
      `moonPage(planetId: "p", filter: ${filter}) { items { id } }`,
      `moonConnection(planetId: "p", filter: ${filter}) { nodes { id } }`,
      `moonAggregate(filter: ${filter}) { groups { count } }`,
      `planetPage { items { moons(filter: ${filter}) { items { id } } } }`,
    ]) {
      const variables = `${filter.includes('$unset') ? '$unset: String, ' : ''}${filter.includes('$absent') ? '$absent: String' : ''}`
      const query = `query ${variables && `(${variables})`} { ${list} }`
      const { errors } = await service().reader.graphql(query, { unset: null })
      t.is(errors?.[0].extensions.code, 'VALIDATION_FAILED', query)
      t.is(errors?.[0].extensions.details[0].field, field)
    }
  })
}

test('a null within a group is named by its path; a filter as a variable is the same', async (t) => {
  const filter = { temperatureRange: { minCelsius: { gte: null }, maxCelsius: { lte: 3 } } }
  const { errors } = await service().reader.graphql(
    'query ($filter: SpeciesFilter) { speciesPage(filter: $filter) { items { id } } }',
    { filter },
  )
  t.is(errors?.[0].extensions.code, 'VALIDATION_FAILED')
  t.deepEqual(
    errors?.[0].extensions.details.map(({ field }: Json) => field),
    ['filter.temperatureRange.minCelsius.gte'],
  )
})

test('a filter that is null or not given is none', async (t) => {
  for (const variables of [{}, { filter: null }]) {
    const { data } = await service().reader.graphql(
      'query ($filter: MoonFilter) { moonPage(planetId: "p", filter: $filter) { totalCount } }',
      variables,
    )
    t.is(data.moonPage.totalCount, 3)
  }
})

test('a filter with more than a hundred conditions is refused, and one with a hundred is served', async (t) => {
  const { reader } = service()
  const query = 'query ($filter: SpeciesFilter) { speciesPage(filter: $filter) { totalCount } }'
  const answers = async (count: number) => {
    const numbers = Array.from({ length: count }, (_, index) => index)
    const filter = { or: numbers.map((number) => ({ habitat: { contains: `never ${number}` } })) }
    const text = numbers.map((number) => `filter=habitat[contains]:${number}`).join('&')
    const { errors } = await reader.graphql(query, { filter })
    const { body } = await reader.get(`/species?${text}`)
    return [errors?.[0].extensions, body.error].map((error) => error && [error.code, error.details[0].code])
  }
  t.deepEqual(await answers(100), [undefined, undefined])
  const refusal = ['INVALID_QUERY_PARAMETER', 'TOO_LONG']
  t.deepEqual(await answers(101), [refusal, refusal])
})

test('the cost of a filter grows with its conditions, up to that of one statement', async (t) => {
  const sizes = { of: async () => 320 * 1024 } as unknown as TableSizes
  const schema = createSchema(domain.resources, domain.versions)
  const estimator = new CostEstimator(schema, domain.resources, sizes)
  const cost = async (field: string, count: number, limit = 1_000) => {
    const document = parse(`query ($filter: SpeciesFilter) { ${field} }`)
    const values = ['a', 'b', 'c']
    const and = Array.from({ length: count }, () => ({ habitat: { in: values } }))
    const operation = { document, variables: { filter: { and } } }
    const { response, total } = await estimator.all(operation, limit)
    return total - response
  }
  const page = 'speciesPage(filter: $filter) { totalCount }'
  t.is(await cost(page, 1), 10)
  t.is(await cost(page, 80), 100)
  t.is(await cost('speciesAggregate(filter: $filter) { groups { count } }', 80), 100)
  t.is(await cost(page, 80, 50), 50)
})
