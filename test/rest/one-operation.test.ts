import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import test from 'ava'
import type { Prepare } from '../../src/graph/execution/operation.ts'
import type { Method } from '../../src/http/routes.ts'
import { createRoutes } from '../../src/rest/routes.ts'
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
const prepareNothing: Prepare = ({ type, name, text }) => ({
  type,
  name,
  document: text,
  cost: () => 0,
  run: () => Promise.reject(new Error('only the list of routes is wanted')),
})
const routes = createRoutes(resources, prepareNothing, {
  namespace: 'api',
  version: 'v1',
  publicBaseUrl: undefined,
  maximumPageSize: 100,
})

/** The path of a resource or a collection that is there, and a body for what can be sent to it. */
async function prepared(route: string) {
  const [, first, , second] = route.split('/')
  const fixtures = new Fixtures(service().writer)
  const resource = resourceAt((second ?? first) as string)
  const isNested = second !== undefined && resource.owner?.path !== first
  const parent = isNested ? await fixtures.create(resourceAt(first as string)) : undefined
  const created = await fixtures.create(resource)
  const id = parent ? parent.id : created.id
  const path = route.replace(':parentId', created.parentId ?? id).replace(':id', id)
  return { path, body: await fixtures.body(resource) }
}

test.serial('the entry document is one GraphQL operation', async (t) => {
  operations()
  t.is((await service().reader.get('')).status, 200)
  t.deepEqual(operations(), ['GraphQL query collections'])
})

for (const { path, methods } of routes.slice(1)) {
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
