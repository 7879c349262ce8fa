import test from 'ava'
import { Client } from 'pg'
import type { AccessRule } from '../../src/model/access/access-rules.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { withAccess } from '../helpers/domain/with-access.ts'
import { until } from '../helpers/process/until.ts'
import { shareTestService, startTestService, type TestService } from '../helpers/service/service.ts'

/** A planet belongs to the subject that its host star names. All may read the habitable ones. */
const own: AccessRule = ({ subject }) => ({ host_star: { equals: subject } })
const rules = {
  planets: {
    read: ({ subject }) => ({ or: [{ host_star: { equals: subject } }, { habitable: { equals: true } }] }),
    create: own,
    change: own,
    delete: own,
  },
  moons: {
    create: () => ({ radius_kilometres: { lt: 5000 } }),
    change: () => ({ name: { notEquals: 'Fixed' } }),
  },
} satisfies Parameters<typeof withAccess>[0]

const service = shareTestService(test, {}, { domain: withAccess(rules) })

const server = findServer((reason) => console.log(`batches on PostgreSQL: ${reason}`))
const onServer = server ? test : test.skip

/** Two callers, a planet of each, a habitable one of the second, and names that are unique in the file. */
async function prepare(name: string) {
  const { withSubject } = service() as TestService
  const [ada, bob] = [withSubject('ada'), withSubject('bob')]
  const put = async (owner: typeof ada, id: string, body: object = {}) => {
    const subject = owner === ada ? 'ada' : 'bob'
    const sent = { id, name: `Planet ${id}`, host_star: subject, ...body }
    const { status } = await owner.put(`/planets/${id}`, sent)
    if (status !== 201) throw new Error(`The planet was not created: ${status}`)
  }
  const [mine, other, open] = [`${name}-mine`, `${name}-other`, `${name}-open`]
  await put(ada, mine)
  await put(bob, other)
  await put(bob, open, { habitable: true })
  return { ada, bob, mine, other, open }
}

test('a caller writes its own rows, is refused with 403 those that it may only read, and with 404 the others', async (t) => {
  const { ada, mine, other, open } = await prepare('three')
  t.is((await ada.patch(`/planets/${mine}`, { discovery_year: 2001 })).status, 204)
  for (const [id, status, code] of [
    [open, 403, 'ACCESS_DENIED'],
    [other, 404, 'RESOURCE_NOT_FOUND'],
  ] as const) {
    const answers = [
      await ada.patch(`/planets/${id}`, { discovery_year: 2001 }),
      await ada.put(`/planets/${id}`, { name: 'Taken', host_star: 'ada' }),
      await ada.put(`/planets/${id}`, { id, name: 'Taken', host_star: 'ada' }, { 'if-match': '"1"' }),
    ]
    for (const answer of answers) {
      t.is(answer.status, status)
      t.is(answer.body.error.code, code)
      t.is(answer.headers.get('www-authenticate'), null, 'no scope would help')
    }
  }
  t.is((await ada.delete(`/planets/${open}`)).status, 403)
  t.is((await ada.delete(`/planets/${other}`)).status, 204)
  t.is((await ada.get(`/planets/${open}`)).status, 200)
  t.is((await service().withSubject('bob').get(`/planets/${other}`)).status, 200)
})

test('a new row, and a row after a change, must be admitted, too', async (t) => {
  const { ada, mine } = await prepare('after')
  const created = await ada.post('/planets', { name: 'Of Bob', host_star: 'bob' })
  t.is(created.status, 403)
  t.is(created.body.error.code, 'ACCESS_DENIED')
  t.is((await ada.patch(`/planets/${mine}`, { host_star: 'bob' })).status, 403)
  t.is((await ada.get(`/planets/${mine}`)).body.host_star, 'ada')
  t.is((await ada.post(`/planets/${mine}/moons`, { name: 'Large', radius_kilometres: 6000 })).status, 403)
  t.is((await ada.post(`/planets/${mine}/moons`, { name: 'Unmeasured' })).status, 403)
  const moon = await ada.post(`/planets/${mine}/moons`, { name: 'Small', radius_kilometres: 600 })
  t.is(moon.status, 201)
  const path = moon.headers.get('location') as string
  t.is((await ada.patch(path, { name: 'Fixed' })).status, 403)
  t.is((await ada.patch(path, { name: 'Free' })).status, 204)
})

test('below a parent that the caller may not read, nothing can be created, changed or deleted', async (t) => {
  const { ada, bob, other } = await prepare('below')
  const moon = { id: 'moon', name: 'Moon', radius_kilometres: 600 }
  t.is((await bob.put(`/planets/${other}/moons/moon`, moon)).status, 201)
  const answers = [
    await ada.post(`/planets/${other}/moons`, moon),
    await ada.post(`/planets/${other}/moons`, moon, { 'idempotency-key': 'below' }),
    await ada.put(`/planets/${other}/moons/new`, { ...moon, id: 'new' }),
    await ada.put(`/planets/${other}/moons/moon`, moon),
    await ada.patch(`/planets/${other}/moons/moon`, { name: 'Taken' }),
    await ada.put(`/planets/${other}/atmosphere`, { surface_pressure_kilopascals: 1 }),
  ]
  for (const { status, text } of answers) t.is(status, 404, text)
  t.is((await ada.delete(`/planets/${other}/moons/moon`)).status, 204)
  t.is((await bob.get(`/planets/${other}/moons/moon`)).body.name, 'Moon')
})

test('an identifier or a unique value of a row that the caller may not read is a conflict without its name', async (t) => {
  const { ada, mine, other, open } = await prepare('unique')
  const sent = { name: 'Unique', host_star: 'ada' }
  const conflicts = [
    await ada.put(`/planets/${other}`, { id: other, ...sent }),
    await ada.put(`/planets/${other}`, sent, { 'if-none-match': '*' }),
    await ada.post('/planets', { id: other, ...sent }),
    await ada.post('/planets', { ...sent, name: `planet ${other}` }),
    await ada.patch(`/planets/${mine}`, { name: `planet ${other}` }),
  ]
  for (const { status, body, headers, text } of conflicts) {
    t.is(status, 409, text)
    t.is(body.error.code, 'RESOURCE_ALREADY_EXISTS')
    t.false(`${text}${headers.get('link')}`.includes(`planets/${other}`))
    t.regex(body.error.message, /^Another resource/)
    t.is(headers.get('etag'), null)
  }
  const named = await ada.post('/planets', { ...sent, name: `planet ${open}` })
  t.true(named.body.error.message.includes(open))
})

test('a reference to a row that the caller may not read is unknown, unless it was stored before', async (t) => {
  const { ada, bob, mine, other } = await prepare('reference')
  const refused = await ada.post('/missions', { name: 'Refused', destination_planet_id: other })
  t.is(refused.status, 422)
  t.is(refused.body.error.details[0].code, 'UNKNOWN_REFERENCE')
  const unknown = await ada.post('/missions', { name: 'Refused', destination_planet_id: 'never' })
  t.is(unknown.text.replaceAll('never', other), refused.text)
  const mission = { name: 'Stored', destination_planet_id: other }
  t.is((await bob.put('/missions/stored', { id: 'stored', ...mission })).status, 201)
  t.is((await ada.put('/missions/stored', { ...mission, objective: 'Changed' })).status, 204)
  t.is((await ada.patch('/missions/stored', { destination_planet_id: mine })).status, 204)
  t.is((await ada.patch('/missions/stored', { destination_planet_id: other })).status, 422)
})

test('in a batch, access is decided for each write', async (t) => {
  const { ada, mine, other, open } = await prepare('batch')
  const patch = (id: string) => ({ method: 'PATCH', path: `/planets/${id}`, body: { discovery_year: 1999 } })
  for (const [id, status] of [
    [open, 403],
    [other, 404],
  ] as const) {
    t.is((await ada.post('/batch', { operations: [patch(mine), patch(id)] })).status, status)
  }
  const creation = (owner: string) => {
    return { method: 'POST', path: '/planets', body: { name: `Batch of ${owner}`, host_star: owner } }
  }
  t.is((await ada.post('/batch', { operations: [creation('ada'), creation('bob')] })).status, 403)
  t.is((await ada.get(`/planets/${mine}`)).body.discovery_year, undefined)
  t.is((await ada.get('/planets?name=Batch%20of%20ada')).body.total_count, 0)
})

test('a repeated request with an idempotency key shows the created row only while its creator may read it', async (t) => {
  let isTrusted = true
  const trusted: AccessRule = () => isTrusted
  const domain = withAccess({ planets: { create: trusted }, spacecraft: { read: trusted } })
  const ada = (await startTestService(t, {}, { domain })).withSubject('ada')
  const sent = { name: 'Replayed' }
  const key = { 'idempotency-key': 'replayed' }
  const first = await ada.post('/planets', sent, key)
  t.is(first.status, 201)
  t.is((await ada.post('/planets', sent, key)).text, first.text)
  const craft = { name: 'Craft', kind: 'rover' }
  t.is((await ada.post('/spacecraft', craft, key)).body.name, 'Craft')
  isTrusted = false
  t.is((await ada.post('/planets', sent, key)).status, 403)
  const hidden = await ada.post('/spacecraft', craft, key)
  t.deepEqual([hidden.status, hidden.text], [201, ''])
})

test('a change after which the writer may not read the row is made, and its content is not shown', async (t) => {
  const domain = withAccess({ planets: { read: own } })
  const { withSubject, writer } = await startTestService(t, {}, { domain })
  // The document says so.
  t.is((await writer.post('/planets', { name: 'Without a star' })).text, '')
  const [ada, bob] = [withSubject('ada'), withSubject('bob')]
  await ada.put('/planets/given', { id: 'given', name: 'Given', host_star: 'ada' })
  const representation = { prefer: 'return=representation' }
  const given = await ada.patch('/planets/given', { host_star: 'bob' }, representation)
  t.is(given.status, 204)
  t.is(given.text, '')
  t.is((await ada.get('/planets/given')).status, 404)
  t.is((await bob.get('/planets/given')).body.name, 'Given')
  const created = await ada.post('/planets', { name: 'For Bob', host_star: 'bob' })
  t.is(created.status, 201)
  t.is(created.text, '')
  t.is((await bob.get(created.headers.get('location') as string)).status, 200)
  const mutation = `mutation ($id: ID!, $patch: PlanetPatch!) {
    patchPlanet(id: $id, patch: $patch) { outcome isReadable planet { name } } }`
  const moved = await bob.graphql(mutation, { id: 'given', patch: { hostStar: 'ada' } })
  t.deepEqual(moved.data.patchPlanet, { outcome: 'REPLACED', isReadable: false, planet: null })
})

onServer('on PostgreSQL, a batch does not wait for rows that its caller may not read', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const domain = withAccess(rules)
  const { withSubject, database } = await startTestService(t, { databaseUrl }, { domain })
  const [ada, bob] = [withSubject('ada'), withSubject('bob')]
  for (const id of ['first', 'second']) await bob.put(`/planets/${id}`, { id, name: id, host_star: 'bob' })
  const patch = (id: string) => ({ method: 'PATCH', path: `/planets/${id}`, body: { discovery_year: 2001 } })
  const answer = await database.client.prisma.$transaction(async (other) => {
    await other.planet.updateMany({ data: { discovery_year: 1999 } })
    return ada.post('/batch', { operations: ['first', 'second'].map(patch) })
  })
  t.deepEqual([answer.status, answer.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
})

onServer(
  'on PostgreSQL, reads of the record leave connections to others, and end with their request',
  async (t) => {
    const databaseUrl = await createDatabaseOn(server as string, t)
    const overrides = { databaseUrl, databasePoolSize: 4, databaseTimeout: 2_500 }
    const { withSubject } = await startTestService(t, overrides, { domain: withAccess(rules) })
    await withSubject('bob').put('/planets/seen', { id: 'seen', name: 'Seen', host_star: 'bob' })
    const locking = new Client(databaseUrl)
    await locking.connect()
    t.teardown(() => locking.end())
    await locking.query('BEGIN; LOCK TABLE public_internal.recorded_changes IN ACCESS EXCLUSIVE MODE')
    const fields = Array.from({ length: 10 }, (_, index) => {
      return `v${index}: versions(collection: "planets", id: "p${index}") { hasMore } c${index}: changes(limit: ${index + 1}) { hasMore }`
    })
    const waiting =
      "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    const count = async () => (await locking.query(waiting)).rows[0].count
    const reading = withSubject('ada').graphql(`{ ${fields.join(' ')} }`)
    await until(async () => (await count()) > 0)
    const seen = await withSubject('bob').get('/planets/seen')
    t.is(seen.status, 200, seen.text)
    t.is((await reading).errors?.[0]?.extensions?.['code'], 'SERVICE_UNAVAILABLE')
    await until(async () => (await count()) === 0)
    t.pass()
    await locking.query('ROLLBACK')
  },
)

test('without the read scope, no write that leaves no trace tells whether a value is the stored one', async (t) => {
  const { withScope, withSubject } = service()
  await withSubject('ada').put('/planets/guessed', { id: 'guessed', name: 'Guessed', host_star: 'ada' })
  const blind = withScope('*:write', 'ada')
  const told = async (name: string) => {
    const patch = { method: 'PATCH', path: '/planets/guessed', body: { name } }
    const answers = [
      await blind.patch('/planets/guessed', { name }, { prefer: 'tx=rollback' }),
      await blind.put('/planets/guessed', { name, host_star: 'ada' }, { prefer: 'tx=rollback' }),
      await blind.post('/batch', { operations: [patch] }, { prefer: 'tx=rollback' }),
      await blind.post('/batch', {
        operations: [
          patch,
          { ...patch, headers: { 'if-match': '"guessed:1"' } },
          { ...patch, path: '/planets/missing' },
        ],
      }),
    ]
    const query = `mutation ($name: String!) @dryRun { patchPlanet(id: "guessed", patch: { name: $name }) { outcome } }`
    const conditional = query.replace('patch:', 'ifUnmodifiedSince: "2100-01-01T00:00:00Z", patch:')
    const operations = [await blind.graphql(query, { name }), await blind.graphql(conditional, { name })]
    const shown = answers.map(({ status, headers, text }) => [
      status,
      ...['etag', 'last-modified'].map((header) => headers.get(header)),
      text,
    ])
    return JSON.stringify([shown, operations])
  }
  const right = await told('Guessed')
  t.is(right, await told('Another'))
  t.true((right.match(/The token lacks the scope planets:read/g) ?? []).length >= 6)
  t.is((await blind.patch('/planets/guessed', { name: 'Guessed' })).headers.get('etag'), '"guessed:1"')
  const created = await blind.post('/planets', { name: 'Tried', host_star: 'ada' }, { prefer: 'tx=rollback' })
  t.is(created.status, 201)
})

test('a dry run does not tell that there was a row which its caller could not read', async (t) => {
  const { ada, bob, mine, other } = await prepare('gone')
  for (const discovery_year of [1, 2, 3]) {
    await bob.patch(`/planets/${other}`, { discovery_year })
    await ada.patch(`/planets/${mine}`, { discovery_year })
  }
  await bob.delete(`/planets/${other}`)
  await ada.delete(`/planets/${mine}`)
  const dry = { prefer: 'tx=rollback' }
  const body = { name: 'Again', host_star: 'ada' }
  const tagOf = async (id: string) =>
    (await ada.put(`/planets/${id}`, { id, ...body }, dry)).headers.get('etag')
  t.is(await tagOf(other), `"${other}:1"`)
  t.is(await tagOf(mine), `"${mine}:5"`)
  const put = { method: 'PUT', path: `/planets/${other}`, body: { id: other, ...body } }
  const patch = {
    method: 'PATCH',
    path: put.path,
    body: { discovery_year: 7 },
    headers: { 'if-match': `"${other}:1"` },
  }
  const { results } = (await ada.post('/batch', { operations: [put, patch] }, dry)).body
  t.is(results[1].headers.ETag, `"${other}:2"`)
  const query = `mutation ($id: ID!, $input: PlanetInput!) @dryRun { putPlanet(id: $id, input: $input) { planet { version } } }`
  const { data } = await ada.graphql(query, { id: other, input: { name: 'Again', hostStar: 'ada' } })
  t.is(data.putPlanet.planet.version, 1)
  t.is((await ada.put(`/planets/${other}`, { id: other, ...body })).headers.get('etag'), `"${other}:5"`)
})

test('a rule about fields that callers cannot set decides on what is stored', async (t) => {
  const change = () => ({ discovery_status: { equals: 'newly_catalogued' }, planet_id: { isSet: false } })
  const access = { species: { change, create: () => ({ not: { planet_origin: { equals: 'no-where' } } }) } }
  const { writer, database } = await startTestService(t, {}, { domain: withAccess(access) })
  const { id } = (await writer.post('/species', { scientific_name: 'Mutabilis' })).body
  t.is((await writer.patch(`/species/${id}`, { habitat: 'sea' })).status, 204)
  const origin = { planet_origin: 'No where' }
  const refused = [
    await writer.patch(`/species/${id}`, origin),
    await writer.post('/species', { scientific_name: 'Nata', ...origin }, { 'idempotency-key': 'nata' }),
    await writer.post('/batch', { operations: [{ method: 'PATCH', path: `/species/${id}`, body: origin }] }),
  ]
  t.deepEqual(
    refused.map(({ status }) => status),
    [403, 403, 403],
  )
  t.is((await writer.get('/planets')).body.total_count, 0)
  await database.client.prisma.species.update({ where: { id }, data: { discovery_status: 'confirmed' } })
  t.is((await writer.patch(`/species/${id}`, { habitat: 'lake' })).status, 403)
})
