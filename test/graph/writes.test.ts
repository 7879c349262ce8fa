import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import { graphNames, parentArgument, singular, toGraphNames } from '../../src/graph/names.ts'
import { resources } from '../helpers/domain/domain.ts'
import { collectionPath, Fixtures } from '../helpers/domain/fixtures.ts'
import type { GraphQLAnswer } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn

const service = shareTestService(test)

const PUT = `mutation ($id: ID!, $input: SpeciesInput!, $ifVersion: [Int!], $readOnly: SpeciesReadOnly) {
  putSpecies(id: $id, input: $input, ifVersion: $ifVersion, readOnly: $readOnly) { outcome species { version } }
}`

const PATCH = `mutation ($id: ID!, $patch: SpeciesPatch!, $ifVersion: [Int!]) {
  patchSpecies(id: $id, patch: $patch, ifVersion: $ifVersion) { outcome species { version commonName habitat } }
}`

const fieldsOf = (
  errors: readonly { extensions: { details: { field: string; code: string }[] } }[] | undefined,
) => errors?.[0]?.extensions.details.map(({ field, code }) => [field, code])

test('every mutation returns its outcome', async (t) => {
  const { writer } = service()
  const outcome = async (query: string, variables: object) => {
    const { data, errors } = await writer.graphql(query, variables)
    t.is(errors, undefined, JSON.stringify(errors))
    return (Object.values(data)[0] as { outcome: string }).outcome
  }
  const input = { scientificName: 'Acta una', habitat: 'reef' }
  t.is(await outcome(PUT, { id: 'acta', input }), 'CREATED')
  t.is(await outcome(PUT, { id: 'acta', input }), 'UNCHANGED')
  t.is(await outcome(PUT, { id: 'acta', input: { scientificName: 'Acta duo' } }), 'REPLACED')
  t.is(await outcome(PATCH, { id: 'acta', patch: { commonName: 'act' } }), 'REPLACED')
  t.is(await outcome('mutation { deleteSpecies(id: "acta") { outcome } }', {}), 'DELETED')
  t.is(await outcome('mutation { deleteSpecies(id: "acta") { outcome } }', {}), 'ABSENT')
  const created = 'mutation { createSpecies(input: { scientificName: "Acta tres" }) { outcome } }'
  t.is(await outcome(created, {}), 'CREATED')
})

test('a change that relies on another version is refused', async (t) => {
  const { writer } = service()
  const input = { scientificName: 'Versio' }
  const { data } = await writer.graphql(PUT, { id: 'versio', input })
  const { version } = data.putSpecies.species
  const patch = { habitat: 'cave' }
  const stale = await writer.graphql(PATCH, { id: 'versio', patch, ifVersion: [version + 1] })
  t.is(stale.errors?.[0].extensions.code, 'CONCURRENT_MODIFICATION')
  const fresh = await writer.graphql(PATCH, { id: 'versio', patch, ifVersion: [version] })
  t.is(fresh.data.patchSpecies.species.version, version + 1)
})

test('an error names each field by its path from the argument on', async (t) => {
  const { writer } = service()
  const input = { scientificName: ' ', temperatureRange: { minCelsius: 5, maxCelsius: 1 } }
  const invalid = await writer.graphql(PUT, { id: 'path', input })
  t.is(invalid.errors?.[0].extensions.code, 'VALIDATION_FAILED')
  t.deepEqual(fieldsOf(invalid.errors), [
    ['input.scientificName', 'REQUIRED_FIELD'],
    ['input.temperatureRange.minCelsius', 'INVALID_RANGE'],
  ])
  t.deepEqual(invalid.errors?.[0].path, ['putSpecies'])
  const malformed = await writer.graphql(PUT, { id: '..', input: { scientificName: 'Path' } })
  t.deepEqual(fieldsOf(malformed.errors), [['id', 'INVALID_VALUE']])
  t.is((await writer.graphql(PUT, { id: 'path', input: { scientificName: 'Path' } })).errors, undefined)
  const cold = await writer.graphql(PATCH, { id: 'path', patch: { temperatureRange: { minCelsius: -300 } } })
  t.is(cold.errors?.[0].extensions.code, 'BUSINESS_RULE_VIOLATION')
  t.deepEqual(fieldsOf(cold.errors), [['patch.temperatureRange.minCelsius', 'BELOW_ABSOLUTE_ZERO']])
  const kept = { id: 'path', input: { scientificName: 'Path' }, readOnly: { discoveryStatus: 'confirmed' } }
  t.deepEqual(fieldsOf((await writer.graphql(PUT, kept)).errors), [
    ['readOnly.discoveryStatus', 'READ_ONLY_FIELD'],
  ])
  const taken = await writer.graphql(PUT, { id: 'other', input: { scientificName: 'PATH' } })
  t.deepEqual(fieldsOf(taken.errors), [['input.scientificName', 'DUPLICATE_VALUE']])
})

test('a later field of the same request reads what was written', async (t) => {
  const { writer } = service()
  const { data } = await writer.graphql(`mutation {
    first: putPlanet(id: "seen", input: { name: "Seen" }) { planet { moons { totalCount } } }
    createMoon(planetId: "seen", input: { name: "New" }) { moon { planet { moons { totalCount } } } }
    second: patchPlanet(id: "seen", patch: { hostStar: "Sun" }) { planet { hostStar moons { totalCount } } }
  }`)
  t.is(data.first.planet.moons.totalCount, 0)
  t.is(data.createMoon.moon.planet.moons.totalCount, 1)
  t.is(data.second.planet.moons.totalCount, 1)
})

test('changedBy names the author of the last change in the answer of a write, in a read, a list and a connection', async (t) => {
  const { withSubject, withScope, database } = service()
  const put = (name: string) =>
    withSubject(name).graphql(
      `mutation ($name: String!) { putPlanet(id: "authored", input: { name: $name, hostStar: "Auctor" }) { planet { changedBy } } }`,
      { name },
    )
  const read = `{ planet(id: "authored") { changedBy }
    planetPage(filter: { hostStar: { equals: "Auctor" } }) { items { changedBy } }
    planetConnection(filter: { hostStar: { equals: "Auctor" } }) { nodes { changedBy } } }`
  const isReadAs = async (changedBy: string | null) => {
    const { data, text } = await withScope('planets:read').graphql(read)
    const [items, nodes] = [[{ changedBy }], [{ changedBy }]]
    t.deepEqual(data, { planet: { changedBy }, planetPage: { items }, planetConnection: { nodes } }, text)
  }
  for (const name of ['ada', 'ben']) {
    t.deepEqual((await put(name)).data, { putPlanet: { planet: { changedBy: name } } })
    await isReadAs(name)
  }
  await database.pool.query(`ALTER TABLE planets DISABLE TRIGGER USER;
    UPDATE planets SET changed_by = NULL WHERE id = 'authored'; ALTER TABLE planets ENABLE TRIGGER USER`)
  await isReadAs(null)
  const { body } = await withSubject('ada').get('/planets/authored')
  t.false('changed_by' in body)
})

test('a field that fails does not affect the others of the request', async (t) => {
  const narrow = service().withScope('planets:read')
  const { status, data, errors } = await narrow.graphql(
    '{ planetPage { totalCount } speciesPage { totalCount } spacecraft(id: "x") { name } }',
  )
  t.is(status, 200)
  t.true(data.planetPage.totalCount >= 0)
  t.is(data.speciesPage, null)
  const refused = errors?.map(({ path, extensions }) => `${path[0]} ${extensions.code}`)
  t.deepEqual(refused?.toSorted(), ['spacecraft ACCESS_DENIED', 'speciesPage ACCESS_DENIED'])
})

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
