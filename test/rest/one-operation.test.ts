import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import test from 'ava'
import { parse } from 'graphql'
import type { Executor } from '../../src/graph/execution/operation.ts'
import type { Method } from '../../src/http/routes.ts'
import { allOperations } from '../../src/rest/all-operations.ts'
import { createRoutes } from '../../src/rest/routes.ts'
import { FEATURES } from '../../src/service/features.ts'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures, resourceAt } from '../helpers/domain/fixtures.ts'
import { shareTestService } from '../helpers/service/service.ts'

const spans = new InMemorySpanExporter()
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).register()

/** The names of the operations since the last call. */
function operations(): string[] {
  const names = spans.getFinishedSpans().map(({ name }) => name)
  spans.reset()
  return names.filter((name) => name.startsWith('GraphQL '))
}

const service = shareTestService(test)
const refuse = () => Promise.reject(new Error('only the list of routes is wanted'))
const executor: Executor = {
  prepare: ({ type, text }) => ({
    type,
    document: () => parse(text),
    show: () => text,
    execute: refuse,
    run: refuse,
  }),
  runTogether: refuse,
}
const features = FEATURES.map((create) => create(resources))
const routes = createRoutes(
  {
    resources,
    executor,
    links: [],
    settings: { namespace: 'api', apiVersion: 'v1', publicBaseUrl: undefined, maximumPageSize: 100 },
  },
  allOperations(features),
)

/** The path of a resource or a collection that is there, and a body for what can be sent to it. */
async function prepared(route: string) {
  const [, first, , second] = route.replace(/\/versions.*/, '').split('/')
  const fixtures = new Fixtures(service().writer)
  const resource = resourceAt((second ?? first) as string)
  const isNested = second !== undefined && resource.owner?.path !== first
  const parent = isNested ? await fixtures.create(resourceAt(first as string)) : undefined
  const created = await fixtures.create(resource)
  const id = parent ? parent.id : created.id
  const path = route
    .replace(':parentId', created.parentId ?? id)
    .replace(':id', id)
    .replace(':version', '1')
  return { path, body: await fixtures.body(resource) }
}

test.serial('the entry document is one GraphQL operation', async (t) => {
  operations()
  t.is((await service().reader.get('')).status, 200)
  t.deepEqual(operations(), ['GraphQL query collections'])
})

test.serial('count=none sends no statement that counts', async (t) => {
  const counting = async (path: string, headers = {}) => {
    spans.reset()
    t.is((await service().reader.get(path, headers)).status, 200)
    const texts = spans.getFinishedSpans().map(({ attributes }) => String(attributes['db.query.text']))
    t.true(texts.some((text) => text.includes('FROM "planets"')))
    return texts.filter((text) => /count\(|row_counts/.test(text)).length
  }
  for (const path of ['/planets', '/planets?filter=habitable:true', '/planets?filter=name:x&page=3']) {
    t.is(await counting(path, { Prefer: 'count=none' }), 0)
    t.is(await counting(path), 1)
  }
})

test.serial('a batch is one GraphQL operation for each write, run together', async (t) => {
  const writes = [1, 2].map((number) => ({
    method: 'PUT',
    path: `/planets/one-${number}`,
    body: { id: `one-${number}`, name: `One ${number}` },
  }))
  operations()
  const { status, headers } = await service().writer.post(
    '/batch',
    { operations: writes },
    { Prefer: 'graphql-operation' },
  )
  t.is(status, 200)
  t.deepEqual(operations(), ['GraphQL mutation batch'])
  const shown: { query: string; variables: { id: string } }[] = JSON.parse(
    headers.get('graphql-operation') ?? '',
  )
  t.deepEqual(
    shown.map(({ variables }) => variables.id),
    ['one-1', 'one-2'],
  )
  for (const { query } of shown) t.regex(query, /^mutation \([^{]*\) \{\s+write: putPlanet\(/)
})

test.serial('of a list that the client has, one statement reads the versions alone', async (t) => {
  const statements = async (path: string, headers = {}) => {
    spans.reset()
    const answer = await service().reader.get(path, headers)
    const texts = spans.getFinishedSpans().map(({ attributes }) => String(attributes['db.query.text']))
    return { answer, texts: texts.filter((text) => text.includes('FROM "planets"')) }
  }
  for (const path of [
    '/planets',
    '/planets?page=2&limit=1',
    '/planets?filter=habitable:true&sort=name:desc',
  ]) {
    const { answer, texts } = await statements(path)
    t.deepEqual([answer.status, texts.length, texts[0]?.includes('host_star')], [200, 1, true])
    const known = await statements(path, { 'if-none-match': answer.headers.get('etag') as string })
    t.deepEqual([known.answer.status, known.texts.length], [304, 1])
    t.false(known.texts[0]?.includes('host_star'))
    const unknown = await statements(path, { 'if-none-match': 'W/"of.another"' })
    t.deepEqual([unknown.answer.status, unknown.texts], [200, texts])
  }
})

test.serial('a page of changes is one GraphQL operation', async (t) => {
  operations()
  t.is((await service().reader.get('/changes')).status, 200)
  t.deepEqual(operations(), ['GraphQL query changes'])
})

for (const { path, methods } of routes.filter((route) => !/\/(v1|batch|changes)$/.test(route.path))) {
  const route = path.replace('/api/v1', '')
  for (const method of (Object.keys(methods) as Method[]).filter((name) => name !== 'HEAD')) {
    test.serial(`${method} ${route} is one GraphQL operation, a refused one none`, async (t) => {
      const { path, body } = await prepared(route)
      const { writer, withScope } = service()
      const sent = method === 'POST' || method === 'PUT' ? body : method === 'PATCH' ? {} : undefined
      operations()
      const { status, text } = await writer.request(method, path, sent)
      t.true(status < 300, text)
      const [operation, ...others] = operations()
      t.regex(operation ?? '', method === 'GET' ? /^GraphQL query / : /^GraphQL mutation /)
      t.deepEqual(others, [])
      t.is((await withScope('').request(method, path, sent)).status, 403)
      t.is((await writer.request(method, path, sent, { accept: 'image/png' })).status, 406)
      if (sent) t.is((await writer.request(method, path, '{')).status, 400)
      t.deepEqual(operations(), [])
    })
  }
}
