import anyTest, { type TestFn } from 'ava'
import { countStatements } from '../helpers/database/statements.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test, { maximumPageSize: 1000 })

const SPECIES = 1000
const PLANETS = 200
const MISSIONS = 12
const CREW = 3
const HABITATS = ['reef', 'cave', 'forest', 'ice', 'ocean', 'desert']

test.serial.before(async () => {
  const { client } = service().database
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
  await client.prisma.planet.createMany({
    data: numbers(PLANETS).map((index) => ({
      id: `p${index}`,
      name: `p${index}`,
      discovery_year: 1990 + (index % 30),
    })),
  })
  await client.prisma.species.createMany({
    data: numbers(SPECIES).map((index) => ({
      id: `s${index}`,
      scientific_name: `s${index}`,
      habitat: HABITATS[index % HABITATS.length] as string,
      planet_id: `p${index % PLANETS}`,
      planet_origin: `p${index % PLANETS}`,
      temperature_range_min_celsius: index % 50,
      discovery_status: 'newly_catalogued',
      discovered_date: new Date(Date.UTC(2030, 0, 1) + index * 60_000),
    })),
  })
  await client.prisma.spacecraft.createMany({
    data: numbers(MISSIONS).map((index) => ({ id: `c${index}`, name: `c${index}`, kind: 'capsule' })),
  })
  await client.prisma.astronaut.createMany({
    data: numbers(MISSIONS * CREW).map((index) => ({ id: `a${index}`, name: `a${index}` })),
  })
  await client.prisma.mission.createMany({
    data: numbers(MISSIONS).map((index) => ({
      id: `m${index}`,
      name: `m${index}`,
      status: 'planned',
      launch_date: new Date(Date.UTC(2040, 0, 1 + index)),
      spacecraft_id: `c${index}`,
      destination_planet_id: `p${index}`,
    })),
  })
  await client.prisma.crewMember.createMany({
    data: numbers(MISSIONS * CREW).map((index) => ({
      mission_id: `m${Math.floor(index / CREW)}`,
      id: `crew${index}`,
      astronaut_id: `a${index}`,
      role: 'specialist',
    })),
  })
})

test.serial(
  'a page of a dashboard is one GraphQL request, 5 of REST with embed, and many without',
  async (t) => {
    for (const warmUp of [overGraphQL, overRest, embedding]) await warmUp()
    const one = await timed(overGraphQL)
    const few = await timed(embedding)
    const many = await timed(overRest)
    t.log(`GraphQL: 1 request, ${one.statements} statements, ${one.milliseconds} ms`)
    t.log(
      `REST, embed: ${few.result.requests} requests, ${few.statements} statements, ${few.milliseconds} ms`,
    )
    t.log(`REST: ${many.result.requests} requests, ${many.statements} statements, ${many.milliseconds} ms`)
    t.deepEqual(one.result, many.result.dashboard)
    t.deepEqual(one.result, few.result.dashboard)
    t.is(one.statements, 9)
    t.deepEqual([few.result.requests, few.statements], [5, 9])
    t.true(many.result.requests > 50)
  },
)

/** What the operation answers, brought to the few values that are compared. */
async function overGraphQL() {
  const { reader, origin } = service()
  const { body } = await reader.post(`${origin}/graphql`, { id: 'dashboard' })
  const { speciesByHabitat, newestSpecies, missions, planetsByYear } = body.data
  return {
    habitats: countsOf(speciesByHabitat.groups.map(({ key, count }: Json) => [key.habitat, count])),
    newest: newestSpecies.items.map(({ id, planet }: Json) => [id, planet.name]),
    missions: missions.items.map((mission: Json) => [
      mission.id,
      mission.spacecraft.name,
      mission.destination.name,
      mission.crew.items.map(({ astronaut }: Json) => astronaut.name),
    ]),
    years: countsOf(planetsByYear.groups.map(({ key, count }: Json) => [key.discoveryYear, count])),
  }
}

/** The same questions to REST, which counts nothing by group: what is counted is read, page by page. */
async function overRest() {
  const { reader } = service()
  let requests = 0
  const get = (path: string): Promise<Answer> => {
    requests += 1
    return reader.get(path)
  }
  const all = async (path: string, member: string) => {
    const items: Json[] = []
    for (let page = 1; ; page++) {
      const { body } = await get(`${path}?limit=100&page=${page}`)
      items.push(...body._embedded[member])
      if (!body.has_more) return items
    }
  }
  const named = async (path: string) => (await get(path)).body.name as string
  const newest = await get('/species?limit=10&sort=discovered_date:desc')
  const missions = await get('/missions?limit=10&sort=launch_date:desc')
  const dashboard = {
    habitats: counted((await all('/species', 'species')).map(({ habitat }) => habitat)),
    newest: await Promise.all(
      newest.body._embedded.species.map(async ({ id }: Json) => [
        id,
        await named((await get(`/species/${id}`)).body._links.planet.href),
      ]),
    ),
    missions: await Promise.all(
      missions.body._embedded.missions.map(async (mission: Json) => {
        const crew = (await get(`/missions/${mission.id}/crew`)).body._embedded.crew
        return [
          mission.id,
          await named(`/spacecraft/${mission.spacecraft_id}`),
          await named(`/planets/${mission.destination_planet_id}`),
          await Promise.all(crew.map((member: Json) => named(`/astronauts/${member.astronaut_id}`))),
        ]
      }),
    ),
    years: counted((await all('/planets', 'planets')).map((planet) => planet.discovery_year)),
  }
  return { dashboard, requests }
}

/** The same with `fields` and `embed`, and pages of up to 1,000 items for what is counted. */
async function embedding() {
  const { reader } = service()
  let requests = 0
  const items = async (path: string): Promise<Json[]> => {
    requests += 1
    const { body } = await reader.get(path)
    return Object.values<Json[]>(body._embedded)[0] as Json[]
  }
  const species = await items('/species?limit=1000&fields=habitat')
  const planets = await items('/planets?limit=1000&fields=discovery_year')
  const newest = await items('/species?limit=10&sort=discovered_date:desc&fields=id&embed=planet')
  const missions = await items(
    '/missions?limit=10&sort=launch_date:desc&fields=id&embed=spacecraft,destination,crew',
  )
  const crewOf = (mission: Json): Json[] => mission._embedded.crew._embedded.crew
  const ids = missions.flatMap((mission) => crewOf(mission).map((member) => member.astronaut_id))
  const astronauts = await items(`/astronauts?limit=1000&fields=name&filter=id[in]:${ids.join('|')}`)
  const nameOf = new Map(astronauts.map(({ id, name }) => [id, name]))
  const dashboard = {
    habitats: counted(species.map(({ habitat }) => habitat)),
    newest: newest.map(({ id, _embedded: embedded }) => [id, embedded.planet.name]),
    missions: missions.map((mission) => [
      mission.id,
      mission._embedded.spacecraft.name,
      mission._embedded.destination.name,
      crewOf(mission).map((member) => nameOf.get(member.astronaut_id)),
    ]),
    years: counted(planets.map((planet) => planet.discovery_year)),
  }
  return { dashboard, requests }
}

function counted(values: readonly unknown[]): Json {
  const counts = new Map<unknown, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return countsOf([...counts])
}

function countsOf(entries: readonly (readonly [unknown, number])[]): Json {
  return Object.fromEntries(entries.map(([value, count]) => [String(value), count]).sort())
}

async function timed<Result>(work: () => Promise<Result>) {
  const started = performance.now()
  const { result, statements } = await countStatements(work)
  return { result, statements: statements.length, milliseconds: Math.round(performance.now() - started) }
}
