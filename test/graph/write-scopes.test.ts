import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import { graphNames, parentArgument, singular, toGraphNames } from '../../src/graph/names.ts'
import type { GraphQLAnswer } from '../helpers/client.ts'
import { resources } from '../helpers/domain.ts'
import { collectionPath, Fixtures } from '../helpers/fixtures.ts'
import { shareTestService } from '../helpers/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

function refused(t: ExecutionContext, { data, errors, text }: GraphQLAnswer, scope: string): void {
  t.is(errors?.[0].extensions.code, 'ACCESS_DENIED', text)
  t.true(errors?.[0].message.includes(scope), text)
  t.deepEqual(Object.values(data), [null])
}

for (const resource of resources) {
  const { listed, replaceable } = resource
  const names = graphNames(resource)
  // A species may bring a planet, which is created with it.
  const writer = () => service().withScope(`${resource.path}:write planets:write`)
  const readScope = `${resource.path}:read`
  const select = `${singular(resource)} { version }`

  /** Runs a mutation of this resource with the write scope only. */
  const mutate = (field: string, args: string, payload: string, values: object) => {
    const type = field === names.patch ? names.patchInput : names.input
    const input = toGraphNames(resource, values as Record<string, unknown>)
    return writer().graphql(`mutation ($values: ${type}!) { ${field}(${args}) { ${payload} } }`, {
      values: input,
    })
  }
  const within = (parentId: string | undefined) =>
    parentId === undefined ? '' : `${parentArgument(resource)}: "${parentId}", `

  if (listed) {
    test(`${resource.path}: a create that selects the resource needs the read scope`, async (t) => {
      const fixtures = new Fixtures(service().writer)
      const parentId = await fixtures.parent(resource)
      const args = `${within(parentId)}input: $values`
      const body = await fixtures.body(resource)
      refused(t, await mutate(names.create, args, select, body), readScope)
      const { data } = await mutate(names.create, args, 'outcome', body)
      t.is(data[names.create].outcome, 'CREATED', 'the refused one was not written')
    })

    test(`${resource.path}: a REST create is answered with the resource, with the write scope alone`, async (t) => {
      const fixtures = new Fixtures(service().writer)
      const parentId = await fixtures.parent(resource)
      const body = await fixtures.body(resource)
      const answer = await writer().post(collectionPath(resource, parentId), body)
      t.is(answer.status, 201)
      t.truthy(answer.body.last_updated)
    })
  }

  if (replaceable) {
    test(`${resource.path}: a patch or a put that selects the resource needs the read scope`, async (t) => {
      const fixtures = new Fixtures(service().writer)
      const { id, parentId, path, answer } = await fixtures.create(resource)
      const address = within(parentId) + (listed ? `id: "${id}", ` : '')
      const body = await fixtures.minimalBody(resource)
      refused(t, await mutate(names.patch, `${address}patch: $values`, select, {}), readScope)
      refused(t, await mutate(names.put, `${address}input: $values`, select, body), readScope)
      const current = await service().reader.get(path)
      t.is(current.headers.get('etag'), answer.headers.get('etag'), 'nothing was written')
      const { data } = await mutate(names.patch, `${address}patch: $values`, 'outcome', {})
      t.is(data[names.patch].outcome, 'UNCHANGED')
    })
  }
}

test('however a resource is selected, the read scope is needed; where it is left out, it is not', async (t) => {
  const { withScope, writer } = service()
  await writer.put('/planets/selected', { id: 'selected', name: 'Selected' })
  const patch = (payload: string, more = '') =>
    withScope('planets:write').graphql(
      `mutation ($yes: Boolean! = true, $no: Boolean! = false) {
        patchPlanet(id: "selected", patch: {}) { outcome @include(if: $yes) @skip(if: $no) ${payload} }
      } ${more}`,
    )
  const fragment = 'fragment shown on PlanetPayload { planet { name } }'
  for (const [payload, more] of [
    ['planet { name }'],
    ['renamed: planet { __typename }'],
    ['... { planet { name } }'],
    ['... on PlanetPayload @include(if: $yes) { planet { name } }'],
    ['...shown', fragment],
    ['planet @skip(if: $no) { name }'],
  ] as const) {
    refused(t, await patch(payload, more), 'planets:read')
  }
  for (const [payload, more] of [
    ['planet @skip(if: $yes) { name }'],
    ['... @include(if: $no) { planet { name } }'],
    ['...shown @include(if: false)', fragment],
  ] as const) {
    const { data, text } = await patch(payload, more)
    t.is(data?.patchPlanet.outcome, 'UNCHANGED', text)
  }
})
