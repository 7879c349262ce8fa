import test from 'ava'
import { kindOf } from '../../src/model/definition/fields.ts'
import { text } from '../../src/model/kinds/text.ts'
import { OPERATION_HEADERS } from '../../src/rest/resource-operations.ts'
import { headersRead } from '../helpers/service/headers-read.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

test('a header that the service reads has at most 2,000 characters', async (t) => {
  const names = await headersRead()
  t.true(names.length > 12)
  for (const name of names) {
    const { status, body } = await service().reader.get('/species', { [name]: 'x'.repeat(2_001) })
    t.is(status, 431, name)
    t.deepEqual(body.error.details[0].field, name)
    t.not((await service().reader.get('/species', { [name]: 'x'.repeat(2_000) })).status, 431, name)
  }
})

test('an error is told in the usual form, also if Accept is what is too long', async (t) => {
  const accept = `application/problem+json,"${','.repeat(2_000)}`
  const { status, body } = await service().anonymous.get('/species', { prefer: accept, accept })
  t.is(status, 431)
  t.like(body.error, { code: 'HEADERS_TOO_LARGE', details: [{ field: 'accept' }] })
})

test('a header of an operation in a batch has at most 2,000 characters, too', async (t) => {
  for (const name of OPERATION_HEADERS) {
    const operation = { method: 'POST', path: '/planets', headers: { [name]: ' '.repeat(2_001) }, body: {} }
    const { status, body } = await service()
      .withScope('')
      .post('/batch', { operations: [operation] })
    t.is(status, 431, name)
    t.is(body.error.details[0].field, `operations[0].headers.${name}`)
  }
})

test('a path of many levels is a 404 that clients can receive', async (t) => {
  const { status, body } = await service().reader.get(`/species${'/'.repeat(14_000)}`)
  t.is(status, 404)
  t.is(body.error.code, 'RESOURCE_NOT_FOUND')
})

test('a text to compare with is as long as the field can hold, at most', async (t) => {
  const { reader } = service()
  for (const operator of ['', '[ne]', '[in]', '[contains]', '[icontains]', '[prefix]']) {
    const answerTo = (length: number) =>
      reader.get(`/species?filter=habitat${operator}:${'x'.repeat(length)}`)
    t.is((await answerTo(500)).status, 200, operator)
    const { status, body } = await answerTo(501)
    t.is(status, 400, operator)
    t.like(body.error.details, [{ field: 'filter', code: 'TOO_LONG' }])
    t.regex(body.error.message, /habitat must not be longer than 500 characters/)
  }
  for (const query of ['species?habitat=', 'species?id=', 'missions?filter=spacecraft_id:']) {
    const { status, body } = await reader.get(`/${query}${'x'.repeat(501)}`)
    t.is(status, 400, query)
    t.is(body.error.details[0].code, 'TOO_LONG')
  }
})

test('GraphQL refuses longer texts in the filters of pages, connections, aggregates, relations and subscriptions', async (t) => {
  const { reader } = service()
  const name = { containsInsensitive: 'x'.repeat(501) }
  for (const [type, field, filter] of [
    ['Planet', 'planetPage(filter: $filter) { totalCount }', { name }],
    ['Planet', 'planetConnection(filter: $filter) { totalCount }', { not: { name } }],
    ['Planet', 'planetAggregate(filter: $filter) { groups { count } }', { or: [{}, { name }] }],
    [
      'Planet',
      'planetPage(filter: $filter) { totalCount }',
      { name: { in: ['x', name.containsInsensitive] } },
    ],
    ['Species', 'speciesPage(filter: $filter) { totalCount }', { planet: { name } }],
    [
      'Mission',
      'missionPage(filter: $filter) { totalCount }',
      { objective: { contains: 'x'.repeat(10_001) } },
    ],
  ] as const) {
    const { errors } = await reader.graphql(`query ($filter: ${type}Filter) { ${field} }`, { filter })
    t.is(errors?.[0].extensions.code, 'INVALID_QUERY_PARAMETER', field)
    t.like(errors?.[0].extensions.details, [{ field: 'filter', code: 'TOO_LONG' }])
  }
  const query = 'subscription ($filter: PlanetFilter) { planetChanged(filter: $filter) { id } }'
  const answer = await reader.graphql(query, { filter: { name } }, { accept: 'text/event-stream' })
  t.regex(answer.text, /TOO_LONG/)
})

test('a longer text than 10,000 characters is compared with no field', (t) => {
  const { fromQuery } = kindOf(text('Pages.', { maximumLength: 1_000_000 }))
  const checked = (length: number) =>
    fromQuery(text('Pages.', { maximumLength: 1_000_000 }), 'x'.repeat(length))
  t.deepEqual(checked(10_000), { value: 'x'.repeat(10_000) })
  t.like(checked(10_001), { code: 'TOO_LONG' })
})
