import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createGraphQLRoute } from '../../src/graph/http/apollo.ts'
import { readPersistedOperations } from '../../src/graph/http/persisted-operations.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { resources } from '../helpers/domain/domain.ts'
import type { RequestHeaders } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const STREAM = 'text/event-stream'
const JSON_RESULT = 'application/graphql-response+json'

const post = (body: object, headers: RequestHeaders = {}) =>
  service().writer.request('POST', `${service().origin}/graphql`, body, headers)

const get = (parameters: Record<string, string>, headers: RequestHeaders = {}) =>
  service().writer.request(
    'GET',
    `${service().origin}/graphql?${new URLSearchParams(parameters)}`,
    undefined,
    {
      'apollo-require-preflight': 'true',
      ...headers,
    },
  )

const TWO = 'query One { collections { path } } query Two { collections { description } }'

const withoutOperation: [title: string, parameters: Record<string, string>, message: RegExp][] = [
  ['an empty name', { query: TWO, operationName: '' }, /no operation ""/],
  [
    'an empty name for one operation',
    { query: '{ collections { path } }', operationName: '' },
    /no operation ""/,
  ],
  ['a misspelt name', { query: TWO, operationName: 'one' }, /no operation "one"/],
  ['no name for one of two', { query: TWO }, /several operations/],
  [
    'a name for one without a name',
    { query: '{ collections { path } }', operationName: 'One' },
    /no operation "One"/,
  ],
  [
    'the name of a fragment',
    { query: `${TWO} fragment F on Query { nodeId: __typename }`, operationName: 'F' },
    /no operation "F"/,
  ],
  [
    'a mutation that the document lacks',
    { query: TWO, operationName: 'mutation' },
    /no operation "mutation"/,
  ],
]

for (const [title, parameters, message] of withoutOperation) {
  test(`${title} selects no operation: 400 by POST, by GET, and for a stream of events`, async (t) => {
    for (const answer of [
      await post(parameters),
      await get(parameters),
      await post(parameters, { accept: STREAM }),
      await get(parameters, { accept: STREAM }),
      await post(parameters, { accept: JSON_RESULT }),
    ]) {
      t.is(answer.status, 400, answer.text)
      const [{ message: text, extensions }] = answer.body.errors
      t.regex(text, message)
      t.is(extensions.code, 'VALIDATION_FAILED')
      t.is(extensions.details[0].field, 'operationName')
    }
  })
}

test('a name selects one of several operations, and null selects the only one', async (t) => {
  const { body } = await post({ query: TWO, operationName: 'Two' })
  t.deepEqual(Object.keys(body.data.collections[0]), ['description'])
  t.is((await post({ query: '{ collections { path } }', operationName: null })).status, 200)
  t.is((await post({ query: TWO, operationName: 7 })).status, 400)
})

test('a persisted operation with another name selects none', async (t) => {
  const graphqlOperationsDir = await mkdtemp(join(tmpdir(), 'halgraph-'))
  await writeFile(join(graphqlOperationsDir, 'list.graphql'), 'query List { collections { path } }')
  const { reader, origin } = await startTestService(t, { graphqlOperationsDir })
  const named = (operationName: string) =>
    reader.request('POST', `${origin}/graphql`, { id: 'list', operationName })
  t.is((await named('List')).status, 200)
  const { status, body } = await named('Other')
  t.deepEqual([status, body.errors[0].extensions.code], [400, 'VALIDATION_FAILED'])
})

const nullValues: [where: string, query: string][] = [
  ['an argument', 'query ($null: ID = "x") { species(id: $null) { id } }'],
  ['a list', 'query ($null: ID = "x") { nodes(nodeIds: [$null]) { nodeId } }'],
  ['a list for a whole list', 'query ($null: [ID!] = ["x"]) { nodes(nodeIds: $null) { nodeId } }'],
  [
    'a member of a filter',
    'query ($null: String = "x") { planetPage(filter: { name: { in: [$null] } }) { page } }',
  ],
  [
    'a member of a sort',
    'query ($null: PlanetSortField = NAME) { planetPage(sort: [{ field: $null }]) { page } }',
  ],
  ['an input', 'mutation ($null: String = "x") { createPlanet(input: { name: $null }) { outcome } }'],
  [
    'a whole input',
    'mutation ($null: PlanetInput = { name: "x" }) { createPlanet(input: $null) { outcome } }',
  ],
  ['a write of a transaction', 'mutation ($null: ID = "x") @atomic { deletePlanet(id: $null) { outcome } }'],
  ['@skip', 'query ($null: Boolean = true) { collections @skip(if: $null) { path } }'],
  [
    '@include of a fragment',
    'query ($null: Boolean = true) { ...F @include(if: $null) } fragment F on Query { collections { path } }',
  ],
  ['@skip of a field within', 'query ($null: Boolean = true) { collections { path @skip(if: $null) } }'],
  ['a fragment', 'query ($null: ID = "x") { ...F } fragment F on Query { planet(id: $null) { id } }'],
]

for (const [where, query] of nullValues) {
  test(`null for a variable with a default is refused in ${where} that is not nullable`, async (t) => {
    for (const accept of ['application/json', JSON_RESULT]) {
      const { status, body, text } = await post({ query, variables: { null: null } }, { accept })
      t.is(status, 400, text)
      t.is(body.data, undefined)
      t.is(body.errors[0].extensions.code, 'VALIDATION_FAILED')
      t.regex(body.errors[0].message, /must not be null|invalid value/)
    }
    const events = await post({ query, variables: { null: null } }, { accept: STREAM })
    t.regex(events.text, /^event: next\ndata: .*VALIDATION_FAILED.*\n\nevent: complete/)
    t.notRegex((await post({ query })).text, /must not be null|invalid value|INTERNAL_ERROR/)
  })
}

test('a mutation or a subscription by GET is 405, and writes nothing', async (t) => {
  const mutation = 'mutation { putPlanet(id: "by-get", input: { name: "By GET" }) { outcome } }'
  const named = `query Q { collections { path } } ${mutation.replace('mutation', 'mutation M')}`
  for (const [parameters, accept] of [
    [{ query: mutation }, 'application/json'],
    [{ query: mutation }, `application/json, ${STREAM}`],
    [{ query: named, operationName: 'M' }, JSON_RESULT],
    [{ query: 'subscription { changes { id } }' }, 'application/json'],
  ] as const) {
    const { status, headers, body } = await get(parameters, { accept })
    t.deepEqual([status, headers.get('allow')], [405, 'POST'])
    t.is(body.errors[0].extensions.code, 'METHOD_NOT_ALLOWED')
  }
  const events = await get({ query: mutation }, { accept: STREAM })
  t.regex(events.text, /^event: next\ndata: .*"METHOD_NOT_ALLOWED".*\n\nevent: complete/)
  t.is((await get({ query: named, operationName: 'Q' })).status, 200)
  t.is((await service().reader.get('/planets/by-get')).status, 404)
})

test('a response that is not acceptable is 406, and nothing is written', async (t) => {
  const query = 'mutation { putPlanet(id: "in-html", input: { name: "In HTML" }) { outcome } }'
  for (const accept of ['text/html', 'application/xml', 'application/json;q=0', 'multipart/mixed']) {
    const { status, body } = await post({ query }, { accept })
    t.is(status, 406, accept)
    t.is(body.errors[0].extensions.code, 'NOT_ACCEPTABLE')
  }
  t.is((await service().reader.get('/planets/in-html')).status, 404)
  const subscription = await post({ query: 'subscription { changes { id } }' }, { accept: JSON_RESULT })
  t.deepEqual([subscription.status, subscription.body.errors[0].extensions.code], [406, 'NOT_ACCEPTABLE'])
  t.is((await post({ query: '{ collections { path } }' }, { accept: '*/*' })).status, 200)
})

test('every refusal of a request has the code of its status', async (t) => {
  const query = '{ collections { path } }'
  const refusals = [
    [415, 'UNSUPPORTED_MEDIA_TYPE', await get({ query }, { 'content-type': 'text/plain' })],
    [415, 'UNSUPPORTED_MEDIA_TYPE', await post({ query }, { 'content-type': 'text/plain' })],
    [400, 'MALFORMED_JSON', await service().writer.request('POST', `${service().origin}/graphql`, '{')],
    [400, 'VALIDATION_FAILED', await get({ query }, { 'apollo-require-preflight': '' })],
    [400, 'VALIDATION_FAILED', await get({})],
    [400, 'VALIDATION_FAILED', await post({ query: '{' })],
    [404, 'RESOURCE_NOT_FOUND', await post({ id: 'none' })],
    [413, 'PAYLOAD_TOO_LARGE', await post({ query: `#${'x'.repeat(40_000)}\n${query}` })],
  ] as const
  for (const [status, code, answer] of refusals) {
    t.is(answer.status, status, answer.text)
    t.is(answer.body.errors[0].extensions.code, code)
  }
})

test('every response of /graphql varies by Accept', async (t) => {
  const query = '{ collections { path } }'
  for (const { status, headers } of [
    await post({ query }),
    await get({ query }),
    await post({ query }, { accept: STREAM }),
    await post({ query: '{' }),
    await post({ query }, { accept: 'text/html' }),
    await get({ query: 'mutation { __typename }' }),
    await post({ query: TWO }),
    await service().anonymous.request('POST', `${service().origin}/graphql`, { query }),
  ]) {
    t.regex(headers.get('vary') ?? '', /\bAccept\b(?!-)/, String(status))
  }
})

test('a document counts as a write if its operation is a mutation, whatever its texts contain', async (t) => {
  const types: string[] = []
  const stop = new Error('only the type of the operation is wanted')
  const route = await createGraphQLRoute({
    schema: createCompleteSchema(resources),
    introspection: true,
    documents: {
      persisted: await readPersistedOperations(createCompleteSchema(resources), undefined),
      persistedOnly: false,
    },
    reportFault: () => {},
    run: ({ type }) => {
      types.push(type)
      return Promise.reject(stop)
    },
    openSession: {} as never,
  })
  const query = `# A mutation?
    query Q { planetPage(filter: { name: { contains: "mutation" } }) { items { id } } }
    mutation M { deletePlanet(id: "none") { outcome } }`
  for (const operationName of ['Q', 'M', 'Q']) {
    const context = {
      method: 'GET',
      search: `?${new URLSearchParams({ query, operationName })}`,
      headers: {},
      state: { caller: {} },
      get: () => '',
      vary: () => {},
      accepts: () => 'application/json',
    }
    await t.throwsAsync(async () => route.methods.GET?.handle(context as never), { is: stop })
  }
  t.deepEqual(types, ['query', 'mutation', 'query'])
})

test('several __type and __schema fields are answered, and cost what they can show', async (t) => {
  // What typed clients ask to learn the capabilities of a server.
  const { status, data, errors } = await service().reader.graphql(`{
    directive: __type(name: "__Directive") { fields { name args { name } } }
    schema: __type(name: "__Schema") { fields { name } }
    input: __type(name: "__InputValue") { fields { name } }
    type: __type(name: "__Type") { fields { name args { name } } }
    field: __type(name: "__Field") { fields { name } }
    __schema { queryType { name } mutationType { name } subscriptionType { name } directives { name locations } }
  }`)
  t.deepEqual([status, errors], [200, undefined])
  t.true(data.directive.fields.length > 3 && data.__schema.directives.length > 3)
  const parts = [1, 2, 3].map(
    (index) =>
      `p${index}: __schema { types { fields { args { type { inputFields { name type { name } } } } } } }`,
  )
  t.is((await service().reader.graphql(`{ ${parts[0]} }`)).status, 200)
  const refused = await service().reader.graphql(`{ ${parts.join('\n')} }`)
  t.is(refused.status, 400)
  t.regex(refused.errors?.[0].message, /may cost more than the limit/)
})
