import test from 'ava'
import { domainWith } from '../helpers/domain/versioned-domain.ts'
import { type Json, withoutCursors } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)
let made = 0
const name = () => `Species nova ${++made}`
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

async function create(body: object = {}): Promise<Json> {
  const {
    status,
    body: created,
    text,
  } = await service().writer.post('/species', { scientific_name: name(), ...body })
  if (status !== 201) throw new Error(text)
  return created
}

const at = ({ id }: Json) => `/species/${id}`
const codes = ({ body }: { body: Json }) =>
  body.error.details.map(({ field, code }: Json) => `${field} ${code}`)
const details = ({ body }: { body: Json }) => body.error.details.map(({ field, code }: Json) => [field, code])

const WHOLE = {
  common_name: 'Glass  “lantern”',
  classification: { kingdom: 'Animalia', class: 'Vitrea', phylum: 'Lucida' },
  habitat: 'ice: caves | deep',
  planet_origin: 'Europa',
  temperature_range: { min_celsius: -160.25, max_celsius: -3.5 },
  bioluminescent: true,
  intelligence_level: 'none, so far',
}

test('SPEC §2.1: every field of a species is stored and returned, with its type', async (t) => {
  const created = await create(WHOLE)
  t.like(created, WHOLE)
  const { body } = await service().reader.get(at(created))
  t.deepEqual(Object.keys(body), [
    'id',
    'scientific_name',
    ...Object.keys(WHOLE),
    'discovery_status',
    'discovered_date',
    'last_updated',
    '_links',
  ])
  t.deepEqual({ ...body, _links: null }, { ...created, _links: null })
})

test('SPEC §2.1, §3.2, §3.3: the service makes id, discovery_status, discovered_date and last_updated', async (t) => {
  const before = Date.now()
  const { id, discovery_status, discovered_date, last_updated } = await create()
  t.regex(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.is(discovery_status, 'newly_catalogued')
  t.regex(discovered_date, STAMP)
  t.is(last_updated, discovered_date)
  t.true(Math.abs(Date.parse(discovered_date) - before) < 60_000)
})

test('SPEC §2.1: a missing scientific_name is REQUIRED_FIELD', async (t) => {
  const { writer } = service()
  for (const body of [
    {},
    { scientific_name: null },
    { scientific_name: '' },
    { scientific_name: ' \t\u3000' },
  ]) {
    const refused = await writer.post('/species', body)
    t.deepEqual([refused.status, refused.body.error.code], [400, 'VALIDATION_FAILED'])
    t.deepEqual(details(refused), [['scientific_name', 'REQUIRED_FIELD']])
  }
  const { status } = await writer.patch(at(await create()), { scientific_name: null })
  t.is(status, 400)
})

test('SPEC §2.1, §7: min_celsius above max_celsius is INVALID_RANGE, with 400', async (t) => {
  const { writer } = service()
  const range = { temperature_range: { min_celsius: 10.5, max_celsius: 10.25 } }
  const species = await create()
  const refused = [
    await writer.post('/species', { scientific_name: name(), ...range }),
    await writer.put(at(species), { scientific_name: name(), ...range }),
    await writer.patch(at(species), range),
  ]
  for (const answer of refused) {
    t.deepEqual([answer.status, answer.body.error.code], [400, 'VALIDATION_FAILED'])
    t.deepEqual(details(answer), [['temperature_range.min_celsius', 'INVALID_RANGE']])
  }
  await create({ temperature_range: { min_celsius: 4, max_celsius: 4 } })
})

test('SPEC §4.6: one side of a range can break the range of the whole', async (t) => {
  const { writer, reader } = service()
  const species = await create({ temperature_range: { min_celsius: 1, max_celsius: 2 } })
  const low = await writer.patch(at(species), { temperature_range: { max_celsius: 0 } })
  t.deepEqual([low.status, ...details(low)], [400, ['temperature_range.min_celsius', 'INVALID_RANGE']])
  t.is(
    (await writer.patch(at(species), { temperature_range: { max_celsius: 0, min_celsius: null } })).status,
    204,
  )
  t.deepEqual((await reader.get(at(species))).body.temperature_range, { max_celsius: 0 })
})

test('SPEC §7: below absolute zero is a business rule, with 422 and the field', async (t) => {
  const { writer } = service()
  const species = await create()
  const range = { temperature_range: { min_celsius: -273.16, max_celsius: -300 } }
  t.is((await writer.post('/species', { scientific_name: name(), ...range })).status, 400)
  for (const [bound, celsius] of [
    ['min_celsius', -273.16],
    ['max_celsius', -1e9],
  ] as const) {
    const refused = await writer.patch(at(species), { temperature_range: { [bound]: celsius } })
    t.deepEqual([refused.status, refused.body.error.code], [422, 'BUSINESS_RULE_VIOLATION'])
    t.deepEqual(details(refused), [[`temperature_range.${bound}`, 'BELOW_ABSOLUTE_ZERO']])
  }
  t.is((await writer.patch(at(species), { temperature_range: { min_celsius: -273.15 } })).status, 204)
})

test('SPEC §4.3: a scientific_name is unique, regardless of case and surrounding blanks', async (t) => {
  const { writer } = service()
  await create({ scientific_name: 'Érable ÅngstrÖm' })
  const other = await create()
  for (const taken of ['Érable ÅngstrÖm', ' érable ångström ', 'ÉRABLE ÅNGSTRÖM']) {
    const refused = [
      await writer.post('/species', { scientific_name: taken }),
      await writer.put('/species/another', { id: 'another', scientific_name: taken }),
      await writer.put(at(other), { scientific_name: taken }),
      await writer.patch(at(other), { scientific_name: taken }),
    ]
    for (const answer of refused) {
      t.deepEqual([taken, answer.status, answer.body?.error.code], [taken, 409, 'RESOURCE_ALREADY_EXISTS'])
      t.deepEqual(details(answer), [['scientific_name', 'DUPLICATE_VALUE']])
    }
  }
  const back = await service().reader.get('/species?filter=scientific_name:%C3%89rable%20%C3%85ngstr%C3%96m')
  t.is(back.body.total_count, 1)
})

test('SPEC §2.3: the relations of a species on each occasion, and planet only while it has an origin', async (t) => {
  const { writer, reader, base } = service()
  const created = await create({ planet_origin: 'Tau Ceti e' })
  const self = { href: `${base}${at(created)}` }
  const collection = { href: `${base}/species` }
  const planet = { href: `${base}/planets/tau-ceti-e` }
  t.deepEqual(created._links, { self, collection, planet })
  const read = await reader.get(at(created))
  t.deepEqual(read.body._links, { self, collection, edit: self, delete: self, planet })
  t.is((await reader.get(planet.href)).body.name, 'Tau Ceti e')
  const put = await writer.put('/species/tc-1', {
    id: 'tc-1',
    scientific_name: name(),
    planet_origin: 'tau-ceti-e',
  })
  t.deepEqual(put.body._links, { self: { href: `${base}/species/tc-1` }, planet })
  const list = await reader.get('/species?id=tc-1')
  t.deepEqual(list.body._embedded.species[0]._links, { self: { href: `${base}/species/tc-1` } })
  await writer.patch('/species/tc-1', { planet_origin: null })
  t.false('planet' in (await reader.get('/species/tc-1')).body._links)
})

test('SPEC §4.1: the list has twenty items unless it is asked for others', async (t) => {
  const { reader } = service()
  for (let count = 0; count < 21; count++) await create({ habitat: 'twenty: and one' })
  const { body } = await reader.get('/species?filter=habitat:twenty: and one')
  t.like(body, { page: 1, limit: 20, total_pages: 2, total_count: 21, has_more: true })
  t.is(body._embedded.species.length, 20)
  t.is(
    withoutCursors(body)._links.next.href,
    `${service().base}/species?page=2&limit=20&filter=habitat:twenty:%20and%20one`,
  )
  t.is((await reader.get(body._links.next.href)).body._embedded.species.length, 1)
})

test('SPEC §4.1: sort, filters and dotted names go together, and into the links in a fixed order', async (t) => {
  const { reader, base } = service()
  for (const min_celsius of [5, -5, 0.5])
    await create({ habitat: 'sorted', temperature_range: { min_celsius } })
  const query =
    'filter=habitat:sorted&filter=temperature_range.min_celsius[gte]:0&limit=1&sort=temperature_range.min_celsius:desc'
  const { body } = await reader.get(`/species?${query}`)
  t.deepEqual(
    body._embedded.species.map(({ temperature_range }: Json) => temperature_range.min_celsius),
    [5],
  )
  t.is(
    withoutCursors(body)._links.next.href,
    `${base}/species?page=2&limit=1&sort=temperature_range.min_celsius:desc&filter=habitat:sorted&filter=temperature_range.min_celsius%5Bgte%5D:0`,
  )
  const next = await reader.get(body._links.next.href)
  t.is(next.body._embedded.species[0].temperature_range.min_celsius, 0.5)
})

test('SPEC §4.5: PUT keeps what the service made, and clears optional fields that are left out', async (t) => {
  const { reader, writer } = service()
  const created = await create(WHOLE)
  const scientific_name = name()
  t.is((await writer.put(at(created), { scientific_name })).status, 204)
  const { body } = await reader.get(at(created))
  const { id, discovered_date, discovery_status } = created
  t.like(body, { id, scientific_name, discovery_status, discovered_date })
  t.deepEqual(Object.keys(body), [
    'id',
    'scientific_name',
    'discovery_status',
    'discovered_date',
    'last_updated',
    '_links',
  ])
  t.true(body.last_updated > created.last_updated)
})

test('SPEC §4.5: changing discovery_status or discovered_date is READ_ONLY_FIELD, all of them at once', async (t) => {
  const { writer } = service()
  const created = await create()
  const changed = { discovered_date: '2020-01-01T00:00:00.000Z', discovery_status: 'extinct' }
  const refused = await writer.put(at(created), { ...created, ...changed })
  t.deepEqual([refused.status, refused.body.error.code], [400, 'VALIDATION_FAILED'])
  t.deepEqual(details(refused), [
    ['discovery_status', 'READ_ONLY_FIELD'],
    ['discovered_date', 'READ_ONLY_FIELD'],
  ])
})

test('SPEC §4.6: a merge patch applies within groups, and an empty group is omitted', async (t) => {
  const { reader, writer } = service()
  const created = await create(WHOLE)
  const patch = {
    classification: { class: null, phylum: 'Obscura' },
    temperature_range: null,
    habitat: 'none',
  }
  const { status, headers } = await writer.patch(at(created), patch, {
    'content-type': 'application/merge-patch+json',
  })
  t.is(status, 204)
  const { body, headers: now } = await reader.get(at(created))
  t.is(headers.get('etag'), now.get('etag'))
  t.deepEqual(body.classification, { kingdom: 'Animalia', phylum: 'Obscura' })
  t.false('temperature_range' in body)
  await writer.patch(at(created), { classification: { kingdom: null, phylum: null } })
  t.false('classification' in (await reader.get(at(created))).body)
})

test('SPEC §4.7: deleting answers 204, also when it is gone; strict handling answers 404 or 410', async (t) => {
  const { writer } = service()
  const created = await create()
  const strict = { Prefer: 'respond-async, handling=strict; x=1' }
  t.is((await writer.delete(at(created), strict)).status, 204)
  t.is((await writer.delete(at(created))).status, 204)
  t.is((await writer.delete(at(created), strict)).status, 410)
  t.is((await writer.delete('/species/never-was', { Prefer: 'handling=lenient' })).status, 204)
  const { status, headers } = await writer.delete('/species/never-was', strict)
  t.deepEqual([status, headers.get('preference-applied')], [404, 'handling=strict'])
  t.regex(headers.get('vary') ?? '', /\bPrefer\b/)
})

test('SPEC §2.1: an edit in the database moves version, ETag and last_updated; a row deleted there is gone', async (t) => {
  const { reader, database } = service()
  const { id } = await create()
  const before = await reader.get(`/species/${id}`)
  await database.client.prisma.$executeRaw`UPDATE species SET habitat = 'by hand' WHERE id = ${id}`
  const after = await reader.get(`/species/${id}`)
  t.is(after.headers.get('etag'), `"${id}:2"`)
  t.is(after.body.habitat, 'by hand')
  t.true(after.body.last_updated > before.body.last_updated)
  await database.client.prisma
    .$executeRaw`UPDATE species SET habitat = 'by hand', version = 99 WHERE id = ${id}`
  t.is((await reader.get(`/species/${id}`)).headers.get('etag'), `"${id}:2"`)
  await database.client.prisma.$executeRaw`DELETE FROM species WHERE id = ${id}`
  t.is((await reader.get(`/species/${id}`)).status, 410)
})

test('a read-only member of a group is refused with another value, in REST and GraphQL', async (t) => {
  const domain = domainWith(undefined, {
    'species.temperature_range.max_celsius': { readOnly: true },
    'species.classification.class': { readOnly: true, initially: 'unknown' },
    'species.classification.kingdom': { readOnly: true },
    'species.classification.phylum': { readOnly: true },
  })
  const { writer } = await startTestService(t, {}, { domain })
  const species = { scientific_name: 'Acta una', temperature_range: { min_celsius: 1, max_celsius: 2 } }
  const created = await writer.put('/species/una', { id: 'una', ...species, classification: { class: 'X' } })
  t.deepEqual([created.status, created.body.temperature_range], [201, { min_celsius: 1 }], created.text)
  t.deepEqual(created.body.classification, { class: 'unknown' })
  t.is((await writer.put('/species/una', created.body)).status, 204)
  for (const body of [species, { ...created.body, classification: { class: 'X' } }]) {
    const name = body === species ? 'temperature_range.max_celsius' : 'classification.class'
    const put = await writer.put('/species/una', body)
    t.deepEqual([put.status, ...codes(put)], [400, `${name} READ_ONLY_FIELD`])
    const { scientific_name, ...patch } = body
    const patched = await writer.patch('/species/una', patch)
    t.deepEqual([patched.status, ...codes(patched)], [400, `${name} READ_ONLY_FIELD`])
    const lenient = await writer.patch('/species/una', patch, { Prefer: 'handling=lenient' })
    t.is(lenient.status, 204, lenient.text)
  }
  t.is((await writer.patch('/species/una', { classification: null })).status, 204)
  const removal = await writer.patch('/species/una', { classification: { class: null } })
  t.deepEqual([removal.status, ...codes(removal)], [400, 'classification.class READ_ONLY_FIELD'])
  const PATCH = `mutation ($patch: SpeciesPatch!, $readOnly: SpeciesReadOnly) {
    patchSpecies(id: "una", patch: $patch, readOnly: $readOnly) { outcome } }`
  const readOnly = { temperatureRange: { maxCelsius: 2 } }
  const { errors } = await writer.graphql(PATCH, { patch: { habitat: 'reef' }, readOnly })
  const [detail] = errors?.[0].extensions.details ?? []
  t.deepEqual([detail.field, detail.code], ['readOnly.temperatureRange.maxCelsius', 'READ_ONLY_FIELD'])
  const settable = await writer.graphql(PATCH, { patch: readOnly })
  t.regex(settable.errors?.[0].message, /maxCelsius/)
})

test('an identifier of 64 characters is created, changed and deleted, and one of 65 is refused', async (t) => {
  const { reader, writer } = service()
  const id = 'i'.repeat(64)
  const path = `/species/${id}`
  t.is((await writer.put(path, { id, scientific_name: 'Longa maxima' })).status, 201)
  t.is((await writer.patch(path, { habitat: 'cave' })).status, 204)
  t.is((await reader.get(path)).body.habitat, 'cave')
  t.is((await writer.delete(path)).status, 204)
  t.is((await reader.get(path)).status, 410)
  const longer = await writer.put(`${path}i`, { id: `${id}i`, scientific_name: 'Longa nimis' })
  t.deepEqual([longer.status, longer.body.error.code], [400, 'VALIDATION_FAILED'])
})
