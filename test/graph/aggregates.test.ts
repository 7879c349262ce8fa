import anyTest, { type TestFn } from 'ava'
import type { Json } from '../helpers/client.ts'
import { shareTestService } from '../helpers/service.ts'
import { countStatements } from '../helpers/statements.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

const HABITATS = ['reef', 'reef', 'reef', 'cave', 'cave', null]

test.serial.before(async () => {
  const { client } = service().database
  await client.species.createMany({
    data: HABITATS.map((habitat, index) => ({
      id: `s${index}`,
      scientific_name: `Species ${index}`,
      habitat,
      bioluminescent: index % 2 === 0,
      temperature_range_min_celsius: index === 5 ? null : index,
      temperature_range_max_celsius: index === 5 ? null : index + 10,
      discovery_status: 'newly_catalogued',
    })),
  })
  await client.planet.createMany({
    data: [1995, 2001, 2001, null].map((discovery_year, index) => ({
      id: `p${index}`,
      name: `p${index}`,
      discovery_year,
      mass_jupiters: index === 3 ? 1.7e308 : 1,
    })),
  })
  await client.moon.createMany({
    data: ['p0', 'p0', 'p1'].map((planet_id, index) => ({ planet_id, id: `m${index}`, name: `m${index}` })),
  })
})

test.serial(
  'resources are counted by the value of a field, the largest group first, in one statement',
  async (t) => {
    const { result, statements } = await countStatements(() =>
      ask('speciesAggregate(groupBy: [HABITAT]) { hasMore groups { key { habitat } count } }'),
    )
    t.deepEqual(result.speciesAggregate, {
      hasMore: false,
      groups: [
        { key: { habitat: 'reef' }, count: 3 },
        { key: { habitat: 'cave' }, count: 2 },
        { key: { habitat: null }, count: 1 },
      ],
    })
    t.is(statements.length, 1)
    t.regex(statements[0] ?? '', /GROUP BY/)
  },
)

test('the numbers of a group are measured', async (t) => {
  const { speciesAggregate } = await ask(
    `speciesAggregate(groupBy: [HABITAT], order: KEY) { groups { key { habitat }
      minimum { temperatureRangeMinCelsius } maximum { temperatureRangeMaxCelsius }
      average { temperatureRangeMinCelsius } sum { temperatureRangeMinCelsius } } }`,
  )
  const numbers = (group: Json) => [
    group.key.habitat,
    group.minimum.temperatureRangeMinCelsius,
    group.maximum.temperatureRangeMaxCelsius,
    group.average.temperatureRangeMinCelsius,
    group.sum.temperatureRangeMinCelsius,
  ]
  t.deepEqual(speciesAggregate.groups.map(numbers), [
    ['cave', 3, 14, 3.5, 7],
    ['reef', 0, 12, 1, 3],
    [null, null, null, null, null],
  ])
})

test('groups can be ordered by key, with nulls last', async (t) => {
  const { planetAggregate } = await ask(
    'planetAggregate(groupBy: [DISCOVERY_YEAR], order: KEY, filter: { id: { in: ["p0", "p1", "p2", "p3"] } }) { groups { key { discoveryYear } count } }',
  )
  t.deepEqual(
    planetAggregate.groups.map((group: Json) => [group.key.discoveryYear, group.count]),
    [
      [1995, 1],
      [2001, 2],
      [null, 1],
    ],
  )
})

test('without fields to group by, all that the filter finds is one group', async (t) => {
  const { speciesAggregate } = await ask(
    `speciesAggregate(filter: { habitat: { in: ["reef", "cave"] } }) { groups { key { habitat } count average { temperatureRangeMinCelsius } } }`,
  )
  t.deepEqual(speciesAggregate.groups, [
    { key: { habitat: null }, count: 5, average: { temperatureRangeMinCelsius: 2 } },
  ])
  const none = await ask('speciesAggregate(filter: { habitat: { equals: "?" } }) { groups { count } }')
  t.deepEqual(none.speciesAggregate.groups, [{ count: 0 }])
})

test('groups can be made by several fields, and there can be more than the limit', async (t) => {
  const { speciesAggregate } = await ask(
    'speciesAggregate(groupBy: [HABITAT, BIOLUMINESCENT], limit: 2) { hasMore groups { key { habitat bioluminescent } count } }',
  )
  t.deepEqual(speciesAggregate, {
    hasMore: true,
    groups: [
      { key: { habitat: 'reef', bioluminescent: true }, count: 2 },
      { key: { habitat: 'cave', bioluminescent: false }, count: 1 },
    ],
  })
})

test('owned resources are counted across their parents', async (t) => {
  const { moonAggregate } = await ask(
    'moonAggregate(groupBy: [PLANET_ID]) { groups { key { planetId } count } }',
  )
  t.deepEqual(
    moonAggregate.groups.map((group: Json) => [group.key.planetId, group.count]),
    [
      ['p0', 2],
      ['p1', 1],
    ],
  )
})

test('a sum out of range is BUSINESS_RULE_VIOLATION', async (t) => {
  const { client } = service().database
  await client.planet.create({ data: { id: 'heavy', name: 'heavy', mass_jupiters: 1.7e308 } })
  const { errors } = await service().reader.graphql('{ planetAggregate { groups { sum { massJupiters } } } }')
  t.is(errors?.[0].extensions.code, 'BUSINESS_RULE_VIOLATION')
})

test('aggregates need the scope to read the collection', async (t) => {
  const { errors } = await service()
    .withScope('planets:read')
    .graphql('{ speciesAggregate { groups { count } } }')
  t.is(errors?.[0].extensions.code, 'ACCESS_DENIED')
})

async function ask(selection: string): Promise<Json> {
  const { data, errors } = await service().reader.graphql(`{ ${selection} }`)
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}
