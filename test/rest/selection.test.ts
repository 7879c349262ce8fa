import test from 'ava'
import pg from 'pg'
import {
  createExecutor,
  type OperationText,
  type PreparedOperation,
} from '../../src/graph/execution/operation.ts'
import { createSchema } from '../../src/graph/schema/schema.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { readOperation } from '../../src/rest/graphql-operations.ts'
import { QueryParameters } from '../../src/rest/query-parameters.ts'
import { embedsOf, selectableNames, selectionParser } from '../../src/rest/selection.ts'
import { countStatements } from '../helpers/database/statements.ts'
import { resources } from '../helpers/domain/domain.ts'
import { type Created, Fixtures, resourceAt, valueIn } from '../helpers/domain/fixtures.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareTestService(test)
const fixtures = () => new Fixtures(service().writer)

const HAL = { accept: 'application/hal+json' }

/** A resource around which everything exists that can be embedded, as far as one resource can refer to it. */
async function surrounded(resource: Resource): Promise<Created> {
  const created = await fixtures().create(resource)
  for (const { target, relation } of embedsOf(resource, resources)) {
    if (target.owner === resource) await fixtures().create(target, { parentId: created.id })
    else if (relation === target.path && target.kind === 'collection')
      await refer(target, resource, created.id)
  }
  return created
}

async function refer(from: Resource, to: Resource, id: string): Promise<void> {
  const leaf = from.writable.find(({ field }) => {
    return (
      (field.type === 'reference' && field.to === to.path) ||
      ('alsoMatches' in field && to.path === 'planets')
    )
  })
  if (leaf) await fixtures().create(from, { body: { ...(await fixtures().body(from)), [leaf.name]: id } })
}

function refusal({ body, status }: Answer) {
  return [status, body.error.code, ...body.error.details.map(({ field, code }: Json) => `${field} ${code}`)]
}

for (const resource of resources) {
  const { path, listed } = resource
  const relations = embedsOf(resource, resources).map(({ relation }) => relation)

  test.serial(`${path}: each field by itself is the one of the whole resource`, async (t) => {
    const { reader } = service()
    const { path: address } = await fixtures().create(resource)
    const { body: whole } = await reader.get(address)
    for (const name of selectableNames(resource)) {
      const { status, body } = await reader.get(`${address}?fields=${name}`)
      t.is(status, 200, name)
      const { _links: links, ...fields } = body
      t.deepEqual(links, whole._links)
      const path = name.split('.')
      t.deepEqual(
        Object.keys(fields),
        Object.keys(whole).filter((member) => member === 'id' || member === path[0]),
      )
      t.deepEqual(valueIn(body, { path } as never), valueIn(whole, { path } as never))
    }
  })

  test.serial(`${path}: what is embedded is what its link leads to`, async (t) => {
    const { reader } = service()
    const { path: address } = await surrounded(resource)
    for (const headers of [{}, HAL]) {
      const { body: plain } = await reader.get(address, headers)
      const { status, body, text } = await reader.get(`${address}?embed=${relations.join()}`, headers)
      t.is(status, 200, text)
      const { _embedded: embedded, ...rest } = body
      t.deepEqual(rest, plain)
      for (const relation of relations) {
        const link = plain._links[relation]
        const target = link && (await reader.get(link.href, headers))
        t.deepEqual(embedded[relation], target?.status === 200 ? target.body : undefined, relation)
      }
    }
  })

  if (listed) {
    test.serial(`${path}: items of a list embed the same, in one statement for each relation`, async (t) => {
      const { reader } = service()
      const one = await surrounded(resource)
      const more = one.parentId === undefined ? {} : { parentId: one.parentId }
      const other = await fixtures().create(resource, more)
      const query = `filter=id[in]:${one.id}|${other.id}&limit=4&fields=id`
      const list = () => reader.get(`${one.collection}?${query}&embed=${relations.join()}`)
      await list()
      const { result, statements } = await countStatements(list)
      t.is(result.status, 200, result.text)
      const items = result.body._embedded[path]
      t.deepEqual(items.map(({ id }: Json) => id).sort(), [one.id, other.id].sort())
      for (const item of items) {
        const { body } = await reader.get(`${item._links.self.href}?embed=${relations.join()}`)
        t.deepEqual(item, { id: item.id, _links: { self: body._links.self }, _embedded: body._embedded })
      }
      t.true(statements.length <= 1 + relations.length, statements.join('\n'))
      t.regex(result.body._links.self.href, new RegExp(`&fields=id&embed=${relations.join()}$`))
    })
  }
}

/** A planet with a moon, an atmosphere and a species. */
async function inhabited() {
  const planet = await fixtures().create(resourceAt('planets'))
  const moon = await fixtures().create(resourceAt('moons'), { parentId: planet.id })
  const atmosphere = await fixtures().create(resourceAt('atmosphere'), { parentId: planet.id })
  const body = { scientific_name: `of ${planet.id}`, planet_origin: planet.id, habitat: 'reef' }
  const species = await fixtures().create(resourceAt('species'), { body })
  return { planet, moon, atmosphere, species }
}

test.serial('embedded lists have their items, and what is not set is left out', async (t) => {
  const { reader } = service()
  const { planet, moon, atmosphere, species } = await inhabited()
  const read = await reader.get(`${planet.path}?fields=name&embed=moons,species,atmosphere,missions`)
  const { id, name, _links, _embedded: embedded, ...others } = read.body
  t.deepEqual([id, name, others], [planet.id, planet.body['name'], {}])
  t.deepEqual(Object.keys(embedded), ['moons', 'atmosphere', 'species', 'missions'])
  t.is(embedded.moons._embedded.moons[0].name, moon.body['name'])
  t.is(embedded.species._embedded.species[0].id, species.id)
  t.is(embedded.atmosphere.dominant_gas, atmosphere.body['dominant_gas'])
  t.deepEqual([embedded.missions.total_count, embedded.missions._embedded.missions], [0, []])
  const { body: list } = await reader.get(`/species?id=${species.id}&embed=planet`)
  t.is(list._embedded.species[0]._embedded.planet.name, planet.body['name'])
  const bare = await fixtures().create(resourceAt('species'), { body: { scientific_name: `without ${id}` } })
  t.deepEqual((await reader.get(`${bare.path}?embed=planet`)).body._embedded, {})
  const lone = await fixtures().create(resourceAt('planets'))
  t.deepEqual((await reader.get(`${lone.path}?embed=atmosphere`)).body._embedded, {})
})

test.serial('a list embeds as much for each item as for one', async (t) => {
  const { reader } = service()
  const planets = [await inhabited(), await inhabited(), await inhabited()].map(({ planet }) => planet.id)
  const query = `filter=id[in]:${planets.join('|')}`
  const embed = 'embed=moons,species,atmosphere'
  await reader.get(`/planets?${query}&${embed}`)
  const { statements } = await countStatements(() => reader.get(`/planets?${query}&limit=1&${embed}`))
  const { result, statements: same } = await countStatements(() => reader.get(`/planets?${query}&${embed}`))
  t.deepEqual([statements.length, same.length], [4, 4])
  for (const { _embedded: embedded } of result.body._embedded.planets) {
    t.is(embedded.moons.total_count, 1)
    t.is(embedded.species.total_count, 1)
    t.truthy(embedded.atmosphere.dominant_gas)
  }
})

test.serial('an object without the requested members is absent', async (t) => {
  const { reader } = service()
  const body = { scientific_name: 'Partialis', temperature_range: { min_celsius: 3 } }
  const { path } = await fixtures().create(resourceAt('species'), { body })
  const fieldsOf = async (fields: string) => {
    const { id, _links, ...rest } = (await reader.get(`${path}?fields=${fields}`)).body
    return rest
  }
  t.deepEqual(await fieldsOf('temperature_range.max_celsius'), {})
  t.deepEqual(await fieldsOf('temperature_range.min_celsius'), { temperature_range: { min_celsius: 3 } })
  t.deepEqual(await fieldsOf('temperature_range'), { temperature_range: { min_celsius: 3 } })
})

test.serial('names may be repeated, in one parameter or in several', async (t) => {
  const { reader } = service()
  const { planet } = await inhabited()
  const { body } = await reader.get(
    `${planet.path}?fields=name,name&fields=id&embed=moons&embed=moons,species`,
  )
  t.deepEqual(Object.keys(body), ['id', 'name', '_links', '_embedded'])
  t.deepEqual(Object.keys(body._embedded), ['moons', 'species'])
})

test.serial('unknown names are refused with those that exist', async (t) => {
  const { reader, writer } = service()
  const { planet, moon } = await inhabited()
  for (const path of [planet.path, '/planets']) {
    const unknown = await reader.get(`${path}?fields=name,mass,habitat&embed=self,star`)
    const details = [...Array(2).fill('fields UNKNOWN_FIELD'), ...Array(2).fill('embed INVALID_VALUE')]
    t.deepEqual(refusal(unknown), [400, 'INVALID_QUERY_PARAMETER', ...details])
    t.regex(unknown.body.error.message, /mass.*Supported: id, name, host_star, /)
    t.regex(unknown.body.error.details[2].message, /self.*Supported: moons, atmosphere, species, missions\./)
    t.deepEqual(refusal(await reader.get(`${path}?fields=`)).slice(0, 2), [400, 'INVALID_QUERY_PARAMETER'])
    t.deepEqual(refusal(await reader.get(`${path}?embed=`)).slice(0, 2), [400, 'INVALID_QUERY_PARAMETER'])
  }
  t.regex((await reader.get(`${moon.path}?embed=x`)).body.error.message, /Supported: parent\./)
  const other = await reader.get(`${planet.path}?page=1`)
  t.deepEqual(refusal(other), [400, 'INVALID_QUERY_PARAMETER', 'page UNKNOWN_PARAMETER'])
  t.regex(other.body.error.message, /Supported: fields, embed\./)
  t.is((await writer.delete(`${planet.path}?fields=name`)).status, 400)
})

test.serial('embedding needs the scope to read what is embedded, before anything is read', async (t) => {
  const { withScope } = service()
  const { planet } = await inhabited()
  const client = withScope('planets:read moons:read')
  t.is((await client.get(`${planet.path}?embed=moons`)).status, 200)
  for (const path of [planet.path, '/planets', '/planets/none']) {
    const refused = await countStatements(() => client.get(`${path}?embed=moons,species`))
    t.deepEqual([refused.result.status, refused.result.body.error.code], [403, 'ACCESS_DENIED'])
    t.regex(refused.result.body.error.message, /species:read/)
    t.deepEqual(refused.statements, [])
  }
})

test.serial('a page embeds at most 2,000 items of lists', async (t) => {
  const { reader } = service()
  t.is((await reader.get('/planets?limit=100&embed=moons,atmosphere')).status, 200)
  t.is((await reader.get('/planets?limit=50&embed=moons,species')).status, 200)
  const { result, statements } = await countStatements(() =>
    reader.get('/planets?limit=51&embed=moons,species'),
  )
  t.deepEqual(refusal(result), [400, 'INVALID_QUERY_PARAMETER', 'embed LIMIT_EXCEEDED'])
  t.regex(result.body.error.message, /limit must be at most 50\./)
  t.deepEqual(statements, [])
})

test.serial(
  'where lists are smaller than the default, so are those without a limit and embedded ones',
  async (t) => {
    const { reader, writer, origin } = await startTestService(t, { maximumPageSize: 3 })
    for (const id of ['a', 'b', 'c', 'd']) {
      await writer.put(`/planets/${id}`, { id, name: id })
      await writer.put(`/planets/a/moons/${id}`, { id, name: id })
    }
    const { body } = await reader.get('/planets?embed=moons&sort=name:asc')
    const [{ _embedded }] = body._embedded.planets
    for (const { _links } of [body, _embedded.moons]) {
      const next = await reader.get(_links.next.href)
      t.is(next.body._embedded.planets?.length ?? next.body._embedded.moons.length, 1)
    }
    const lists = 'planetPage { items { moons { items { id } } } } changes { nextCursor }'
    const { body: answer } = await writer.post(`${origin}/graphql`, { query: `{ ${lists} }` })
    t.is(answer.errors, undefined)
    t.is(answer.data.planetPage.items.length, 3)
    const { policies } = (await reader.get('/profile/planets')).body
    const { limitParameter } = (await reader.get('/openapi.json')).body.components.parameters
    t.deepEqual(
      [policies.paging.default_limit, limitParameter.schema.default, limitParameter.example],
      [3, 3, 3],
    )
  },
)

test.serial('the links of a list keep what was selected', async (t) => {
  const { reader } = service()
  const { planet } = await inhabited()
  await fixtures().create(resourceAt('moons'), { parentId: planet.id })
  await fixtures().create(resourceAt('moons'), { parentId: planet.id })
  const selection = 'fields=name,radius_kilometres&embed=parent'
  const first = await reader.get(`${planet.path}/moons?limit=1&${selection}`)
  const { self, next } = first.body._links
  t.true(self.href.endsWith(`/moons?page=1&limit=1&${selection}`))
  const second = await reader.get(next.href)
  for (const { href } of [second.body._links.next, second.body._links.prev, second.body._links.last]) {
    const { body } = await reader.get(href)
    const [{ _links, _embedded: embedded, id, ...fields }] = body._embedded.moons
    t.deepEqual(Object.keys(fields), ['name', 'radius_kilometres'])
    t.is(embedded.parent.id, planet.id)
  }
})

test.serial('an entity tag stands for one content, and names the version for a write', async (t) => {
  const { reader, writer } = service()
  const { planet, moon } = await inhabited()
  const queries = ['', '?fields=name', '?fields=name,host_star', '?embed=moons', '?fields=name&embed=moons']
  const answers = await Promise.all(queries.map((query) => reader.get(planet.path + query)))
  const tags = answers.map(({ headers }) => headers.get('etag') as string)
  t.is(new Set(tags).size, queries.length)
  for (const [index, query] of queries.entries()) {
    const etag = tags[index] as string
    const again = await reader.get(planet.path + query, { 'if-none-match': etag })
    t.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag])
    const others = tags.filter((tag) => tag !== etag).join()
    t.is((await reader.get(planet.path + query, { 'if-none-match': others })).status, 200)
  }
  await writer.patch(moon.path, { name: 'Renamed' }, { 'content-type': 'application/merge-patch+json' })
  t.is((await reader.get(planet.path, { 'if-none-match': tags[0] as string })).status, 304)
  t.is((await reader.get(`${planet.path}?embed=moons`, { 'if-none-match': tags[3] as string })).status, 200)
  const since = new Date(Date.now() + 60_000).toUTCString()
  t.is((await reader.get(`${planet.path}?fields=name`, { 'if-modified-since': since })).status, 304)
  const embedding = await reader.get(`${planet.path}?embed=moons`, { 'if-modified-since': since })
  t.deepEqual([embedding.status, embedding.headers.get('last-modified')], [200, null])
  const patch = (etag: string) => writer.patch(planet.path, { host_star: 'Vega' }, { 'if-match': etag })
  t.is((await patch(tags[4] as string)).status, 204)
  t.is((await patch(tags[1] as string)).status, 409)
})

test.serial('the entity tag of a list changes with what is embedded', async (t) => {
  const { reader, writer } = service()
  const { planet, moon } = await inhabited()
  for (const type of ['application/json', 'application/x-ndjson']) {
    const get = (query: string, tag?: string | null) =>
      reader.get(`/planets?id=${planet.id}&${query}`, { accept: type, ...(tag && { 'if-none-match': tag }) })
    const [embedding, plain] = [await get('embed=moons'), await get('fields=name')]
    const [etag, other] = [embedding.headers.get('etag'), plain.headers.get('etag')]
    t.deepEqual([embedding.status, plain.status], [200, 200])
    t.deepEqual(
      [(await get('embed=moons', etag)).status, (await get('fields=name', other)).status],
      [304, 304],
    )
    t.is((await get('embed=moons', other)).status, 200)
    const known = await countStatements(() => get('embed=moons', etag))
    t.deepEqual([known.result.status, known.statements.length], [304, 2])
    const name = `Renamed for ${type}`
    await writer.patch(moon.path, { name }, { 'content-type': 'application/merge-patch+json' })
    const changed = await get('embed=moons', etag)
    t.deepEqual([changed.status, changed.text.includes(name)], [200, true])
    t.is((await get('fields=name', other)).status, 304)
  }
})

test.serial('CSV has the columns of the fields', async (t) => {
  const { reader } = service()
  const { species } = await inhabited()
  const fields = 'fields=habitat,temperature_range.min_celsius'
  const { status, text } = await reader.get(`/species?id=${species.id}&${fields}`, { accept: 'text/csv' })
  t.is(status, 200, text)
  t.is(text.split(/\r?\n/)[0], 'id,habitat,temperature_range.min_celsius')
})

test.serial('a selection is shown as its own GraphQL operation', async (t) => {
  const { reader } = service()
  const { planet } = await inhabited()
  const prefer = { prefer: 'graphql-operation' }
  const { headers } = await reader.get(`${planet.path}?fields=name&embed=moons`, prefer)
  const { query, variables } = JSON.parse(headers.get('graphql-operation') as string)
  t.regex(query, /name[\s\S]*moons\(limit: 20\)/)
  t.notRegex(query, /hostStar/)
  const { data, errors } = await reader.graphql(query, variables)
  t.is(errors, undefined)
  t.is(data.resource.moons.total_count, 1)
})

test.serial('what was deleted after the list was read embeds nothing', async (t) => {
  const { reader, database } = service()
  const [one, other] = [await inhabited(), await inhabited()]
  const list = `/planets?filter=id[in]:${one.planet.id}|${other.planet.id}&embed=moons,species`
  await reader.get(list)
  await database.client.prisma.species.deleteMany({ where: { id: one.species.id } })
  const deleted = await beforeStatement(
    (text) => text.includes('"moons"'),
    () => database.client.prisma.planet.deleteMany({ where: { id: one.planet.id } }),
    () => reader.get(list),
  )
  t.is(deleted.status, 200, deleted.text)
  const embedded = new Map(deleted.body._embedded.planets.map((item: Json) => [item.id, item._embedded]))
  t.false('moons' in (embedded.get(one.planet.id) as object))
  t.deepEqual(Object.keys(embedded.get(other.planet.id) as object), ['moons', 'species'])
})

/** Does something before the first of these statements is sent, while work is done. */
async function beforeStatement<Result>(
  isMeant: (text: string) => boolean,
  act: () => PromiseLike<unknown>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { query } = pg.Client.prototype
  let acted: PromiseLike<unknown> | undefined
  pg.Client.prototype.query = async function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { readonly text: string }]
    const text = typeof statement === 'string' ? statement : statement.text
    if (isMeant(text) && !/^\s*DELETE/i.test(text)) {
      acted ??= act()
      await acted
    }
    return Reflect.apply(query, this, args)
  } as unknown as typeof query
  try {
    return await work()
  } finally {
    pg.Client.prototype.query = query
  }
}

test('a new selection of fields is read with the whole resource, and compiled at its third request', async (t) => {
  const species = resourceAt('species')
  const prepared: OperationText[] = []
  const prepareRead = readOperation(species, (operation) => {
    prepared.push(operation)
    return { run: () => Promise.resolve({}) } as unknown as PreparedOperation
  })
  const select = selectionParser(species, resources)
  const read = (query: string) => prepareRead(select(new QueryParameters(new URLSearchParams(query))))
  const whole = read('')
  const embedding = read('embed=planet')
  t.is(prepared.at(-1)?.wider, undefined)
  read('fields=habitat')
  t.is(prepared.at(-1)?.wider, whole)
  read('fields=habitat&embed=planet')
  t.is(prepared.at(-1)?.wider, embedding)

  const run = async () => 'own' as never
  const parts = { schema: createSchema(resources), openSession: {} as never, run }
  const { prepare } = createExecutor(parts)
  const wider = { run: async () => 'wider' as never }
  const narrow = prepare({ type: 'query', name: 'x', text: '{ collections { path } }', wider })
  const results = []
  for (let time = 0; time < 3; time++) results.push(await narrow.run({}, {} as never))
  t.deepEqual(results as unknown[], ['wider', 'wider', 'own'])
})

test.serial('the first answers of a selection are those of later ones', async (t) => {
  const { planet } = await inhabited()
  for (const query of ['fields=name', 'fields=name&embed=moons', 'fields=host_star,id&embed=species']) {
    const answers = []
    for (let time = 0; time < 4; time++)
      answers.push((await service().reader.get(`${planet.path}?${query}`)).text)
    t.deepEqual(new Set(answers).size, 1, query)
    t.true(JSON.parse(answers[0] as string)['last_updated'] === undefined)
  }
})

test('selections that callers vary do not stay in memory', (t) => {
  const species = resourceAt('species')
  let prepared = 0
  const prepareRead = readOperation(species, ({ text }) => {
    prepared += 1
    return { document: text, run: () => Promise.resolve({}) } as unknown as PreparedOperation
  })
  const parse = selectionParser(species, resources)
  const read = (name: string) =>
    prepareRead(parse(new QueryParameters(new URLSearchParams(`fields=${name}`))))
  const names = selectableNames(species)
  const before = prepared
  const whole = prepareRead(undefined)
  const kept = read(names[0] as string)
  for (let round = 0; round < 3; round++) for (const name of names.slice(0, 3)) read(name)
  t.is(prepared, before + 3)
  t.is(read(names[0] as string), kept)
  for (const name of names.slice(3)) for (const also of names) read(`${name},${also}`)
  t.not(read(names[0] as string), kept)
  t.is(prepareRead(undefined), whole)
})
