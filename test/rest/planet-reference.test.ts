import test from 'ava'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)
let made = 0

async function speciesFrom(planet_origin: string) {
  const answer = await service().writer.post('/species', {
    scientific_name: `Peregrina ${++made}`,
    planet_origin,
  })
  const planet = answer.body._links?.planet?.href as string
  return { ...answer, planet, planetId: decodeURIComponent(planet?.split('/').at(-1) ?? '') }
}

test('an origin that is a planet’s identifier means that planet', async (t) => {
  const { writer, base } = service()
  await writer.put('/planets/kepler-22b', { id: 'kepler-22b', name: 'Kepler-22 b' })
  await writer.post('/planets', { name: 'kepler-22B' })
  t.is((await speciesFrom('kepler-22b')).planet, `${base}/planets/kepler-22b`)
})

test('an identifier comes before a name', async (t) => {
  const { writer } = service()
  await writer.put('/planets/one', { id: 'one', name: 'Two' })
  await writer.put('/planets/two', { id: 'two', name: 'One' })
  t.is((await speciesFrom('one')).planetId, 'one')
  t.is((await speciesFrom('One')).planetId, 'two')
})

test('an origin that is a planet’s name in any case means that planet, and is echoed as sent', async (t) => {
  const { writer } = service()
  const { body } = await writer.post('/planets', { name: 'Ålesund Prime' })
  const found = await speciesFrom('  ÅLESUND prime')
  t.is(found.planetId, body.id)
  t.is(found.body.planet_origin, '  ÅLESUND prime')
})

test('an origin that is no planet yet makes one, so that the link always resolves', async (t) => {
  const { reader } = service()
  for (const [origin, id] of [
    ['Gliese-581.g', 'Gliese-581.g'],
    ['Été du Nord!', 'ete-du-nord'],
    ['a/b?c#d', 'a-b-c-d'],
    ['x'.repeat(80), 'x'.repeat(64)],
  ] as const) {
    const { status, planet, planetId } = await speciesFrom(origin)
    t.deepEqual([status, planetId], [201, id])
    const { status: found, body } = await reader.get(planet)
    t.deepEqual([found, body.name], [200, origin])
  }
})

test('an origin of which no identifier can be made, or one that is taken, gets another', async (t) => {
  const { reader } = service()
  for (const origin of ['🪐🪐', '..', '漢字', 'Dup licate', 'Dup-licate!', 'dup licate?', 'DUP/LICATE']) {
    const { status, planet } = await speciesFrom(origin)
    t.is(status, 201, origin)
    t.is((await reader.get(planet)).body.name, origin)
  }
  t.regex((await speciesFrom('Плутон 7')).planetId, /^[0-9a-f-]{36}$/)
})

test('filter=planet_origin matches the text and the planet’s identifier', async (t) => {
  const { writer, reader } = service()
  await writer.put('/planets/proxima-b', { id: 'proxima-b', name: 'Proxima Centauri b' })
  const ids = [await speciesFrom('proxima-b'), await speciesFrom('PROXIMA CENTAURI B')].map(
    ({ body }) => body.id,
  )
  const found = async (filter: string) =>
    (await reader.get(`/species?filter=${filter}`)).body._embedded.species.map(({ id }: Json) => id)
  t.deepEqual(await found('planet_origin:proxima-b'), ids)
  t.deepEqual(await found('planet_origin:PROXIMA CENTAURI B'), [ids[1]])
  t.deepEqual(await found('planet_origin[in]:proxima-b|nowhere'), ids)
})

test('a new origin moves the reference, no origin removes it, and other changes leave it', async (t) => {
  const { writer, reader } = service()
  const { body } = await speciesFrom('Mover Alpha')
  const planetOf = async () => (await reader.get(`/species/${body.id}`)).body._links.planet?.href
  await writer.patch('/planets/mover-alpha', { name: 'Renamed' })
  await writer.patch(`/species/${body.id}`, { habitat: 'other' })
  t.is(await planetOf(), `${service().base}/planets/mover-alpha`)
  await writer.patch(`/species/${body.id}`, { planet_origin: 'Mover Beta' })
  t.is(await planetOf(), `${service().base}/planets/mover-beta`)
  await writer.put(`/species/${body.id}`, { scientific_name: body.scientific_name })
  t.is(await planetOf(), undefined)
})

test('an origin that SQL has set is resolved at the next write', async (t) => {
  const { writer, base, database } = service()
  await database.client.prisma
    .$executeRaw`INSERT INTO species (id, scientific_name, planet_origin, discovery_status)
    VALUES ('direct', 'Directa', 'Set by SQL', 'confirmed')`
  t.is((await writer.get('/species/direct')).body._links.planet, undefined)
  t.is((await writer.patch('/species/direct', { habitat: 'other' })).status, 204)
  const { href } = (await writer.get('/species/direct')).body._links.planet
  t.is(href, `${base}/planets/set-by-sql`)
  t.is((await writer.get(href)).body.name, 'Set by SQL')
})

test('a refused species creates no planet', async (t) => {
  const { writer, reader } = service()
  const { body } = await speciesFrom('Somewhere')
  const { status } = await writer.post('/species', {
    scientific_name: body.scientific_name,
    planet_origin: 'Never made',
  })
  t.is(status, 409)
  t.is((await reader.get('/planets?filter=name:Never made')).body.total_count, 0)
})

test('species that bring the same planet at the same time share one', async (t) => {
  const { reader } = service()
  for (const origin of ['Race World', 'race-id']) {
    const all = await Promise.all(Array.from({ length: 12 }, () => speciesFrom(origin)))
    t.deepEqual(new Set(all.map(({ status }) => status)), new Set([201]))
    t.is(new Set(all.map(({ planetId }) => planetId)).size, 1)
    t.is((await reader.get(`/planets?filter=name:${origin}`)).body.total_count, 1)
  }
})

test('with PLANET_REFERENCE=strict an unknown origin is 422 UNKNOWN_PLANET, and nothing is made', async (t) => {
  const { writer, reader } = await startTestService(t, { ruleSettings: { planetReference: 'strict' } })
  const refused = await writer.post('/species', { scientific_name: 'Stricta', planet_origin: 'Nowhere' })
  t.deepEqual([refused.status, refused.body.error.code], [422, 'BUSINESS_RULE_VIOLATION'])
  t.like(refused.body.error.details[0], { field: 'planet_origin', code: 'UNKNOWN_PLANET' })
  t.is((await reader.get('/planets')).body.total_count, 0)
  await writer.post('/planets', { name: 'Nowhere' })
  const { status, body } = await writer.post('/species', {
    scientific_name: 'Stricta',
    planet_origin: 'nowhere',
  })
  t.is(status, 201)
  t.is((await writer.patch(`/species/${body.id}`, { planet_origin: 'Elsewhere' })).status, 422)
  t.is((await reader.get(`/species/${body.id}`)).body.planet_origin, 'nowhere')
})

test('a blank origin is kept as it was sent, and names no planet', async (t) => {
  const { writer } = service()
  for (const origin of ['', '  ']) {
    const { status, body, planet } = await speciesFrom(origin)
    t.deepEqual([status, body.planet_origin, planet], [201, origin, undefined])
    const { id } = body
    t.is((await writer.patch(`/species/${id}`, { planet_origin: 'Blankless' })).status, 204)
    t.is((await writer.patch(`/species/${id}`, { planet_origin: origin })).status, 204)
    t.is((await writer.get(`/species/${id}`)).body._links.planet, undefined)
  }
})

test('an origin that is no planet yet needs the scope to create one', async (t) => {
  const { writer, withScope } = service()
  const caller = withScope('species:write')
  const send = (planet_origin: string) =>
    caller.post('/species', { scientific_name: `Peregrina ${++made}`, planet_origin })
  const refused = await send('Forbidden Planet')
  t.deepEqual([refused.status, refused.body.error.code], [403, 'ACCESS_DENIED'])
  t.regex(refused.body.error.message, /planets:write/)
  t.is((await writer.get('/planets?filter=name:Forbidden Planet')).body.total_count, 0)
  await writer.put('/planets/allowed', { id: 'allowed', name: 'Allowed' })
  t.is((await send('Allowed')).status, 201)
})

test('a name that another planet has is a conflict that names it, to callers who may read it', async (t) => {
  const { writer, withScope, base } = service()
  const { planetId } = await speciesFrom('Vulcan')
  for (const send of [
    (caller: typeof writer) => caller.post('/planets', { name: 'Vulcan' }),
    (caller: typeof writer) => caller.put('/planets/second', { id: 'second', name: ' vulcan ' }),
  ]) {
    const { status, headers, body } = await send(writer)
    t.deepEqual([status, body.error.code], [409, 'RESOURCE_ALREADY_EXISTS'])
    t.true(body.error.details[0].message.includes(`"${planetId}"`))
    t.true(headers.get('link')?.includes(`<${base}/planets/${planetId}>; rel="related"`))
    const blind = await send(withScope('planets:write'))
    t.is(blind.status, 409)
    t.false(blind.body.error.details[0].message.includes(`"${planetId}"`))
    t.false(blind.headers.get('link')?.includes('related') ?? false)
  }
})
