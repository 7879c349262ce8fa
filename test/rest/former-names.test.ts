import test from 'ava'
import { definitionProblems } from '../../src/model/problems/definition-problems.ts'
import { domainWith } from '../helpers/domain/versioned-domain.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const VERSIONS = [{ name: 'v1' }, { name: 'v2' }]

const domain = domainWith(VERSIONS, {
  'species.common_name': { formerly: { name: 'trivial_name', until: 'v1' } },
  'species.temperature_range': { formerly: { name: 'climate', until: 'v1' } },
  'planets.name': { formerly: { name: 'label', until: 'v1' } },
})

const service = shareTestService(test, {}, { domain })

const at = (version: string, path: string) => `${service().origin}/api/${version}${path}`
const get = (path: string, version = 'v1', headers = {}) => service().writer.get(at(version, path), headers)
const send = (method: string, path: string, body: unknown) =>
  service().writer.request(method, at('v1', path), body)

const fox = { id: 'fox', scientific_name: 'Vulpes', trivial_name: 'Fox', climate: { min_celsius: -40 } }

test('a field has its former name in a former version, and its name in the next, with the same value', async (t) => {
  t.is((await send('PUT', '/species/fox', fox)).status, 201)
  const [former, present] = [await get('/species/fox'), await get('/species/fox', 'v2')]
  const { trivial_name: name, climate, ...rest } = fox
  t.like(former.body, fox)
  t.like(present.body, { ...rest, common_name: name, temperature_range: climate })
  t.false('common_name' in former.body || 'trivial_name' in present.body)
  t.is(former.headers.get('etag'), present.headers.get('etag'))
  t.is((await send('PATCH', '/species/fox', { trivial_name: 'Red fox', climate: null })).status, 204)
  t.is((await get('/species/fox', 'v2')).body.common_name, 'Red fox')
  t.false('temperature_range' in (await get('/species/fox', 'v2')).body)
  const created = await send('POST', '/species', { scientific_name: 'Lupus', trivial_name: 'Wolf' })
  t.is(created.body.trivial_name, 'Wolf')
})

test('lists, tables, states and changes of a former version have the former names', async (t) => {
  await send('PUT', '/species/owl', { ...fox, id: 'owl', scientific_name: 'Strix', trivial_name: 'Owl' })
  const list = await get(
    '/species?filter=trivial_name:Owl&sort=trivial_name:asc&fields=trivial_name,climate.min_celsius',
  )
  t.deepEqual(
    list.body._embedded.species.map(({ id, trivial_name, climate }: Json) => ({ id, trivial_name, climate })),
    [{ id: 'owl', trivial_name: 'Owl', climate: { min_celsius: -40 } }],
  )
  t.is((await get('/species?filter=climate.min_celsius[lt]:-30&filter=id:owl')).body.total_count, 1)
  t.is((await get('/species?q=owl')).body.total_count, 1)
  const table = await get('/species?filter=id:owl', 'v1', { Accept: 'text/csv' })
  t.regex(table.text, /^id,.*\btrivial_name\b.*\bclimate\.min_celsius\b/)
  t.notRegex(table.text, /common_name/)
  const { body } = await get('/species/owl/versions')
  t.is(body._embedded.versions[0].resource.trivial_name, 'Owl')
  const { changes } = (await get('/changes?collection=species')).body._embedded
  t.is(changes.find(({ id }: Json) => id === 'owl').resource.trivial_name, 'Owl')
  t.is((await get('/species?filter=common_name:Owl')).status, 400)
})

test('problems are reported by the names of the version', async (t) => {
  const codes = (body: Json) => body.error.details.map(({ field, code }: Json) => `${field} ${code}`)
  const unknown = await send('PUT', '/species/x', { id: 'x', scientific_name: 'X', common_name: 'X' })
  t.deepEqual(codes(unknown.body), ['common_name UNKNOWN_FIELD'])
  const cold = { id: 'x', scientific_name: 'X', climate: { min_celsius: -300 } }
  const broken = await send('PUT', '/species/x', cold)
  t.deepEqual([broken.status, codes(broken.body)], [422, ['climate.min_celsius BELOW_ABSOLUTE_ZERO']])
  const operations = [{ method: 'PUT', path: '/species/x', body: cold }]
  t.deepEqual(codes((await send('POST', '/batch', { operations })).body), [
    'operations[0].climate.min_celsius BELOW_ABSOLUTE_ZERO',
  ])
  const disordered = await send('PUT', '/species/x', {
    id: 'x',
    scientific_name: 'X',
    climate: { min_celsius: 2, max_celsius: 1 },
  })
  t.is(disordered.status, 400)
  t.true(codes(disordered.body).every((one: string) => one.startsWith('climate')))
  await send('PUT', '/planets/one', { id: 'one', label: 'One' })
  const twice = await send('PUT', '/planets/two', { id: 'two', label: 'One' })
  t.deepEqual(codes(twice.body), ['label DUPLICATE_VALUE'])
})

test('the documents of a former version have the former names', async (t) => {
  for (const path of ['/openapi.json', '/profile/species']) {
    const former = (await get(path)).text
    t.true(former.includes('"trivial_name"') && former.includes('"climate"'), path)
    t.false(former.includes('"common_name"') || former.includes('"temperature_range"'), path)
    t.false((await get(path, 'v2')).text.includes('trivial_name'), path)
  }
  const forms = await get('/species', 'v1', { Accept: 'application/prs.hal-forms+json' })
  t.true(forms.text.includes('"name":"trivial_name"'))
})

test('a former name that no version can have is refused at the start', (t) => {
  const problems = (changes: Parameters<typeof domainWith>[1]) =>
    definitionProblems(domainWith(VERSIONS, changes)).map((problem) => problem.replace(/^[^:]*: /, ''))
  const formerly = (name: string, until = 'v1') => ({ formerly: { name, until } })
  t.deepEqual(problems({ 'species.common_name': formerly('lore', 'v2') }), [
    'formerly is until v2, which is not a version before the newest',
  ])
  t.deepEqual(problems({ 'species.common_name': formerly('habitat') }), [
    'formerly is the name habitat, which another field has or which is reserved',
  ])
  t.deepEqual(problems({ 'species.planet_id': formerly('home') }), [
    'a reference has no former name: its link would have another, too',
  ])
  t.deepEqual(problems({ 'species.temperature_range.min_celsius': formerly('low') }), [
    'a member of a group has no former name; its group can',
  ])
})
