import test from 'ava'
import { allOperations } from '../../src/rest/all-operations.ts'
import type { ResourceOperation, ServiceOperation } from '../../src/rest/operation.ts'
import { hasOperation } from '../../src/rest/operation.ts'
import { OPERATION_HEADERS, resourcePaths } from '../../src/rest/resource-operations.ts'
import { FEATURES } from '../../src/service/features.ts'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures, resourceAt } from '../helpers/domain/fixtures.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)
const { resource: ofResources, service: ofService } = allOperations(
  FEATURES.map((create) => create(resources)),
)
const all: readonly (ResourceOperation | ServiceOperation)[] = [...ofResources, ...ofService]

const namesOf = (operations: readonly { readonly method: string }[]) =>
  operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))

interface Served {
  readonly path: string
  readonly operations: readonly (ResourceOperation | ServiceOperation)[]
}

const served: readonly Served[] = [
  ...resources.flatMap((resource) => resourcePaths(resource, resources, ofResources)),
  ...ofService.map((operation) => ({ path: operation.path, operations: [operation] })),
]

test('the routes, OPTIONS and OpenAPI have the operations of the records, and no others', async (t) => {
  const { anonymous, reader, base } = service()
  const { paths } = (await anonymous.get('/openapi.json')).body
  const prefix = new URL(base).pathname
  for (const { path, operations } of served) {
    const options = await reader.request('OPTIONS', path.replace(/:\w+/g, 'x'))
    t.deepEqual(options.headers.get('allow')?.split(', '), [...namesOf(operations), 'OPTIONS'], path)
    const levels = (prefix + path).replace(/:\w+/g, '{}')
    const [address = ''] = Object.keys(paths).filter((one) => one.replace(/\{\w+\}/g, '{}') === levels)
    const { parameters: _, ...methods } = paths[address]
    t.deepEqual(
      Object.keys(methods),
      operations.map(({ method }) => method.toLowerCase()),
      address,
    )
  }
  const open = Object.entries<Json>(paths).filter(([, { get }]) => get?.security?.length === 0)
  t.is(Object.keys(paths).length, served.length + open.length)
})

test('OpenAPI names the request headers, statuses and response headers of each record', async (t) => {
  const { paths, components } = (await service().anonymous.get('/openapi.json')).body
  const described = Object.values<Json>(paths).flatMap(({ parameters: _, ...methods }) =>
    Object.values<Json>(methods).filter(({ security }) => security === undefined),
  )
  const beginnings = all.map(({ id }) => id).sort((one, other) => other.length - one.length)
  for (const { id, headers = [], responses } of all) {
    const found = described.filter(
      ({ operationId }) => beginnings.find((beginning) => operationId.startsWith(beginning)) === id,
    )
    t.true(found.length > 0, id)
    for (const { operationId, parameters = [], responses: answers } of found) {
      const references = parameters.map(({ $ref = '' }) => $ref.split('/').at(-1))
      const names = references.filter((name: string) => components.parameters[name]?.in === 'header')
      const named = headers.map((name) => `${name}Parameter`)
      t.deepEqual(names, named, operationId)
      const statuses = Object.keys(answers).filter((status) => Number(status) < 400)
      t.deepEqual(statuses, Object.keys(responses), operationId)
      for (const [status, { headers: own = [] }] of Object.entries(responses)) {
        const { $ref: reference } = answers[status]
        const answer = reference ? components.responses[reference.split('/').at(-1)] : answers[status]
        for (const name of own) t.true(name in answer.headers, `${operationId} ${name}`)
      }
    }
  }
})

test('HAL-FORMS offers what the records offer', async (t) => {
  const resource = resourceAt('planets')
  const { path, id } = await new Fixtures(service().writer).create(resource)
  t.truthy(id)
  const { body } = await service().writer.get(path, { accept: 'application/prs.hal-forms+json' })
  const records: readonly ResourceOperation[] = ofResources
  const offered = records
    .filter((operation) => hasOperation(resource, operation))
    .flatMap(({ forms = [], method }) =>
      forms.filter(({ on }) => on === 'resource').map(({ key }) => [key, method]),
    )
  const templates = Object.entries<Json>(body._templates).map(([key, { method }]) => [key, method])
  for (const one of offered)
    t.true(
      templates.some((template) => String(template) === String(one)),
      String(one),
    )
})

test('an operation of a batch takes the headers that the writes read, and no others', async (t) => {
  const headers = Object.fromEntries(OPERATION_HEADERS.map((name) => [name, '']))
  const send = (more: object) => {
    const operation = { method: 'DELETE', path: '/planets/absent', headers: more }
    return service().writer.post('/batch', { operations: [operation] })
  }
  t.deepEqual(OPERATION_HEADERS, [
    'content-type',
    'idempotency-key',
    'if-match',
    'if-none-match',
    'if-unmodified-since',
    'prefer',
  ])
  const accepted = { ...headers, 'content-type': 'application/json', 'if-match': '*' }
  t.is((await send(accepted)).status, 200)
  t.is((await send({ 'consistency-token': '' })).body.error.details[0].code, 'UNKNOWN_FIELD')
})
