import anyTest, { type TestFn } from 'ava'
import { countStatements } from '../helpers/database/statements.ts'
import { resources } from '../helpers/domain/domain.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

/** Planets with two moons, two species and, every second one, an atmosphere. */
async function addPlanets(prefix: string, count: number): Promise<void> {
  const { client } = service().database
  const ids = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  await client.planet.createMany({ data: ids.map((id) => ({ id, name: id })) })
  const two = ids.flatMap((id) => [
    { planet: id, id: `${id}-a` },
    { planet: id, id: `${id}-b` },
  ])
  await client.moon.createMany({ data: two.map(({ planet, id }) => ({ planet_id: planet, id, name: id })) })
  await client.species.createMany({
    data: two.map(({ planet, id }) => ({
      id,
      scientific_name: id,
      planet_id: planet,
      planet_origin: planet,
      discovery_status: 'newly_catalogued',
    })),
  })
  await client.atmosphere.createMany({
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
