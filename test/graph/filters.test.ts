import anyTest, { type TestFn } from 'ava'
import { execute, parse } from 'graphql'
import type { Domain } from '../../src/domain/context.ts'
import { sessionsOf } from '../../src/domain/session/session.ts'
import { type Slot, UNLIMITED } from '../../src/domain/session/slot.ts'
import { CostEstimator } from '../../src/features/load/cost.ts'
import { unrestricted } from '../../src/model/access/access.ts'
import { OPERATOR } from '../../src/model/access/caller.ts'
import type { Scan } from '../../src/model/query/list.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { countStatements } from '../helpers/database/statements.ts'
import { domain } from '../helpers/domain/domain.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

test.serial.before(async () => {
  const { client } = service().database
  await client.prisma.planet.create({ data: { id: 'p', name: 'p' } })
  await client.prisma.moon.createMany({
    data: ['a', 'b', 'c'].map((id) => ({ planet_id: 'p', id, name: id, tidally_locked: id === 'a' })),
  })
  await client.prisma.planet.create({ data: { id: 'q', name: 'q' } })
  await client.prisma.mission.createMany({
    data: ['p', 'q', null].map((destination_planet_id) => ({
      id: `to-${destination_planet_id}`,
      name: `to ${destination_planet_id}`,
      status: 'planned',
      destination_planet_id,
    })),
  })
})

/** How many moons each way of reading finds for these arguments. */
async function found(selection: string, declared = ''): Promise<Json> {
  const { data, errors } = await service().reader.graphql(`query ${declared} {
    moonPage(planetId: "p", ${selection}) { totalCount items { id } }
    moonConnection(planetId: "p", ${selection}) { totalCount nodes { id } }
    moonAggregate(${selection}) { groups { count } }
    planetPage { items { moons(${selection}) { totalCount items { id } } } }
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
  ['{ name: { startsWith: "_" } }', 0],
  ['{ name: { startsWith: "b" } }', 1],
  ['{ name: { containsInsensitive: "A" } }', 1],
  ['{ name: { notEquals: "a" } }', 2],
  ['{ orbitalPeriodDays: { notEquals: 1 } }', 3],
  ['{ orbitalPeriodDays: { isSet: false } }', 3],
  ['{ orbitalPeriodDays: { isSet: true } }', 0],
  ['{ not: {} }', 0],
  ['{ not: { or: [] } }', 3],
  ['{ not: { orbitalPeriodDays: { gt: 1 } } }', 3],
  ['{ not: { not: { orbitalPeriodDays: { gt: 1 } } } }', 0],
  ['{ not: { name: { equals: "a" }, tidallyLocked: { equals: false } } }', 3],
  ['{ not: { name: { in: ["a", "b"] } } }', 1],
  ['{ planet: { name: { equals: "p" } } }', 3],
  ['{ planet: { name: { notEquals: "p" } } }', 0],
  ['{ not: { planet: { name: { equals: "p" } } } }', 0],
  ['{ or: [{ planet: { habitable: { equals: true } } }, { name: { equals: "a" } }] }', 1],
  ['{ planet: { or: [{ name: { equals: "p" } }, { name: { equals: "q" } }] }, name: { equals: "b" } }', 1],
  ['{ planet: {} }', 3],
] as const) {
  test(`the filter ${filter} means the same for pages, connections, aggregates and nested lists`, async (t) => {
    t.deepEqual(await found(`filter: ${filter}`), everywhere(count))
  })
}

function everywhere(count: number) {
  return { page: [count, count], connection: [count, count], aggregate: count, nested: [count, count] }
}

for (const [selection, count] of [
  ['search: "A"', 1],
  ['search: "a b"', 0],
  ['search: " "', 3],
  ['search: null', 3],
  ['search: "p"', 0],
  ['search: "a", filter: { name: { notEquals: "a" } }', 0],
  ['search: "b", filter: { or: [{ name: { equals: "a" } }, { name: { equals: "b" } }] }', 1],
] as const) {
  test(`the arguments ${selection} select the same items wherever there is a search`, async (t) => {
    t.deepEqual(await found(selection), everywhere(count))
  })
}

for (const [filter, found] of [
  ['{ destination: { name: { equals: "p" } } }', ['to-p']],
  ['{ not: { destination: { name: { equals: "p" } } } }', ['to-q', 'to-null']],
  ['{ destination: { not: { name: { equals: "p" } } } }', ['to-q']],
  ['{ destination: { hostStar: { isSet: false } } }', ['to-p', 'to-q']],
  ['{ destination: { name: { equals: $name } } }', ['to-p', 'to-q', 'to-null']],
  ['{ destination: { and: [{ name: { equals: $name } }] } }', ['to-p', 'to-q', 'to-null']],
  ['{ destination: { not: {} } }', []],
] as const) {
  test(`a filter over a relation finds what refers to a match: ${filter}`, async (t) => {
    const declared = filter.includes('$name') ? '($name: String)' : ''
    const { data, errors } = await service().reader.graphql(
      `query ${declared} { missionPage(filter: ${filter}) { totalCount items { id } } }`,
    )
    t.is(errors, undefined)
    t.is(data.missionPage.totalCount, found.length)
    t.deepEqual(data.missionPage.items.map(({ id }: Json) => id).sort(), [...found].sort())
  })
}

test.serial(
  'a filter over a relation needs the scope to read its target, before anything is read',
  async (t) => {
    const { withScope } = service()
    const condition = '{ destination: { name: { equals: $name } } }'
    for (const filter of [condition, `{ not: ${condition} }`, `{ or: [{ and: [${condition}] }] }`]) {
      for (const field of [
        `missionPage(filter: ${filter}) { totalCount }`,
        `missionConnection(filter: ${filter}) { totalCount }`,
        `missionAggregate(filter: ${filter}) { groups { count } }`,
      ]) {
        const ask = (scope: string, variables: object) =>
          countStatements(() => withScope(scope).graphql(`query ($name: String) { ${field} }`, variables))
        const refused = await ask('missions:read', { name: 'p' })
        t.is(refused.result.errors?.[0].extensions.code, 'ACCESS_DENIED', field)
        t.regex(refused.result.errors?.[0].message, /planets:read/)
        t.false(refused.statements.some((statement) => statement.includes('"missions"')))
        t.is((await ask('missions:read planets:read', { name: 'p' })).result.errors, undefined)
        if (filter === condition) t.is((await ask('missions:read', {})).result.errors, undefined)
      }
    }
  },
)

test('filters over relations lead one level far', async (t) => {
  const { reader } = service()
  const ask = (filter: string) =>
    reader.graphql(`{ crewMemberPage(missionId: "to-p", filter: ${filter}) { totalCount } }`)
  t.is((await ask('{ mission: { status: { equals: planned } } }')).errors, undefined)
  const { status, errors } = await ask('{ mission: { destination: { name: { equals: "p" } } } }')
  t.is(status, 400)
  t.regex(errors?.[0].message, /"destination" is not defined by type "MissionRelatedFilter"/)
})

test('a search with more than 10 words or 200 characters, or a text that cannot be stored, is refused', async (t) => {
  const { reader } = service()
  const answers = async (search: string) => {
    const query = 'query ($search: String) { moonAggregate(search: $search) { groups { count } } }'
    const { errors } = await reader.graphql(query, { search })
    const { status, body } = await reader.get(`/planets?q=${encodeURIComponent(search)}`)
    const [detail] = body.error?.details ?? []
    return [errors?.[0].extensions.details[0], detail]
      .map((one) => one && [one.field, one.code])
      .concat(status)
  }
  for (const accepted of ['a b c d e f g h i j', 'x'.repeat(200), '\u{1F52D}'.repeat(200)]) {
    t.deepEqual(await answers(accepted), [undefined, undefined, 200])
  }
  for (const refused of ['a b c d e f g h i j k', 'x'.repeat(201), 'a '.repeat(500)]) {
    t.deepEqual(await answers(refused), [['search', 'TOO_LONG'], ['q', 'TOO_LONG'], 400])
  }
  t.deepEqual(await answers('a\0'), [['search', 'INVALID_VALUE'], ['q', 'INVALID_VALUE'], 400])
  t.is((await reader.get('/planets?q=a&q=b')).body.error.details[0].code, 'REPEATED_PARAMETER')
})

test('links keep a search between the filters and the id', async (t) => {
  const { body } = await service().reader.get('/planets?q=P%20p&id=p&filter=name:p&sort=name:asc')
  t.is(body.total_count, 1)
  t.regex(body._links.self.href, /\?page=1&limit=20&sort=name:asc&filter=name:p&q=P%20p&id=p$/)
})

test('a condition whose variable is not given is left out', async (t) => {
  const types = { name: 'String', names: '[String!]', locked: 'Boolean', search: 'String' }
  for (const [selection, count] of [
    ['filter: { name: { equals: $name } }', 3],
    ['filter: { name: { in: $names, notEquals: $name }, tidallyLocked: { equals: $locked } }', 3],
    ['filter: { name: { equals: $name, in: ["a", "b"] } }', 2],
    ['filter: { and: [{ name: { equals: $name } }, { tidallyLocked: { equals: true } }] }', 1],
    ['filter: { name: { equals: $name }, tidallyLocked: { equals: false } }', 2],
    ['filter: { name: { equals: $name } }, search: $search', 3],
  ] as const) {
    const used = Object.entries(types).filter(([name]) => new RegExp(`\\$${name}\\b`).test(selection))
    const declared = `(${used.map(([name, type]) => `$${name}: ${type}`).join(', ')})`
    t.deepEqual(await found(selection, declared), everywhere(count), selection)
  }
})

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
  ['{ not: null }', 'filter.not'],
  ['{ not: { name: { notEquals: null } } }', 'filter.not.name.notEquals'],
  ['{ name: { isSet: null } }', 'filter.name.isSet'],
  ['{ name: { in: null } }', 'filter.name.in'],
  ['{ name: { equals: "a", contains: null } }', 'filter.name.contains'],
  ['{ createdDate: { gte: null } }', 'filter.createdDate.gte'],
  ['{ tidallyLocked: null }', 'filter.tidallyLocked'],
  ['{ or: null }', 'filter.or'],
  ['{ planet: null }', 'filter.planet'],
  ['{ planet: { name: { equals: null } } }', 'filter.planet.name.equals'],
  ['{ and: null }', 'filter.and'],
  ['{ and: [{ name: { equals: "a" } }, { or: [{ id: { in: null } }] }] }', 'filter.and.1.or.0.id.in'],
] as const) {
  test(`an operand that is null is refused wherever there is a filter: ${filter}`, async (t) => {
    for (const list of [
      `moonPage(planetId: "p", filter: ${filter}) { items { id } }`,
      `moonConnection(planetId: "p", filter: ${filter}) { nodes { id } }`,
      `moonAggregate(filter: ${filter}) { groups { count } }`,
      `planetPage { items { moons(filter: ${filter}) { items { id } } } }`,
    ]) {
      const query = `query ${filter.includes('$unset') ? '($unset: String)' : ''} { ${list} }`
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
    const never = (number: number) => ({ contains: `never ${number}` })
    const filter = {
      or: numbers.map((number) =>
        number % 2 === 0 ? { habitat: never(number) } : { planet: { name: never(number) } },
      ),
    }
    const text = numbers.map((number) => `filter=habitat[contains]:${number}`).join('&')
    const { errors } = await reader.graphql(query, { filter })
    const { body } = await reader.get(`/species?${text}`)
    return [errors?.[0].extensions, body.error].map((error) => error && [error.code, error.details[0].code])
  }
  t.deepEqual(await answers(100), [undefined, undefined])
  const refusal = ['INVALID_QUERY_PARAMETER', 'TOO_LONG']
  t.deepEqual(await answers(101), [refusal, refusal])
})

test('a text that no value of its field can equal or contain is refused on both faces, wherever it is', async (t) => {
  const { reader } = service()
  const query = 'query ($filter: MissionFilter) { missionPage(filter: $filter) { totalCount } }'
  for (const length of [500, 501]) {
    const long = 'x'.repeat(length)
    const expected = length > 500 ? 'TOO_LONG' : undefined
    for (const filter of [
      { name: { equals: long } },
      { name: { containsInsensitive: long } },
      { name: { in: ['a', long] } },
      { destinationPlanetId: { equals: long } },
      { not: { or: [{ name: { startsWith: long } }] } },
      { destination: { hostStar: { contains: long } } },
    ]) {
      const { errors } = await reader.graphql(query, { filter })
      t.is(errors?.[0].extensions.details[0].code, expected, Object.keys(filter).join())
    }
    for (const filter of [`name:${long}`, `name[icontains]:${long}`, `destination_planet_id[in]:a|${long}`]) {
      const { body } = await reader.get(`/missions?filter=${filter}`)
      t.is(body.error?.details[0].code, expected, filter.slice(0, 30))
    }
  }
})

test('a filter has at most 1,000 values', async (t) => {
  const query = 'query ($filter: PlanetFilter) { planetPage(filter: $filter) { totalCount } }'
  const messages = await Promise.all(
    [1_000, 1_001].map(async (count) => {
      const values = Array.from({ length: count }, (_, number) => String(number))
      const { errors } = await service().reader.graphql(query, { filter: { id: { in: values } } })
      return errors?.[0].message
    }),
  )
  t.deepEqual(messages, [undefined, 'A filter must not have more than 1000 values.'])
})

test('the cost of a filter grows with its conditions, up to that of one statement', async (t) => {
  const sizes = async () => 320 * 1024
  const schema = createCompleteSchema(domain.resources, domain.versions)
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
  t.is(await cost('speciesPage(filter: $filter, unlessRevision: "x") { totalCount }', 1), 20)
  t.is(await cost('speciesPage(search: "reef") { totalCount }', 0), 12)
  t.is(await cost('moonPage { items { id } }', 0), 10)
  t.is(await cost('moonConnection(planetId: null) { nodes { id } }', 0), 10)
  t.is(await cost('moonPage(planetId: "p") { items { id } }', 0), 0)
  t.is(await cost('planetPage { items { moons { totalCount } } }', 0), 0)
  const aggregate = (measures: string) => `speciesAggregate { groups { count ${measures} } }`
  t.is(await cost(aggregate('sum { temperatureRangeMinCelsius }'), 0), 10)
  t.is(await cost(aggregate('median { temperatureRangeMinCelsius }'), 0), 50)
  t.is(
    await cost(
      aggregate('distinctCount { habitat planetId ... on SpeciesDistinctCounts { bioluminescent } }'),
      0,
    ),
    130,
  )
  const related = '{ planet: { habitable: { equals: true } } }'
  t.is(await cost(`speciesPage(filter: ${related}) { totalCount }`, 0), 20)
  t.is(await cost(`speciesAggregate(filter: { or: [${related}, ${related}] }) { groups { count } }`, 0), 30)
  t.is(await cost(`speciesPage(filter: ${related}) { totalCount }`, 0, 15), 15)
})

test('a statement takes its turn among scans for all that it reads', async (t) => {
  const schema = createCompleteSchema(domain.resources, domain.versions)
  const scansOf = async (query: string) => {
    const seen: string[] = []
    const read = async (scans: readonly Scan[]) => {
      seen.push(...scans.map(([{ path }, passes]) => `${path} ${passes}`))
      return query.includes('Aggregate') ? [] : { rows: [], totalCount: 0 }
    }
    const { resources } = domain
    const accessOf = () => unrestricted('the scans of all rows are counted')
    const shared = { resources, accessOf, client: {}, maximumPageSize: 100 }
    const slot = { ...UNLIMITED, read } as unknown as Slot
    const session = sessionsOf(shared as unknown as Domain)(OPERATOR, slot)
    await execute({ schema, document: parse(`{ ${query} }`), contextValue: { session } })
    return seen
  }
  const filter = 'filter: { destination: { habitable: { equals: true } } }'
  t.deepEqual(await scansOf('planetPage { items { id } }'), [])
  t.deepEqual(await scansOf('moonPage { items { id } }'), ['moons 1'])
  t.deepEqual(await scansOf(`missionConnection(${filter}) { nodes { id } }`), ['missions 1', 'planets 1'])
  t.deepEqual(await scansOf(`missionAggregate(${filter}) { groups { distinctCount { status } } }`), [
    'missions 5',
    'planets 1',
  ])
})
