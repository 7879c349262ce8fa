import test from 'ava'
import { numberChanges } from '../../../src/features/history/feed/upkeep.ts'
import { purgeChanges } from '../../helpers/database/purge-changes.ts'
import { resources } from '../../helpers/domain/domain.ts'
import { Fixtures, writtenPart } from '../../helpers/domain/fixtures.ts'
import { versionedDomain } from '../../helpers/domain/versioned-domain.ts'
import type { Answer, Json } from '../../helpers/service/client.ts'
import { shareTestService, startTestService, type TestService } from '../../helpers/service/service.ts'

const service = shareTestService(test)

const versionsIn = ({ body, text }: Answer): Json[] => {
  if (!body._embedded) throw new Error(text)
  return body._embedded.versions
}

const told = (answer: Answer) => versionsIn(answer).map(({ event, version }) => `${event} ${version}`)

const problem = ({ status, body }: Answer) => [status, body.error.code]

const fieldsOf = ({ body: { _links, ...fields } }: Answer): Json => fields

const NOT_FOUND = [404, 'RESOURCE_NOT_FOUND']
const GONE = [410, 'RESOURCE_GONE']

for (const resource of resources) {
  const { path: collection, replaceable } = resource
  test.serial(
    `${collection}: each version is as it was, also after deletion, and PUT restores it`,
    async (t) => {
      const { writer, reader, base } = service()
      const fixtures = new Fixtures(writer)
      const { path } = await fixtures.create(resource)
      const states = [fieldsOf(await reader.get(path))]
      if (replaceable) {
        t.is((await writer.put(path, await fixtures.body(resource))).status, 204)
        states.push(fieldsOf(await reader.get(path)))
      }
      const last = states.length
      t.is((await writer.delete(path)).status, 204)
      const answer = await reader.get(`${path}/versions`)
      const events = replaceable ? ['deleted 2', 'changed 2', 'created 1'] : ['deleted 1', 'created 1']
      t.deepEqual(told(answer), events)
      const href = base + path
      t.deepEqual(answer.body._links, { self: { href: `${href}/versions?limit=20` }, resource: { href } })
      const [deletion, ...kept] = versionsIn(answer)
      t.deepEqual([deletion.resource, deletion._links], [undefined, { resource: { href } }])
      t.deepEqual(
        kept.map((version) => version.resource),
        states.toReversed(),
      )
      for (const version of kept) {
        t.is(version._links.self.href, `${href}/versions/${version.version}`)
        t.deepEqual((await reader.get(version._links.self.href)).body, version)
      }
      if (!replaceable) return
      const first = (await reader.get(`${path}/versions/1`)).body.resource
      t.is((await writer.put(path, first)).status, 201)
      const written = (fields: Json) => writtenPart(resource, fields)
      t.deepEqual(written(fieldsOf(await reader.get(path))), written(first))
      t.is(told(await reader.get(`${path}/versions`))[0], `created ${last + 1}`)
      // It was created again since, so read-only fields differ.
      const second = kept[0].resource
      t.is((await writer.put(path, second)).status, 400)
      const lenient = await writer.put(path, second, { Prefer: 'handling=lenient' })
      t.deepEqual([lenient.status, lenient.headers.get('preference-applied')], [204, 'handling=lenient'])
      t.deepEqual(written(fieldsOf(await reader.get(path))), written(second))
    },
  )
}

test.serial('a version has its author and its time, and PUT of one restores it as it was sent', async (t) => {
  const { withSubject, reader } = service()
  const [ada, ben] = [withSubject('ada'), withSubject('ben')]
  await ada.put('/planets/vesta', { id: 'vesta', name: 'Vesta', mass_jupiters: 0.1, habitable: false })
  const before = new Date()
  await ben.patch('/planets/vesta', { name: 'Ceres', mass_jupiters: null })
  const [changed, created] = versionsIn(await reader.get('/planets/vesta/versions'))
  t.like(changed, { version: 2, event: 'changed', by: 'ben', resource: { name: 'Ceres' } })
  t.true(new Date(changed.time).getTime() >= before.getTime() - 1)
  t.like(created, { version: 1, event: 'created', by: 'ada' })
  const { headers } = await reader.get('/planets/vesta')
  const condition = { 'If-Match': headers.get('etag') as string }
  t.is((await ben.put('/planets/vesta', created.resource, condition)).status, 204)
  t.is((await ben.put('/planets/vesta', created.resource, condition)).status, 409)
  t.like((await reader.get('/planets/vesta')).body, { name: 'Vesta', mass_jupiters: 0.1, habitable: false })
  t.deepEqual(told(await reader.get('/planets/vesta/versions')), ['changed 3', 'changed 2', 'created 1'])
})

test.serial(
  'a preference for leniency is for read-only fields alone, and listed where it is applied',
  async (t) => {
    const { writer } = service()
    await writer.put('/planets/mild', { id: 'mild', name: 'Mild' })
    const body = { name: 'Milder', created_date: '2001-01-01T00:00:00.000Z' }
    const lenient = { Prefer: 'return=minimal, handling=lenient' }
    t.is((await writer.patch('/planets/mild', body)).body.error.details[0].code, 'READ_ONLY_FIELD')
    const patched = await writer.patch('/planets/mild', body, lenient)
    t.deepEqual(
      [patched.status, patched.headers.get('preference-applied')],
      [204, 'handling=lenient, return=minimal'],
    )
    t.is((await writer.put('/planets/mild', { ...body, id: 'other' }, lenient)).status, 400)
    t.is((await writer.put('/planets/mild', { ...body, colour: 'red' }, lenient)).status, 400)
    const batch = await writer.post('/batch', {
      operations: [{ method: 'PUT', path: '/planets/mild', headers: { Prefer: 'handling=lenient' }, body }],
    })
    t.is(batch.body.results[0].headers['Preference-Applied'], 'handling=lenient')
  },
)

test.serial(
  'pages of versions lead to each once, a deletion with the version that was deleted',
  async (t) => {
    const { writer, reader, base } = service()
    const url = '/planets/paged/versions'
    const put = (name: string) => writer.put('/planets/paged', { id: 'paged', name })
    await put('One')
    await put('Two')
    await writer.delete('/planets/paged')
    await put('Three')
    await put('Four')
    const pages: string[][] = []
    for (let next = `${url}?limit=1`; next; ) {
      const answer = await reader.get(next)
      pages.push(told(answer))
      t.is(answer.body.has_more, '_links' in answer.body && 'next' in answer.body._links)
      next = answer.body._links.next?.href
    }
    t.deepEqual(pages, [['changed 4'], ['created 3'], ['deleted 2', 'changed 2'], ['created 1']])
    const middle = await reader.get(`${url}?before=4&limit=2`)
    t.deepEqual(told(middle), ['created 3', 'deleted 2', 'changed 2'])
    t.is(middle.body._links.self.href, `${base}${url}?before=4&limit=2`)
    t.is(middle.body._links.next.href, `${base}${url}?before=2&limit=2`)
    const none = await reader.get(`${url}?before=1`)
    t.deepEqual([none.body._embedded.versions, none.body.has_more], [[], false])
  },
)

test.serial('versions need the read scope of the collection, for every part of them', async (t) => {
  const { writer, withScope, anonymous } = service()
  await writer.put('/planets/secret', { id: 'secret', name: 'Secret' })
  for (const path of ['/planets/secret/versions', '/planets/secret/versions/1', '/planets/never/versions']) {
    t.is((await anonymous.get(path)).status, 401)
    t.is((await withScope('planets:write moons:read').get(path)).status, 403)
  }
  t.is((await withScope('planets:read').get('/planets/secret/versions')).status, 200)
  t.is((await withScope('planets:read').get('/planets/secret/moons/x/versions')).status, 403)
  t.is((await writer.put('/planets/secret/versions/1', {})).status, 405)
  t.is((await writer.head('/planets/secret/versions/1')).status, 200)
  const denied = await withScope('moons:read').graphql(
    '{ versions(collection: "planets", id: "secret") { hasMore } }',
  )
  t.is(denied.errors?.[0].extensions.code, 'ACCESS_DENIED')
})

test.serial('what is no parameter of versions is refused', async (t) => {
  const { writer, reader } = service()
  await writer.put('/planets/asked', { id: 'asked', name: 'Asked' })
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=x',
    'before=0',
    'before=-1',
    'before=2147483648',
    'before=',
    'before=1&before=2',
    'page=1',
  ]) {
    const answer = await reader.get(`/planets/asked/versions?${query}`)
    t.deepEqual(problem(answer), [400, 'INVALID_QUERY_PARAMETER'], query)
  }
  t.deepEqual(problem(await reader.get('/planets/asked/versions/1?limit=1')), [
    400,
    'INVALID_QUERY_PARAMETER',
  ])
  t.is((await reader.get('/planets/asked/versions', { accept: 'text/csv' })).status, 406)
})

test.serial('a child that was deleted with a thousand others has its versions', async (t) => {
  const { writer, reader, database } = service()
  await writer.put('/planets/full', { id: 'full', name: 'Full' })
  await database.pool.query(
    "INSERT INTO moons (planet_id, id, name) SELECT 'full', 'm' || n, 'M' FROM generate_series(1, 1501) AS n",
  )
  await writer.patch('/planets/full/moons/m7', { name: 'Seven' })
  await writer.delete('/planets/full')
  const answer = await reader.get('/planets/full/moons/m7/versions')
  t.deepEqual(told(answer), ['deleted 2', 'changed 2', 'created 1'])
  t.is((await reader.get('/planets/full/moons/m7/versions/2')).body.resource.name, 'Seven')
  t.deepEqual(problem(await reader.get('/planets/full/moons/m1502/versions')), NOT_FOUND)
})

/** Makes the record begin now. */
async function forget({ database }: TestService): Promise<void> {
  await numberChanges(database.client)
  await database.pool.query("SELECT purge_changes(now() + interval '1 hour', 1000)")
  await database.pool.query(
    "SET halgraph.purging = 'on'; DELETE FROM recorded_changes; RESET halgraph.purging",
  )
  await database.pool.query('UPDATE change_feed SET begin_date = clock_timestamp()')
}

test('a state from before the record has neither event nor author, and what is not kept is gone', async (t) => {
  const own = await startTestService(t)
  const { writer, reader } = own
  const put = (id: string, name: string) => writer.put(`/planets/${id}`, { id, name: `${name} of ${id}` })
  for (const id of ['still', 'moved', 'lost', 'past']) {
    await put(id, 'One')
    await put(id, 'Two')
  }
  await writer.delete('/planets/past')
  await forget(own)
  const { last_updated: time, ...state } = fieldsOf(await reader.get('/planets/still'))
  const [only, ...others] = versionsIn(await reader.get('/planets/still/versions'))
  t.deepEqual(others, [])
  const { _links, ...version } = only
  t.deepEqual(version, { version: 2, time, resource: { ...state, last_updated: time } })

  await put('moved', 'Three')
  t.deepEqual(told(await reader.get('/planets/moved/versions')), ['changed 3', 'undefined 2'])
  t.is((await reader.get('/planets/moved/versions/2')).body.resource.name, 'Two of moved')
  t.deepEqual(problem(await reader.get('/planets/moved/versions/1')), GONE)
  t.deepEqual(problem(await reader.get('/planets/moved/versions/4')), NOT_FOUND)

  await writer.delete('/planets/lost')
  t.deepEqual(told(await reader.get('/planets/lost/versions')), ['deleted 2', 'undefined 2'])
  const { resource } = (await reader.get('/planets/lost/versions/2')).body
  t.is((await writer.put('/planets/lost', resource)).status, 201)
  t.deepEqual(told(await reader.get('/planets/lost/versions')), ['created 3', 'deleted 2', 'undefined 2'])

  t.deepEqual(problem(await reader.get('/planets/past/versions')), GONE)
  t.deepEqual(problem(await reader.get('/planets/past/versions/1')), GONE)
})

test('after a purge the state before the next change is kept', async (t) => {
  const own = await startTestService(t)
  const { writer, reader } = own
  const put = (id: string, name: string) => writer.put(`/planets/${id}`, { id, name: `${name} of ${id}` })
  for (const name of ['One', 'Two']) for (const id of ['moved', 'lost']) await put(id, name)
  await purgeChanges(own.database)
  await put('moved', 'Three')
  await writer.delete('/planets/lost')
  t.deepEqual(told(await reader.get('/planets/moved/versions')), ['changed 3', 'undefined 2'])
  t.is((await reader.get('/planets/moved/versions/2')).body.resource.name, 'Two of moved')
  t.deepEqual(problem(await reader.get('/planets/moved/versions/1')), GONE)
  t.deepEqual(told(await reader.get('/planets/lost/versions')), ['deleted 2', 'undefined 2'])
  t.is((await reader.get('/planets/lost/versions/2')).body.resource.name, 'Two of lost')
  await put('moved', 'Four')
  t.deepEqual(told(await reader.get('/planets/moved/versions')), ['changed 4', 'changed 3', 'undefined 2'])
  await purgeChanges(own.database)
  const { rowCount } = await own.database.pool.query('SELECT FROM recorded_changes')
  t.is(rowCount, 0, 'a state goes with the change after it')
})

test('without a record there are no versions, and no link to them', async (t) => {
  const { writer, reader } = await startTestService(t, { changesDays: 0 })
  await writer.put('/planets/vesta', { id: 'vesta', name: 'Vesta' })
  for (const path of ['/planets/vesta/versions', '/planets/vesta/versions/1']) {
    const answer = await reader.get(path)
    t.deepEqual(problem(answer), NOT_FOUND)
    t.regex(answer.body.error.message, /does not record changes/)
  }
  const { headers } = await reader.get('/planets/vesta')
  t.notRegex(headers.get('link') ?? '', /version-history/)
})

test('a version of the API shows its own fields of each version, and PUT of one keeps the others', async (t) => {
  const { writer, origin } = await startTestService(t, {}, { domain: versionedDomain })
  const at = (version: string) => `${origin}/api/${version}/species/una`
  const range = { min_celsius: 1, max_celsius: 9 }
  const old = { scientific_name: 'Una', habitat: 'reef', intelligence_level: 'social' }
  await writer.put(at('v1'), { id: 'una', ...old })
  await writer.patch(at('v2'), { temperature_range: range })
  await writer.patch(at('v1'), { habitat: 'cave' })
  const names = async (version: string) =>
    Object.keys((await writer.get(`${at(version)}/versions/2`)).body.resource)
  t.true((await names('v1')).includes('habitat'))
  t.false((await names('v2')).includes('habitat'))
  t.deepEqual((await writer.get(`${at('v2')}/versions/2`)).body.resource.temperature_range, range)
  const { resource } = (await writer.get(`${at('v1')}/versions/1`)).body
  t.is((await writer.put(at('v1'), resource)).status, 204)
  t.is((await writer.get(at('v1'))).body.habitat, 'reef')
  t.deepEqual((await writer.get(at('v2'))).body.temperature_range, { max_celsius: 9 })
})

test.serial('GraphQL has the same versions', async (t) => {
  const { writer, reader } = service()
  await writer.put('/planets/graph', { id: 'graph', name: 'Graph' })
  await writer.put('/planets/graph/moons/luna', { id: 'luna', name: 'Luna' })
  await writer.put('/planets/graph/atmosphere', { dominant_gas: 'neon' })
  await writer.patch('/planets/graph/atmosphere', { dominant_gas: 'argon' })
  const { data, errors } = await reader.graphql(`{
    planet: versions(collection: "planets", id: "graph") { items { version event by resource } hasMore }
    moon: versions(collection: "moons", id: "luna", parentId: "graph") { items { version } }
    page: versions(collection: "atmosphere", id: "graph", limit: 1) { items { version event } hasMore }
    older: versions(collection: "atmosphere", id: "graph", before: 2) { items { version resource } hasMore }
    one: versions(collection: "atmosphere", id: "graph", version: 1) { items { version event time } hasMore }
  }`)
  t.is(errors, undefined)
  t.like(data.planet.items, [{ version: 1, event: 'CREATED', resource: { name: 'Graph' } }])
  t.deepEqual(data.moon.items, [{ version: 1 }])
  t.deepEqual(data.page, { items: [{ version: 2, event: 'CHANGED' }], hasMore: true })
  t.like(data.older.items[0], { version: 1, resource: { dominant_gas: 'neon' } })
  t.like(data.one.items[0], { version: 1, event: 'CREATED' })
  const code = async (args: string) =>
    (await reader.graphql(`{ versions(${args}) { hasMore } }`)).errors?.[0].extensions.code
  t.is(await code('collection: "planets", id: "graph", limit: 101'), 'INVALID_QUERY_PARAMETER')
  t.is(await code('collection: "planets", id: "graph", before: 0'), 'INVALID_QUERY_PARAMETER')
  t.is(await code('collection: "stars", id: "graph"'), 'INVALID_QUERY_PARAMETER')
  t.is(await code('collection: "planets", id: "graph", version: 9'), 'RESOURCE_NOT_FOUND')
  t.is(await code('collection: "planets", id: "graph", version: -1'), 'RESOURCE_NOT_FOUND')
  t.is(await code('collection: "moons", id: "luna"'), 'RESOURCE_NOT_FOUND')
})
