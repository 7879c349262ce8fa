import test from 'ava'
import { defineResource, reference, text } from '../../src/domain/definition.ts'
import type { Field } from '../../src/model/definition/fields.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { hasRelatedTitle } from '../../src/model/definition/titles.ts'
import { openView } from '../../src/model/definition/views.ts'
import { definitionProblems } from '../../src/model/problems/definition-problems.ts'
import { resources } from '../helpers/domain/domain.ts'
import { redefined } from '../helpers/domain/redefined.ts'
import { startTestService } from '../helpers/service/service.ts'

const FORMS = { accept: 'application/prs.hal-forms+json' }

const domain = redefined({
  planets: {
    title: ({ name, host_star: star }) => `${name} of ${star ?? 'an unknown star'}`,
    columns: ['host_star', 'habitable'],
    one: 'world',
    many: 'worlds',
  },
  spacecraft: { title: ['name', 'kind'] },
})

test('a title that is declared names the resource in its links and in GraphQL, also of embedded resources', async (t) => {
  const { writer } = await startTestService(t, {}, { domain })
  await writer.put('/planets/kepler', { id: 'kepler', name: 'Kepler', host_star: 'Sun' })
  await writer.put('/spacecraft/dawn', { id: 'dawn', name: 'Dawn', kind: 'rover' })
  const mission = { id: 'first', name: 'First', destination_planet_id: 'kepler', spacecraft_id: 'dawn' }
  await writer.put('/missions/first', mission)
  const titles = async (path: string) => (await writer.get(path)).body._links.self.title
  t.is(await titles('/planets/kepler'), 'Kepler of Sun')
  t.is(await titles('/planets/kepler?fields=habitable'), 'Kepler of Sun')
  t.is(await titles('/spacecraft/dawn'), 'Dawn rover')
  t.is(await titles('/missions/first'), undefined)
  const list = await writer.get('/planets')
  t.is(list.body._embedded.planets[0]._links.self.title, 'Kepler of Sun')
  const { _embedded } = (await writer.get('/missions/first?embed=destination,spacecraft')).body
  t.is(_embedded.destination._links.self.title, 'Kepler of Sun')
  t.is(_embedded.spacecraft._links.self.title, 'Dawn rover')
  const query =
    '{ missionPage { items { displayName spacecraft { displayName } destination { displayName } } } }'
  const [item] = (await writer.graphql(query)).data.missionPage.items
  t.deepEqual(item, {
    displayName: 'First',
    spacecraft: { displayName: 'Dawn rover' },
    destination: { displayName: 'Kepler of Sun' },
  })
})

test('a view has the columns whose fields it has', (t) => {
  const safes = defineResource({
    kind: 'collection',
    name: 'Safe',
    path: 'safes',
    description: 'A safe.',
    columns: ['place', 'code'],
    fields: { place: text('Place.'), code: text('Code.', { readScope: 'codes' }) },
  })
  t.deepEqual(openView(safes).columns, ['place'])
})

test('a title names fields and link relations, columns only fields', (t) => {
  const define = (path: string, options: object) =>
    defineResource({
      kind: 'collection',
      name: path,
      path,
      description: 'D.',
      ...options,
      fields: {
        name: text('N.'),
        code: text('Code.', { readScope: 'codes' }),
        hall_id: reference('Halls', 'hall', 'H.'),
      },
    })
  const halls = define('Halls', { title: ['name', 'code'] })
  const courts = define('Courts', { title: ['name', 'hall'] })
  t.deepEqual(definitionProblems({ resources: [halls, courts] }), [])
  t.deepEqual([hasRelatedTitle(halls), hasRelatedTitle(courts)], [false, true])
  // The tags of a resource whose title only lacks a field for some callers stay as they are.
  t.false(hasRelatedTitle(openView(halls)))
  const wrong = define('Courts', { title: ['parent', 'hall'], columns: ['hall'] })
  t.deepEqual(definitionProblems({ resources: [halls, wrong] }), [
    'Courts: its title or columns name parent, which is no field',
    'Courts: its title or columns name hall, which is no field',
  ])
})

test('nouns and columns that are declared are those of forms, documents and pages', async (t) => {
  const { writer, anonymous, origin } = await startTestService(t, {}, { domain })
  const { _templates } = (await writer.get('/planets', FORMS)).body
  t.is(_templates.default.title, 'Create a world')
  t.deepEqual((await anonymous.get('/profile/planets')).body.columns, ['host_star', 'habitable'])
  const { paths } = (await anonymous.get('/openapi.json')).body
  t.is(paths['/api/v1/planets'].get.summary, 'List the worlds')
  const page = await anonymous.get(`${origin}/nowhere`, { accept: 'text/html' })
  t.regex(page.text, />Species<[\s\S]*>Worlds<[\s\S]*>Spacecraft</)
})

const named = redefined({
  missions: redefinedField('missions', 'destination_planet_id', { inverse: 'visits' }),
  species: redefinedField('species', 'planet_id', { inverse: 'inhabitants' }),
})

function redefinedField(path: string, name: string, options: object): Resource {
  const resource = resources.find((one) => one.path === path) as Resource
  const field = { ...resource.fields[name], ...options } as Field
  return defineResource({ ...resource, fields: { ...resource.fields, [name]: field } } as never)
}

test('the labels of an enumeration are in its profile and in the OpenAPI document', async (t) => {
  const labels = { planned: 'Not begun', active: 'Under way' }
  const missions = redefinedField('missions', 'status', { labels })
  const { anonymous } = await startTestService(t, {}, { domain: redefined({ missions }) })
  const { schema } = (await anonymous.get('/profile/missions')).body
  t.deepEqual(schema.properties.status['x-labels'], labels)
  const { schemas } = (await anonymous.get('/openapi.json')).body.components
  t.deepEqual(schemas.MissionFields.properties.status['x-labels'], labels)
  t.false('labels' in schemas.MissionFields.properties.status)
  t.false('x-labels' in schemas.SpeciesFields.properties.scientific_name)
})

test('the inverse of a reference names the list of the target in links, embedding and GraphQL', async (t) => {
  const { writer, base } = await startTestService(t, {}, { domain: named })
  await writer.put('/planets/kepler', { id: 'kepler', name: 'Kepler' })
  await writer.put('/missions/first', { id: 'first', name: 'First', destination_planet_id: 'kepler' })
  await writer.put('/species/lux', { id: 'lux', scientific_name: 'Lux', planet_origin: 'Kepler' })
  const { _links: links, _embedded: embedded } = (
    await writer.get('/planets/kepler?embed=visits,inhabitants')
  ).body
  t.is(links.visits.href, `${base}/missions?filter=destination_planet_id:kepler`)
  t.is(links.inhabitants.href, `${base}/planets/kepler/species`)
  t.false('missions' in links || 'species' in links)
  t.is(embedded.visits._embedded.missions[0].id, 'first')
  t.is(embedded.inhabitants._embedded.species[0].id, 'lux')
  t.is((await writer.get('/planets/kepler?embed=missions')).status, 400)
  const query =
    '{ planet(id: "kepler") { visits { totalCount } inhabitantsConnection(first: 1) { edges { node { id } } } } }'
  t.deepEqual((await writer.graphql(query)).data.planet, {
    visits: { totalCount: 1 },
    inhabitantsConnection: { edges: [{ node: { id: 'lux' } }] },
  })
})

test('an inverse that is no name, or that another link has, is refused', (t) => {
  const problemsOf = (inverse: string) => {
    const missions = redefinedField('missions', 'destination_planet_id', { inverse })
    return definitionProblems(redefined({ missions }))
  }
  t.deepEqual(problemsOf('visits'), [])
  t.deepEqual(problemsOf('self'), ['missions: inverse of destination_planet_id: self is reserved'])
  t.regex(problemsOf('all visits')[0] ?? '', /inverse of destination_planet_id: a name has words/)
  t.regex(problemsOf('moons')[0] ?? '', /inverse of destination_planet_id: planets have another link moons/)
})
