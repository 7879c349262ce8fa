import anyTest, { type TestFn } from 'ava'
import { executeSync, getIntrospectionQuery, parse } from 'graphql'
import { CostEstimator } from '../../src/features/load/cost.ts'
import { tableSizes } from '../../src/features/load/table-sizes.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { countStatements } from '../helpers/database/statements.ts'
import { resources } from '../helpers/domain/domain.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

/** planets { items { species { items { planet { … } } } } }, four levels deeper for each round. */
const nested = (rounds: number): string =>
  rounds === 0 ? '{ id }' : `{ species(limit: 1) { items { planet ${nested(rounds - 1)} } } }`

const BOMB = `${times(20, (index) => `fragment F${index} on Planet { species(limit: 1) { items { planet { ...F${index + 1} } } } }`)} fragment F20 on Planet { id } { planet(id: "x") { ...F0 } }`
const MORE_THAN_TOOLS = `{ __schema { ${times(15, (index) => `a${index}: types { name fields { type { name } } }`)} } }`
const DOUBLING = `${times(15, (index) => `fragment D${index} on Planet { ...D${index + 1} ... on Planet { ...D${index + 1} } }`)} fragment D15 on Planet { atmosphere { id } } { planet(id: "x") { ...D0 } }`

for (const [what, query, message] of [
  ['a query that is too deep', `{ planetPage { items ${nested(4)} } }`, /levels of fields; 12 are allowed/],
  ['a query that is too deep by its fragments', BOMB, /levels of fields; 12 are allowed/],
  [
    'a fragment that spreads itself',
    '{ planet(id: "x") { ...A } } fragment A on Planet { species { items { planet { ...A } } } }',
    /Cannot spread fragment "A" within itself/,
  ],
  ['fragments that double and double', DOUBLING, /the document has more than 5000 fields/],
  [
    'a document of fragments that each spread the next twice',
    `{ ...A0 } ${times(60, (index) => `fragment A${index} on Query { ...A${index + 1} ...A${index + 1} }`)} fragment A60 on Query { __typename }`,
    /the document has more than 5000 fields/,
  ],
  [
    'a query for more than it may ask',
    '{ planetPage(limit: 100) { items { species(limit: 100) { items { planet { moons { items { id } } } } } } } }',
    /may cost more than the limit of 20000: up to \d{6}\./,
  ],
  [
    'a connection of more than it may ask',
    '{ planetConnection(last: 100) { edges { node { speciesConnection(first: 100) { nodes { planet { id } } } } } } }',
    /may cost more than the limit of 20000: up to \d+\./,
  ],
  ['31 aliases', `{ ${times(31, (n) => `a${n}: collections { path }`)} }`, /31 aliases; 30 are allowed/],
  ['fragments alone', 'fragment F on Query { collections { path } }', /Fragment "F" is never used/],
  [
    'too many directives',
    `{ collections { ${times(21, () => 'path @include(if: true)')} } }`,
    /21 directives; 20 are allowed/,
  ],
  [
    'introspection of lists in lists, under aliases,',
    MORE_THAN_TOOLS,
    /may cost more than the limit of 20000: up to \d{5}\./,
  ],
  ['too many tokens', `{ collections { ${times(2000, () => 'path')} } }`, /2000 tokens/],
] as const) {
  test(`${what} is refused, with a code and before anything is read`, async (t) => {
    const answer = await service().reader.graphql(query)
    t.is(answer.status, 400)
    t.regex(answer.errors?.[0].message, message)
    t.is(answer.errors?.[0].extensions.code, 'VALIDATION_FAILED')
    t.is(answer.data, undefined)
  })
}

/** As tools send it: with all that the service knows. */
const INTROSPECTION = getIntrospectionQuery({
  schemaDescription: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  inputValueDeprecation: true,
  oneOf: true,
})

test('the introspection of tools is answered, and its cost is that of its response', async (t) => {
  const { status, data } = await service().reader.graphql(INTROSPECTION)
  t.is(status, 200)
  t.true(data?.__schema.types.length > 100)
  const schema = createCompleteSchema(resources)
  const costs = new CostEstimator(schema, resources, tableSizes(service().database.client, resources))
  for (const query of [
    INTROSPECTION,
    '{ __schema { types { name possibleTypes { name } } } }',
    '{ __schema { types { fields { name type { name fields { name args { name } } } } } } }',
    '{ __schema { types { inputFields { name type { inputFields { name type { name } } } } } } }',
  ]) {
    const document = parse(query)
    const units = objectsIn(executeSync({ schema, document }).data)
    const cost = costs.response({ document, variables: {} })
    t.true(cost > units && cost < 4 * units, `${query}: ${units} objects, a cost of ${cost}`)
  }
  const document = parse('{ __type(name: "Node") { possibleTypes { fields { args { name } } } } }')
  const units = objectsIn(executeSync({ schema, document }).data)
  t.true(costs.response({ document, variables: {} }) > units / 2)
})

test('the introspection of tools is answered however large the schema is, and nothing else beside it', async (t) => {
  const { reader } = await startTestService(t, { graphqlMaxCost: 100 })
  const { data } = await reader.graphql(INTROSPECTION)
  t.true(data?.__schema.types.length > 100)
  t.is((await reader.graphql(getIntrospectionQuery())).status, 200)
  const beside = INTROSPECTION.replace('__schema {', 'planetPage(limit: 1) { totalCount } __schema {')
  for (const query of [beside, MORE_THAN_TOOLS, '{ planetPage(limit: 100) { items { name } } }'])
    t.regex((await reader.graphql(query)).errors?.[0].message, /may cost more than the limit/)
})

function objectsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value).reduce((count, part) => count + objectsIn(part), 0)
  return Array.isArray(value) ? inner : 1 + inner
}

test('of hundreds of problems of a document the first five are reported', async (t) => {
  const unknown = times(900, (index) => `speciesPag${index}`)
  for (const query of [`{ ${unknown} }`, `{ speciesPage { items { ${unknown} } } }`]) {
    const { status, errors } = await service().reader.graphql(query)
    t.is(status, 400)
    t.is(errors?.length, 6)
    t.regex(errors?.[0].message, /Cannot query field "speciesPag0"/)
    t.regex(errors?.[5].message, /Too many validation errors/)
    t.deepEqual([...new Set(errors?.map(({ extensions }) => extensions.code))], ['VALIDATION_FAILED'])
  }
})

test('long texts count, by their declared length', async (t) => {
  const ask = (count: number, field: string) =>
    service().reader.graphql(
      `{ ${times(count, (index) => `a${index}: missionPage(limit: 100) { items { id ${field} } }`)} }`,
    )
  const refused = await ask(30, 'objective')
  t.is(refused.status, 400)
  t.regex(refused.errors?.[0].message, /up to 12\d{4}\./)
  t.is((await ask(4, 'objective')).status, 200)
  t.is((await ask(30, 'status')).status, 200)
})

test('each cursor counts as the longest', (t) => {
  const schema = createCompleteSchema(resources)
  const costs = new CostEstimator(schema, resources, tableSizes(service().database.client, resources))
  const costOf = (list: string) => costs.response({ document: parse(`{ ${list} }`), variables: {} })
  const longest = 1_000 / 250
  const connection = (selection: string) => costOf(`speciesConnection(first: 1) { ${selection} }`)
  const page = (selection: string) => costOf(`speciesPage(limit: 1) { ${selection} }`)
  const [one, two] = [connection('pageInfo { __typename }'), connection('edges { __typename }')]
  t.is(connection('pageInfo { __typename startCursor }') - one, longest)
  t.is(connection('pageInfo { __typename endCursor startCursor }') - one, 2 * longest)
  t.is(connection('edges { __typename cursor }') - two, longest)
  t.is(page('__typename nextCursor previousCursor') - page('__typename'), 2 * longest)
})

test('reading all of a large table counts, for each statement that may do so', async (t) => {
  const { reader, database } = await startTestService(t, { graphqlMaxCost: 400 })
  await database.client.prisma.$executeRaw`INSERT INTO planets (id, name, host_star)
    SELECT i::text, i::text, repeat('x', 400) FROM generate_series(1, 6000) AS i`
  const ask = (count: number, selection: string) =>
    reader.graphql(`{ ${times(count, (index) => `a${index}: ${selection}`)} }`)
  for (const selection of [
    'planetAggregate { groups { count } }',
    'planetPage(limit: 1, filter: { hostStar: { contains: "y" } }) { totalCount }',
    'planetConnection(first: 1, sort: [{ field: HOST_STAR }]) { nodes { id } }',
  ]) {
    t.is((await ask(2, selection)).status, 200, selection)
    const { status, errors } = await ask(20, selection)
    t.is(status, 400, selection)
    t.regex(errors?.[0].message, /may cost more than the limit of 400: up to \d+\./)
  }
  t.is((await ask(20, 'planetPage(limit: 1) { totalCount items { id } }')).status, 200)
  const costOf = async (measure: string) => {
    const { errors } = await ask(20, `planetAggregate { groups { ${measure} { discoveryYear } } }`)
    return Number(/up to (\d+)/.exec(errors?.[0].message)?.[1])
  }
  const average = await costOf('average')
  for (const sorting of ['median', 'distinctCount'])
    t.true((await costOf(sorting)) > 1.1 * average, `${sorting} sorts the values`)
})

test('sizes that are variables count as well', async (t) => {
  const query =
    'query ($size: Int!) { planetPage(limit: $size) { items { species(limit: $size) { items { planet { id } } } } } }'
  const { status, errors } = await service().reader.graphql(query, { size: 100 })
  t.is(status, 400)
  t.is(errors?.[0].extensions.details[0].code, 'LIMIT_EXCEEDED')
  t.is((await service().reader.graphql(query, { size: 5 })).status, 200)
})

test('a variable of a wrong type is told, although the operation may cost too much', async (t) => {
  const query = `query ($limit: Int!) {
    planetPage(limit: 100) { items { species(limit: $limit) { items { planet { moons { items { id } } } } } } } }`
  const costly = await service().reader.graphql(query, { limit: 100 })
  t.regex(costly.errors?.[0].message, /may cost more/)
  const { status, errors } = await service().reader.graphql(query, { limit: 'many' })
  t.is(status, 400)
  t.is(errors?.length, 1)
  t.regex(errors?.[0].message, /\$limit.* Int cannot represent non-integer value: "many"/)
})

test('a document that is too long is refused', async (t) => {
  const { status, errors } = await service().reader.graphql(
    `{ collections { path } } # ${'x'.repeat(33_000)}`,
  )
  t.is(status, 413)
  t.is(errors?.[0].extensions.code, 'PAYLOAD_TOO_LARGE')
})

test('variables that are nested without end are refused', async (t) => {
  const { reader, origin } = service()
  const filter = `${'{"and":['.repeat(20_000)}{}${']}'.repeat(20_000)}`
  const query = 'query ($filter: SpeciesFilter) { speciesPage(filter: $filter) { totalCount } }'
  const body = `{"query":${JSON.stringify(query)},"variables":{"filter":${filter}}}`
  const answer = await reader.post(`${origin}/graphql`, body)
  t.is(answer.status, 400)
  t.regex(answer.body.errors[0].extensions.code, /^(?:VALIDATION_FAILED|MALFORMED_JSON)$/)
})

for (const [what, element] of [
  ['wrong values', '5'],
  ['empty conditions', '{}'],
  ['null', 'null'],
] as const) {
  test(`a filter variable with a list of thousands of ${what} is refused before it is looked at`, async (t) => {
    const { origin, withScope } = service()
    const query = 'query ($filter: MoonFilter) { moonAggregate(filter: $filter) { groups { count } } }'
    const list = `[${Array.from({ length: 6_000 }, () => element).join(',')}]`
    const body = `{"query":${JSON.stringify(query)},"variables":{"filter":{"and":${list}}}}`
    const { status, body: answer, text } = await withScope('').post(`${origin}/graphql`, body)
    t.is(status, 400)
    t.is(answer.errors.length, 1)
    t.is(answer.errors[0].extensions.details[0].code, 'LIMIT_EXCEEDED')
    t.is(answer.errors[0].extensions.details[0].field, 'variables')
    t.true(text.length < 1_000)
  })
}

test('variables of a GET have the same limit', async (t) => {
  const { origin, reader } = service()
  const query = 'query ($filter: MoonFilter) { moonAggregate(filter: $filter) { groups { count } } }'
  const address = `${origin}/graphql?query=${encodeURIComponent(query)}&variables=`
  const refused = await reader.get(`${address}{"filter":{"and":[${'5,'.repeat(5_000)}5]}}`, {
    'apollo-require-preflight': 'true',
  })
  t.is(refused.status, 400)
  t.is(refused.body.errors[0].extensions.details[0].field, 'variables')
})

test('variables with more than 500 objects or 5,000 values are refused before they are coerced', async (t) => {
  const query = 'query ($filter: MoonFilter) { moonAggregate(filter: $filter) { groups { count } } }'
  const problemOf = async (variables: object) => {
    const { errors } = await service().reader.graphql(query, variables)
    return errors?.[0].message as string
  }
  const conditions = { or: Array(249).fill({ name: { contains: 'x' } }) }
  t.notRegex(await problemOf({ filter: conditions }), /^Variables/, '500 objects')
  const tooManyObjects = 'Variables must not have more than 500 objects.'
  t.is(await problemOf({ filter: conditions, unused: {} }), tooManyObjects)
  const named = (count: number) => ({ filter: { name: { in: Array(count).fill('x') } } })
  t.notRegex(await problemOf(named(4_996)), /^Variables/, '5,000 values')
  t.is(await problemOf(named(4_997)), 'Variables must not have more than 5000 values.')
})

test('variables are nested in 32 levels at most', async (t) => {
  const query = 'query ($filter: SpeciesFilter) { speciesAggregate(filter: $filter) { groups { count } } }'
  const nested = (levels: number) => JSON.parse(`${'{"not":'.repeat(levels - 2)}{}${'}'.repeat(levels - 2)}`)
  const problemAt = async (levels: number) =>
    (await service().reader.graphql(query, { filter: nested(levels) })).errors?.[0].message
  t.is(await problemAt(32), undefined)
  t.is(await problemAt(33), 'Variables must not be nested deeper than 32 levels.')
})

test('introspections that are refused for their cost hold up no others', async (t) => {
  const { reader } = await startTestService(t, { graphqlMaxCost: 1_000 })
  const small = '{ __schema { queryType { name } } }'
  const answers = await Promise.all(
    [small, ...Array(5).fill(MORE_THAN_TOOLS)].map((query) => reader.graphql(query)),
  )
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 400, 400, 400, 400],
  )
  t.is((await reader.graphql(small)).status, 200)
})

for (const [what, filter] of [
  ['wrong values', { id: { in: Array(4_000).fill(null) } }],
  ['unknown members', Object.fromEntries(Array.from({ length: 4_900 }, (_, number) => [`m${number}`, 1]))],
] as const) {
  test(`of many ${what} in a variable the first is reported, with the beginning of the value`, async (t) => {
    const query = 'query ($filter: SpeciesFilter) { speciesPage(filter: $filter) { totalCount } }'
    const { status, errors, text } = await service().withScope('').graphql(query, { filter })
    t.is(status, 400)
    t.deepEqual([...new Set(errors?.map(({ extensions }) => extensions.code))], ['VALIDATION_FAILED'])
    t.is(errors?.length, 2)
    t.regex(errors?.[1].message, /error limit reached/)
    t.true(text.length < 3_000)
  })
}

test('long documents that differ are all answered, also those that are wrong', async (t) => {
  const { reader } = service()
  const padding = ' '.repeat(1_000)
  const queries = ['{ collections { path } }', '{ unknown }', '{', '{ collections { path } } #']
  const answers = await Promise.all(queries.map((query) => reader.graphql(query + padding)))
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 400, 200],
  )
})

test('of many fields that fail the first hundred are reported, and how many are not', async (t) => {
  const { writer, withScope, origin } = service()
  const operations = Array.from({ length: 60 }, (_, index) =>
    writer.put(`/planets/many-${index}`, { id: `many-${index}`, name: `many ${index}` }),
  )
  await Promise.all(operations)
  const errorsOf = async (limit: number) => {
    const query = `{ planetPage(limit: ${limit}, filter: { name: { contains: "many" } }) { items { species { totalCount } atmosphere { id } } } }`
    const { body } = await withScope('planets:read').post(`${origin}/graphql`, { query })
    return [body.data.planetPage.items.length, body.errors.length, body.extensions?.omittedErrors]
  }
  t.deepEqual(await errorsOf(50), [50, 100, undefined])
  t.deepEqual(await errorsOf(60), [60, 100, 20])
})

test('a filter with thousands of values is refused, and so is one that no resource can meet', async (t) => {
  const query = 'query ($ids: [ID!]) { speciesPage(filter: { id: { in: $ids } }) { totalCount } }'
  const ids = Array.from({ length: 1001 }, (_, index) => `id${index}`)
  for (const refused of [ids, ['a\0b'], ['\ud800']]) {
    const { errors } = await service().reader.graphql(query, { ids: refused })
    t.is(errors?.[0].extensions.code, 'INVALID_QUERY_PARAMETER')
    t.is(errors?.[0].extensions.details[0].field, 'filter')
  }
})

test('requests cannot be batched', async (t) => {
  const { reader, origin } = service()
  const { status, body } = await reader.post(`${origin}/graphql`, [{ query: '{ collections { path } }' }])
  t.is(status, 400)
  t.is(body.errors[0].extensions.code, 'VALIDATION_FAILED')
})

test('a GET that a page of another origin could send is refused, and answered with the header that it could not', async (t) => {
  const { reader, origin } = service()
  const address = `${origin}/graphql?query=${encodeURIComponent('{ collections { path } }')}`
  const refused = await reader.get(address)
  t.is(refused.status, 400)
  t.is(refused.body.errors[0].extensions.code, 'VALIDATION_FAILED')
  const answered = await reader.get(address, { 'apollo-require-preflight': 'true' })
  t.is(answered.status, 200)
  const mutation = `${origin}/graphql?query=${encodeURIComponent('mutation { deleteSpecies(id: "x") { outcome } }')}`
  t.is((await reader.get(mutation, { 'apollo-require-preflight': 'true' })).status, 405)
})

test('other methods are refused, with the allowed ones in Allow', async (t) => {
  const { reader, origin } = service()
  const { status, headers, body } = await reader.put(`${origin}/graphql`, {})
  t.is(status, 405)
  t.is(headers.get('allow'), 'GET, POST, OPTIONS')
  t.is(body.errors[0].extensions.code, 'METHOD_NOT_ALLOWED')
})

test('no token is a 401 in the form of GraphQL', async (t) => {
  const { status, headers, errors } = await service().anonymous.graphql('{ collections { path } }')
  t.is(status, 401)
  t.is(headers.get('www-authenticate'), 'Bearer')
  t.is(errors?.[0].extensions.code, 'AUTHENTICATION_REQUIRED')
  t.deepEqual(errors?.[0].extensions.details, [])
})

test('without introspection neither the schema nor suggestions are shown', async (t) => {
  const { reader } = await startTestService(t, { graphqlIntrospection: false })
  for (const query of ['{ __schema { types { name } } }', '{ __type(name: "Planet") { name } }']) {
    const refused = await reader.graphql(query)
    t.deepEqual([refused.status, refused.errors?.length], [400, 1])
    t.like(refused.errors?.[0], {
      message: 'Introspection is off. The setting GRAPHQL_INTROSPECTION=true permits it.',
      extensions: { code: 'VALIDATION_FAILED' },
    })
  }
  const { errors } = await reader.graphql('{ specis(id: "x") { id } }')
  t.notRegex(errors?.[0].message, /Did you mean/)
  t.notRegex(JSON.stringify(errors), /stacktrace/)
})

test('an operation that takes too long is SERVICE_UNAVAILABLE, and stops reading', async (t) => {
  const { reader, database } = await startTestService(t, { databaseTimeout: 1500 })
  await database.client.prisma.planet.create({ data: { id: 'slow', name: 'slow' } })
  await database.client.prisma.$executeRawUnsafe('ALTER TABLE planets RENAME TO planets_at_rest')
  await database.client.prisma.$executeRawUnsafe(
    'CREATE VIEW planets AS SELECT planets_at_rest.* FROM planets_at_rest, LATERAL (SELECT pg_sleep(2)) AS pause',
  )
  const { result, statements } = await countStatements(async () => {
    const answer = await reader.graphql('{ planet(id: "slow") { moons { items { planet { id } } } } }')
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return answer
  })
  t.is(result.errors?.[0].extensions.code, 'SERVICE_UNAVAILABLE')
  t.false(statements.some((statement) => statement.includes('moons')))
})
