import test from 'ava'
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

test('nouns and columns that are declared are those of forms, documents and pages', async (t) => {
  const { writer, anonymous, origin } = await startTestService(t, {}, { domain })
  const { _templates } = (await writer.get('/planets', FORMS)).body
  t.is(_templates.default.title, 'Create a world')
  t.deepEqual((await anonymous.get('/profile/planets')).body.columns, ['host_star', 'habitable'])
  const { paths } = (await anonymous.get('/openapi.json')).body
  t.is(paths['/api/v1/planets'].get.summary, 'List the worlds')
  const page = await anonymous.get(`${origin}/`, { accept: 'text/html' })
  t.regex(page.text, /Species, Worlds, Spacecraft/)
})
