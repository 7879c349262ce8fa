import test from 'ava'
import type { Json } from '../helpers/client.ts'
import { shareTestService } from '../helpers/service.ts'

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
