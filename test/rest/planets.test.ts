import test from 'ava'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

let made = 0

const name = () => `Planet ${++made}`

const at = ({ id }: Json) => `/planets/${id}`

const MAGNITUDES = [
  'distance_parsecs',
  'mass_jupiters',
  'radius_jupiters',
  'orbital_period_days',
  'semi_major_axis_au',
  'equilibrium_temperature_kelvin',
]

test('a planet keeps decimal figures to the last digit', async (t) => {
  const { writer, reader } = service()
  const figures = {
    distance_parsecs: 12.429889,
    mass_jupiters: 0.0026899999999999997,
    radius_jupiters: 0.1 + 0.2,
    orbital_period_days: 6.101013000000001,
    semi_major_axis_au: 1e-7,
    equilibrium_temperature_kelvin: 12345678901234567000,
    discovery_year: 2016,
  }
  const { status, body } = await writer.post('/planets', { name: name(), habitable: false, ...figures })
  t.is(status, 201)
  t.like((await reader.get(at(body))).body, { habitable: false, ...figures })
  const exactly = await reader.get(`/planets?filter=mass_jupiters:${figures.mass_jupiters}`)
  t.deepEqual(
    exactly.body._embedded.planets.map(({ id }: Json) => id),
    [body.id],
  )
  const large = await reader.get('/planets?filter=equilibrium_temperature_kelvin:12345678901234567000')
  t.is(large.body.total_count, 1)
})

test('a planet has created_date, and no field of species', async (t) => {
  const { body } = await service().writer.post('/planets', { name: name() })
  t.deepEqual(Object.keys(body), ['id', 'name', 'created_date', 'last_updated', '_links'])
  t.deepEqual(Object.keys(body._links), ['self', 'collection'])
})

test('a magnitude cannot be negative, and a year is a whole number', async (t) => {
  const { writer } = service()
  for (const field of MAGNITUDES) {
    t.is((await writer.post('/planets', { name: name(), [field]: 0 })).status, 201)
    const refused = await writer.post('/planets', { name: name(), [field]: -0.001 })
    t.deepEqual([refused.status, refused.body.error.details[0].code], [400, 'OUT_OF_RANGE'])
  }
  const { status, body } = await writer.post('/planets', { name: name(), discovery_year: 1995.5 })
  t.deepEqual([status, body.error.details[0].code], [400, 'INVALID_TYPE'])
})

test('a name is required, and unique regardless of case and surrounding blanks', async (t) => {
  const { writer } = service()
  const { body } = await writer.post('/planets', { name: 'Ørsted  IV' })
  t.is((await writer.post('/planets', { name: ' ØRSTED  iv ' })).status, 409)
  t.is((await writer.post('/planets', { name: 'Ørsted IV' })).status, 201)
  t.is((await writer.put(at(body), { name: 'ØRSTED  IV' })).status, 204, 'its own name is free')
  const { status, body: refused } = await writer.post('/planets', { host_star: 'Sol' })
  t.deepEqual([status, refused.error.details[0].code], [400, 'REQUIRED_FIELD'])
})

test('SPEC §4.7: a planet with species cannot be deleted, and one without can', async (t) => {
  const { writer, reader } = service()
  const { body: planet } = await writer.post('/planets', { name: name() })
  const { body: species } = await writer.post('/species', {
    scientific_name: 'Tenax ultima',
    planet_origin: planet.id,
  })
  const refused = await writer.delete(at(planet))
  t.deepEqual([refused.status, refused.body.error.code], [409, 'DEPENDENCY_CONFLICT'])
  t.is((await reader.get(at(planet))).status, 200)
  await writer.patch(`/species/${species.id}`, { planet_origin: null })
  t.is((await writer.delete(at(planet))).status, 204)
})

test('SPEC §2.5.3: the species of a planet are listed below it, each under its own address', async (t) => {
  const { writer, reader, base, withScope } = service()
  const { body: planet } = await writer.post('/planets', { name: name() })
  const list = `${at(planet)}/species`
  const empty = await reader.get(list)
  t.like(empty.body, { total_count: 0, planet_id: planet.id, _embedded: { species: [] } })
  const { body: species } = await writer.post('/species', {
    scientific_name: 'Sub planeta',
    planet_origin: planet.name,
  })
  await writer.post('/species', { scientific_name: 'Alia planeta', planet_origin: 'Somewhere else' })
  const { body } = await reader.get(`${list}?limit=1`)
  t.deepEqual(
    body._embedded.species.map(({ _links: links }: Json) => links),
    [{ self: species._links.self }],
  )
  t.is(species._links.self.href, `${base}/species/${species.id}`)
  t.deepEqual(body._links.parent, { href: `${base}${at(planet)}` })
  t.is((await withScope('planets:read').get(list)).status, 403)
  t.is((await withScope('species:read').get(list)).status, 200)
  t.is((await reader.get(`${list}/${species.id}`)).status, 404)
})

test('a name is taken with tabs and line feeds around it, too, but not with a letter more', async (t) => {
  const { writer } = service()
  t.is((await writer.post('/planets', { name: 'Vesta v' })).status, 201)
  t.is((await writer.post('/planets', { name: '\tvesta V\r\n' })).status, 409)
  t.is((await writer.post('/planets', { name: 'esta' })).status, 201)
})

async function planetNamed(id: string): Promise<string> {
  const { status } = await service().writer.put(`/planets/${id}`, { id, name: id })
  if (status !== 201) throw new Error(`planet ${id} was not made: ${status}`)
  return `/planets/${id}`
}

test('a moon is only found under its own planet', async (t) => {
  const [tellus, mars] = [await planetNamed('tellus'), await planetNamed('mars')]
  const { writer } = service()
  t.is((await writer.put(`${tellus}/moons/luna`, { id: 'luna', name: 'Luna' })).status, 201)
  t.is((await writer.get(`${tellus}/moons/luna`)).status, 200)
  t.is((await writer.get(`${mars}/moons/luna`)).status, 404)
  t.is((await writer.patch(`${mars}/moons/luna`, { name: 'Phobos' })).status, 404)
  t.is((await writer.delete(`${mars}/moons/luna`)).status, 204)
  t.is((await writer.get(`${tellus}/moons/luna`)).body.name, 'Luna')
})

test('two planets may each have a moon with the same id', async (t) => {
  const [one, other] = [await planetNamed('one'), await planetNamed('other')]
  const { writer } = service()
  t.is((await writer.put(`${one}/moons/a`, { id: 'a', name: 'One' })).status, 201)
  t.is((await writer.put(`${other}/moons/a`, { id: 'a', name: 'Other' })).status, 201)
  t.is((await writer.get(`${one}/moons/a`)).body.name, 'One')
})

test('deleting a planet deletes what it owns, which then reads as gone', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('doomed')
  await writer.put(`${planet}/moons/m`, { id: 'm', name: 'M' })
  await writer.put(`${planet}/atmosphere`, { breathable: true })
  t.is((await writer.delete(planet)).status, 204)
  t.is((await writer.get(`${planet}/moons/m`)).status, 410)
  t.is((await writer.get(`${planet}/atmosphere`)).status, 410)
  t.is((await writer.post(`${planet}/moons`, { name: 'N' })).status, 410)
  t.is((await writer.get(`${planet}/moons`)).status, 410)
})

test('an atmosphere is unknown until it is set, created by the first PUT and replaced by the next', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('airy')
  t.is((await writer.get(`${planet}/atmosphere`)).status, 404)
  t.is((await writer.get(planet)).body._links.atmosphere.href, `${service().base}${planet}/atmosphere`)
  const created = await writer.put(`${planet}/atmosphere`, { breathable: true })
  t.is(created.status, 201)
  t.true(created.headers.get('location')?.endsWith(`${planet}/atmosphere`))
  t.is((await writer.put(`${planet}/atmosphere`, { breathable: false })).status, 204)
})

test('a composition that adds up to more than 1 is refused, one that adds up to 1 in tenths is not', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('mixed')
  const tenths = Object.fromEntries(Array.from({ length: 10 }, (_, gas) => [`gas ${gas}`, 0.1]))
  t.is((await writer.put(`${planet}/atmosphere`, { composition: tenths })).status, 201)
  const refused = await writer.patch(`${planet}/atmosphere`, { composition: { argon: 0.1 } })
  t.is(refused.status, 422)
  t.is(refused.body.error.details[0].code, 'INVALID_COMPOSITION')
  t.deepEqual((await writer.get(`${planet}/atmosphere`)).body.composition, tenths)
})

test('a patch removes a single gas from a composition', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('thin')
  await writer.put(`${planet}/atmosphere`, { composition: { nitrogen: 0.7, oxygen: 0.2 } })
  t.is(
    (await writer.patch(`${planet}/atmosphere`, { composition: { oxygen: null, argon: 0.1 } })).status,
    204,
  )
  t.deepEqual((await writer.get(`${planet}/atmosphere`)).body.composition, { nitrogen: 0.7, argon: 0.1 })
})

test('a fraction that is negative or no number is a 400', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('odd')
  for (const [fraction, code] of [
    [-0.1, 'OUT_OF_RANGE'],
    ['0.1', 'INVALID_TYPE'],
  ] as const) {
    const { status, body } = await writer.put(`${planet}/atmosphere`, { composition: { xenon: fraction } })
    t.is(status, 400)
    t.is(body.error.details[0].code, code)
  }
})

test('a name that objects inherit is no gas, whichever way it is sent', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('prototypical')
  await writer.put(`${planet}/atmosphere`, { composition: { argon: 0.1 } })
  const mutation = (composition: string, type = '') =>
    `mutation ${type} { putAtmosphere(planetId: "prototypical", input: { composition: ${composition} }) { outcome } }`
  for (const name of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty']) {
    const sent = JSON.parse(`{ "composition": { "${name}": 0.5 } }`)
    t.is((await writer.put(`${planet}/atmosphere`, sent)).status, 400, name)
    t.is((await writer.patch(`${planet}/atmosphere`, sent)).status, 400, name)
    const literal = await writer.graphql(mutation(`{ ${name}: 0.5 }`))
    t.is(literal.errors?.[0].extensions.code, 'VALIDATION_FAILED', name)
    const patch = `mutation { patchAtmosphere(planetId: "prototypical", patch: { composition: { ${name}: 0.5 } }) { outcome } }`
    t.is((await writer.graphql(patch)).errors?.[0].extensions.code, 'VALIDATION_FAILED', name)
    if (name === '__proto__') continue
    const variable = await writer.graphql(mutation('$c', '($c: Fractions)'), { c: sent.composition })
    t.is(variable.errors?.[0].extensions.code, 'VALIDATION_FAILED', name)
  }
  t.deepEqual((await writer.get(`${planet}/atmosphere`)).body.composition, { argon: 0.1 })
})

test('a reserved name that is stored already can be removed', async (t) => {
  const { writer, database } = service()
  const planet = await planetNamed('legacy')
  await writer.put(`${planet}/atmosphere`, { composition: { argon: 0.1 } })
  const composition = { neon: 0.2 }
  const changes = [
    () => writer.patch(`${planet}/atmosphere`, { composition: null }),
    () => writer.put(`${planet}/atmosphere`, {}),
    () => writer.put(`${planet}/atmosphere`, { composition }),
  ]
  for (const change of changes) {
    await database.client.prisma.$executeRaw`
      UPDATE atmosphere SET composition = '{"__proto__": 0.5, "constructor": 0.1}' WHERE planet_id = 'legacy'`
    t.is((await change()).status, 204)
    const { body } = await writer.get(`${planet}/atmosphere`)
    t.true(body.composition === undefined || Object.keys(body.composition).join() === 'neon')
  }
  await database.client.prisma.$executeRaw`
    UPDATE atmosphere SET composition = '{"constructor": 0.1}' WHERE planet_id = 'legacy'`
  await t.throwsAsync(
    database.client.prisma
      .$executeRaw`UPDATE atmosphere SET composition = '{"gas": 1.1}' WHERE planet_id = 'legacy'`,
    { message: /composition_of_one_whole/ },
  )
  // It is merged with what is stored, and the result is as invalid as that.
  t.is((await writer.patch(`${planet}/atmosphere`, { composition })).status, 400)
})
