import anyTest, { type TestFn } from 'ava'
import { countStatements } from '../helpers/database/statements.ts'
import { resources } from '../helpers/domain/domain.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

/** Planets with two moons, two species and, every second one, an atmosphere. */
async function addPlanets(prefix: string, count: number): Promise<void> {
  const { client } = service().database
  const ids = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  await client.prisma.planet.createMany({ data: ids.map((id) => ({ id, name: id })) })
  const two = ids.flatMap((id) => [
    { planet: id, id: `${id}-a` },
    { planet: id, id: `${id}-b` },
  ])
  await client.prisma.moon.createMany({
    data: two.map(({ planet, id }) => ({ planet_id: planet, id, name: id })),
  })
  await client.prisma.species.createMany({
    data: two.map(({ planet, id }) => ({
      id,
      scientific_name: id,
      planet_id: planet,
      planet_origin: planet,
      discovery_status: 'newly_catalogued',
    })),
  })
  await client.prisma.atmosphere.createMany({
    data: ids.filter((_, index) => index % 2 === 0).map((id) => ({ id, planet_id: id, breathable: false })),
  })
}

const THREE_LEVELS = /* GraphQL */ `
  query ($limit: Int!) {
    planetPage(limit: $limit) {
      totalCount
      items {
        name
        hasAtmosphere
        atmosphere { breathable planet { name } }
        moons(limit: 5) { totalCount items { name planet { name hasAtmosphere } } }
        species(limit: 5, sort: [{ field: SCIENTIFIC_NAME, direction: DESC }]) {
          totalCount
          items { scientificName planet { name species(limit: 1) { totalCount items { scientificName } } } }
        }
      }
    }
  }
`

test.serial(
  'a list with three levels of relations takes the same few statements, however long it is',
  async (t) => {
    await addPlanets('world', 100)
    const { reader } = service()
    const ask = async (limit: number) => {
      const { result, statements } = await countStatements(() => reader.graphql(THREE_LEVELS, { limit }))
      t.is(result.errors, undefined)
      t.is(result.data.planetPage.items.length, limit)
      return { items: result.data.planetPage.items, statements }
    }
    const two = await ask(2)
    const hundred = await ask(100)
    t.log(`${hundred.statements.length} statements`)
    t.is(hundred.statements.length, two.statements.length)
    t.is(hundred.statements.length, 5)
    for (const planet of hundred.items) {
      const index = Number(planet.name.split('-')[1])
      t.is(planet.hasAtmosphere, index % 2 === 0)
      t.is(planet.atmosphere?.planet.name, index % 2 === 0 ? planet.name : undefined)
      t.is(planet.moons.totalCount, 2)
      t.deepEqual(
        planet.species.items.map((one: { scientificName: string }) => one.scientificName),
        [`${planet.name}-b`, `${planet.name}-a`],
      )
      t.is(planet.species.items[0].planet.species.items.length, 1)
      t.is(planet.species.items[0].planet.species.totalCount, 2)
    }
  },
)

test.serial('a total that is not asked for is not counted', async (t) => {
  const query = '{ speciesPage(limit: 3) { items { id } } }'
  const { statements } = await countStatements(() => service().reader.graphql(query))
  t.is(statements.length, 1)
})

test.serial('a filter, a sort and a page apply to each parent by itself', async (t) => {
  await addPlanets('filtered', 3)
  const query = `{ planetPage(filter: { id: { in: ["filtered-0", "filtered-1"] } }) { items { id
    moons(page: 2, limit: 1, filter: { name: { contains: "filtered" } }) { page totalCount totalPages hasMore items { id } } } } }`
  const { data } = await service().reader.graphql(query)
  for (const { id, moons } of data.planetPage.items) {
    t.like(moons, { page: 2, totalCount: 2, totalPages: 2, hasMore: false })
    t.is(moons.items[0].id, `${id}-b`)
  }
})

test.serial('a row that is read through its parent is the row that is read by itself', async (t) => {
  const { writer } = service()
  await writer.post('/planets', { id: 'exact', name: 'exact' })
  const body = {
    id: 'exact-one',
    scientific_name: 'Exactus \u{1F41F} "quoted"',
    planet_origin: 'exact',
    temperature_range: { min_celsius: 0.1 + 0.2, max_celsius: 12345678901234567000 },
    bioluminescent: false,
  }
  t.is((await writer.put('/species/exact-one', body)).status, 201)
  const fields =
    'id scientificName commonName temperatureRange { minCelsius maxCelsius } bioluminescent discoveredDate lastUpdated version'
  const { data } = await service().reader.graphql(
    `{ species(id: "exact-one") { ${fields} planet { species { items { ${fields} } } } } }`,
  )
  const { planet, ...alone } = data.species
  t.deepEqual(planet.species.items, [alone])
  t.is(alone.temperatureRange.minCelsius, 0.1 + 0.2)
})

/** Two missions, each with measurements 0 to 2, of which both have the same identifiers and times of creation. */
async function addMeasurements(): Promise<void> {
  const { client } = service().database
  const missions = ['first', 'second']
  await client.prisma.mission.createMany({ data: missions.map((id) => ({ id, name: id, status: 'active' })) })
  await client.prisma.missionData.createMany({
    data: missions.flatMap((mission_id, mission) =>
      [0, 1, 2].map((index) => ({
        mission_id,
        id: `${index}`,
        instrument: 'barometer',
        quantity: 'pressure',
        value: index,
        recorded_at: new Date(Date.UTC(2031, 0, 1 + 2 * index + mission)),
        created_date: new Date(Date.UTC(2031, 1, 1 + index)),
      })),
    ),
  })
}

test.serial(
  'owned resources are listed across parents in one statement, and another reads their parents',
  async (t) => {
    await addMeasurements()
    const selection = 'totalCount items { id recordedAt mission { name } }'
    const { result, statements } = await countStatements(() =>
      service().reader.graphql(
        `{ missionDataPage(limit: 3, sort: [{ field: RECORDED_AT, direction: DESC }]) { ${selection} } }`,
      ),
    )
    t.is(result.errors, undefined)
    t.is(result.data.missionDataPage.totalCount, 6)
    t.deepEqual(
      result.data.missionDataPage.items.map((one: Json) => [one.id, one.mission.name]),
      [
        ['2', 'second'],
        ['2', 'first'],
        ['1', 'second'],
      ],
    )
    t.is(statements.length, 2)
  },
)

test.serial('a parent that is a variable may be left out, and must exist if it is given', async (t) => {
  const query = `query ($missionId: ID) {
    missionDataPage(missionId: $missionId) { totalCount }
    missionDataConnection(missionId: $missionId) { totalCount } }`
  const countsOf = async (variables: object) => {
    const { data, errors } = await service().reader.graphql(query, variables)
    return errors
      ? errors.map(({ extensions }) => extensions.code)
      : [data.missionDataPage.totalCount, data.missionDataConnection.totalCount]
  }
  t.deepEqual(await countsOf({}), [6, 6])
  t.deepEqual(await countsOf({ missionId: null }), [6, 6])
  t.deepEqual(await countsOf({ missionId: 'second' }), [3, 3])
  t.deepEqual(await countsOf({ missionId: 'never' }), ['RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'])
})

test.serial('pages across parents lead forwards and back, although identifiers repeat', async (t) => {
  const pages: string[][] = []
  const ask = async (page: number, cursor: string | null) => {
    const { data } = await service().reader.graphql(
      `query ($page: Int!, $cursor: String) { missionDataPage(limit: 1, page: $page, cursor: $cursor) {
        page hasMore nextCursor previousCursor totalPages items { id missionId } } }`,
      { page, cursor },
    )
    return data.missionDataPage
  }
  let at = await ask(1, null)
  for (; at.hasMore; at = await ask(at.page + 1, at.nextCursor))
    pages.push([at.items[0].id, at.items[0].missionId])
  pages.push([at.items[0].id, at.items[0].missionId])
  t.deepEqual(
    pages,
    ['0', '1', '2'].flatMap((id) => [
      [id, 'first'],
      [id, 'second'],
    ]),
  )
  const last = at
  for (let number = 5; number >= 1; number--) {
    at = await ask(number, at.previousCursor)
    t.deepEqual(
      [at.page, at.hasMore, at.items[0].id, at.items[0].missionId],
      [number, true, ...(pages[number - 1] as string[])],
    )
  }
  await service().database.client.prisma.missionData.deleteMany({ where: { mission_id: 'second', id: '2' } })
  t.like(await ask(5, last.previousCursor), {
    page: 5,
    hasMore: false,
    items: [{ id: '2', missionId: 'first' }],
  })
})

test('every relation of every resource can be read from both sides', async (t) => {
  for (const resource of resources) {
    const { data, errors } = await service().reader.graphql(
      `{ __type(name: "${resource.name}") { fields { name args { name } type { kind name ofType { kind name } } } } }`,
    )
    t.is(errors, undefined)
    const related = data.__type.fields.filter((field: Field) => isRelation(field))
    const selections = related.map((field: Field) => `${field.name} { __typename }`)
    if (resource.kind === 'collection' && selections.length > 0) {
      const page = `${resource.name.charAt(0).toLowerCase()}${resource.name.slice(1)}Page`
      const answer = await service().reader.graphql(`{ ${page} { items { ${selections.join(' ')} } } }`)
      t.is(answer.errors, undefined, answer.text)
    }
  }
})

interface Field {
  readonly name: string
  readonly type: {
    readonly kind: string
    readonly name: string | null
    readonly ofType: { kind: string } | null
  }
}

function isRelation({ type }: Field): boolean {
  return type.kind === 'OBJECT' || type.ofType?.kind === 'OBJECT'
}
