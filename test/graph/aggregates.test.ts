import anyTest, { type TestFn } from 'ava'
import { countStatements } from '../helpers/database/statements.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

const HABITATS = ['reef', 'reef', 'reef', 'cave', 'cave', null]

test.serial.before(async () => {
  const { client } = service().database
  await client.prisma.species.createMany({
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
  await client.prisma.planet.createMany({
    data: [1995, 2001, 2001, null].map((discovery_year, index) => ({
      id: `p${index}`,
      name: `p${index}`,
      discovery_year,
      mass_jupiters: index === 3 ? 1.7e308 : 1,
    })),
  })
  await client.prisma.moon.createMany({
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

test.serial(
  'resources are grouped by the periods of a timestamp, in UTC, and empty periods are omitted',
  async (t) => {
    const { client } = service().database
    const times = ['2031-01-31T23:59:59.999Z', '2031-02-01T00:00:00.000Z', '2031-04-07T00:30:00.000Z', null]
    await client.prisma.spacecraft.createMany({
      data: times.map((launched_date, index) => ({
        id: `t${index}`,
        name: `t${index}`,
        kind: index === 1 ? 'rover' : 'lander',
        launched_date: launched_date && new Date(launched_date),
      })),
    })
    const grouped = async (unit: string, more = '') => {
      const { spacecraftAggregate } = await ask(
        `spacecraftAggregate(groupByTime: { field: LAUNCHED_DATE, unit: ${unit} }, order: KEY ${more}) {
        hasMore groups { time key { kind } count } }`,
      )
      return spacecraftAggregate.groups.map(({ time, key, count }: Json) => [
        time?.slice(0, 13) ?? null,
        key.kind,
        count,
      ])
    }
    t.deepEqual(await grouped('YEAR'), [
      ['2031-01-01T00', null, 3],
      [null, null, 1],
    ])
    t.deepEqual(await grouped('QUARTER'), [
      ['2031-01-01T00', null, 2],
      ['2031-04-01T00', null, 1],
      [null, null, 1],
    ])
    t.deepEqual(await grouped('MONTH', ', groupBy: [KIND], limit: 2'), [
      ['2031-01-01T00', 'lander', 1],
      ['2031-02-01T00', 'rover', 1],
    ])
    t.deepEqual((await grouped('WEEK')).slice(1), [
      ['2031-04-07T00', null, 1],
      [null, null, 1],
    ])
    t.deepEqual((await grouped('DAY'))[0], ['2031-01-31T00', null, 1])
    t.deepEqual((await grouped('HOUR'))[0], ['2031-01-31T23', null, 1])
  },
)

test.serial(
  'resources are grouped by the ranges of a number, of which the last includes its end',
  async (t) => {
    const { client } = service().database
    const masses = [0.5, 1, 1.5, 2, 3, 4, 0.1, null]
    await client.prisma.spacecraft.createMany({
      data: masses.map((mass, index) => ({
        id: `r${index}`,
        name: `r${index}`,
        kind: 'lander',
        dry_mass_kilograms: mass,
        crew_capacity: index,
      })),
    })
    t.teardown(
      async () => void (await client.prisma.spacecraft.deleteMany({ where: { id: { startsWith: 'r' } } })),
    )
    const grouped = async (field: string, bounds: readonly number[], more = '') => {
      const filter = 'filter: { id: { startsWith: "r" } }, order: KEY'
      const { spacecraftAggregate } = await ask(
        `spacecraftAggregate(groupByRange: { field: ${field}, bounds: [${bounds}] }, ${filter} ${more}) {
        groups { range key { kind } count } }`,
      )
      return spacecraftAggregate.groups.map(({ range, key, count }: Json) => [
        range,
        count,
        ...(more ? [key.kind] : []),
      ])
    }
    t.deepEqual(await grouped('DRY_MASS_KILOGRAMS', [0.5, 1, 2, 3]), [
      [0, 1],
      [1, 2],
      [2, 2],
      [null, 3],
    ])
    t.deepEqual(await grouped('DRY_MASS_KILOGRAMS', [1.5, 1.5]), [
      [0, 1],
      [null, 7],
    ])
    t.deepEqual(await grouped('CREW_CAPACITY', [0, 4, 8], ', groupBy: [KIND]'), [
      [0, 4, 'lander'],
      [1, 4, 'lander'],
    ])
    const wrong = [[], [1], [2, 1], Array.from({ length: 102 }, (_, index) => index)]
    for (const bounds of wrong) {
      const { errors } = await service().reader.graphql(
        `{ spacecraftAggregate(groupByRange: { field: CREW_CAPACITY, bounds: [${bounds}] }) { groups { range } } }`,
      )
      t.like(errors?.[0].extensions, {
        code: 'INVALID_QUERY_PARAMETER',
        details: [{ field: 'groupByRange.bounds', code: 'INVALID_RANGE' }],
      })
    }
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

test('owned resources are counted across their parents, which the key has', async (t) => {
  const { moonAggregate } = await ask(
    'moonAggregate(groupBy: [PLANET_ID], order: KEY) { groups { key { planetId planet { name } } count } }',
  )
  const group = (id: string, count: number) => ({ key: { planetId: id, planet: { name: id } }, count })
  t.deepEqual(moonAggregate.groups, [group('p0', 2), group('p1', 1)])
})

test.serial('the key of a group has what its references refer to, all read in one statement', async (t) => {
  const { client } = service().database
  await client.prisma.mission.createMany({
    data: ['p0', 'p1', 'p0', null].map((destination_planet_id, index) => ({
      id: `m${index}`,
      name: `m${index}`,
      status: 'planned',
      destination_planet_id,
    })),
  })
  const key = 'key { destinationPlanetId destination { id name } spacecraft { id } }'
  const query = `{ missionAggregate(groupBy: [DESTINATION_PLANET_ID], order: KEY) { groups { count ${key} } } }`
  const { result, statements } = await countStatements(() => service().reader.graphql(query))
  const group = (count: number, id: string | null) => {
    const destination = id === null ? null : { id, name: id }
    return { count, key: { destinationPlanetId: id, destination, spacecraft: null } }
  }
  t.is(result.errors, undefined)
  t.deepEqual(result.data.missionAggregate.groups, [group(2, 'p0'), group(1, 'p1'), group(1, null)])
  t.is(statements.length, 2)
  const { data, errors } = await service().withScope('missions:read spacecraft:read').graphql(query)
  t.deepEqual(data.missionAggregate.groups[0], {
    count: 2,
    key: { ...group(2, 'p0').key, destination: null },
  })
  t.is(errors?.[0].extensions.code, 'ACCESS_DENIED')
  t.deepEqual(errors?.[0].path, ['missionAggregate', 'groups', 0, 'key', 'destination'])
})

test.serial('a sum out of range is null with an error, and all else of the result is right', async (t) => {
  const { client } = service().database
  const yearOf = (id: string) => ({ discovery_year: id === 'small' ? 2090 : 2091 })
  for (const [id, mass_jupiters] of [
    ['heavy', 1.7e308],
    ['heavier', 1.6e308],
    ['small', 1.0000000000000002],
  ] as const) {
    await client.prisma.planet.create({
      data: { id, name: id, mass_jupiters, orbital_period_days: 3, ...yearOf(id) },
    })
  }
  const { data, errors } = await service().reader.graphql(`{ planetAggregate(
    groupBy: [DISCOVERY_YEAR], order: KEY, filter: { discoveryYear: { gte: 2090 } }
  ) { groups { count sum { massJupiters orbitalPeriodDays } average { massJupiters } maximum { massJupiters } } } }`)
  t.deepEqual(data.planetAggregate.groups, [
    {
      count: 1,
      sum: { massJupiters: 1.0000000000000002, orbitalPeriodDays: 3 },
      average: { massJupiters: 1.0000000000000002 },
      maximum: { massJupiters: 1.0000000000000002 },
    },
    {
      count: 2,
      sum: { massJupiters: null, orbitalPeriodDays: 6 },
      average: { massJupiters: 1.65e308 },
      maximum: { massJupiters: 1.7e308 },
    },
  ])
  t.deepEqual(
    errors?.map(({ path, extensions: { code } }: Json) => [path.join('.'), code]),
    [['planetAggregate.groups.1.sum.massJupiters', 'BUSINESS_RULE_VIOLATION']],
  )
})

test('the median of numbers and the number of different values are computed by group, without what is unset', async (t) => {
  const { speciesAggregate } = await ask(`speciesAggregate(groupBy: [HABITAT], order: KEY) { groups {
    median { temperatureRangeMinCelsius } distinctCount { habitat bioluminescent temperatureRangeMinCelsius } } }`)
  const values = (group: Json) => [
    group.median.temperatureRangeMinCelsius,
    group.distinctCount.habitat,
    group.distinctCount.bioluminescent,
    group.distinctCount.temperatureRangeMinCelsius,
  ]
  t.deepEqual(speciesAggregate.groups.map(values), [
    [3.5, 1, 2, 2],
    [1, 1, 2, 3],
    [null, 0, 1, 0],
  ])
})

test.serial('the median of the greatest and of the least numbers does not overflow', async (t) => {
  const { client } = service().database
  const numbers = {
    greatest: [2 ** 1023, 2 ** 1022],
    both: [-1.7e308, 1.7e308],
    least: [5e-324, 5e-324],
    odd: [1, 1e308, 3],
  }
  const mission_id = 'measured'
  await client.prisma.mission.create({ data: { id: mission_id, name: mission_id, status: 'active' } })
  await client.prisma.missionData.createMany({
    data: Object.entries(numbers).flatMap(([quantity, values]) =>
      values.map((value, index) => {
        return {
          mission_id,
          id: `${quantity}-${index}`,
          quantity,
          value,
          instrument: 'x',
          recorded_at: new Date(),
        }
      }),
    ),
  })
  for (const [quantity, median] of Object.entries({
    greatest: 3 * 2 ** 1021,
    both: 0,
    least: 5e-324,
    odd: 3,
  })) {
    const { missionDataAggregate } = await ask(
      `missionDataAggregate(filter: { quantity: { equals: "${quantity}" } }) { groups { median { value } } }`,
    )
    t.deepEqual(missionDataAggregate.groups, [{ median: { value: median } }])
  }
  await client.prisma.mission.deleteMany({ where: { id: mission_id } })
})

test.serial('only what is selected is computed, and squares out of range do no harm', async (t) => {
  const { client } = service().database
  await client.prisma.spacecraft.createMany({
    data: [3, 1e200].map((dry_mass_kilograms, index) => ({
      id: `measured-${index}`,
      name: `Measured ${index}`,
      kind: 'orbiter',
      dry_mass_kilograms,
    })),
  })
  const { result, statements } = await countStatements(() =>
    ask('spacecraftAggregate { groups { average { dryMassKilograms } sum { __typename } } }'),
  )
  t.deepEqual(result.spacecraftAggregate.groups, [
    { average: { dryMassKilograms: 5e199 }, sum: { __typename: 'SpacecraftMeasures' } },
  ])
  t.is(statements.length, 1)
  t.notRegex(statements[0] ?? '', /crew_capacity|sum\(.*sum\(|percentile|DISTINCT/)
})

async function ask(selection: string): Promise<Json> {
  const { data, errors } = await service().reader.graphql(`{ ${selection} }`)
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}
