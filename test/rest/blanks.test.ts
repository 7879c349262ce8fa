import test from 'ava'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

/** White space, characters that fonts ignore, selectors of variations, control characters, and an empty pattern. */
const BLANKS = [
  ...' \t\n\u0001\u007f\u0085\u00a0\u00ad\u034f\u1680\u180e\u2009\u200b\u200e\u2028\u202f\u2060\u2800\u3000\u3164',
  ...'\ufe0f\ufeff\uffa0\u{1d159}\u{1d173}\u{e0001}\u{e0100}',
  '\u2003 \u200d\ufe0f',
]

test('a name that shows nothing is a missing one, in REST and GraphQL', async (t) => {
  const { writer } = service()
  for (const name of BLANKS) {
    const { status, body } = await writer.post('/planets', { name })
    t.deepEqual([status, body.error?.details[0].code], [400, 'REQUIRED_FIELD'], JSON.stringify(name))
    const query = 'mutation ($name: String!) { createPlanet(input: { name: $name }) { outcome } }'
    const { errors } = await writer.graphql(query, { name })
    t.is(errors?.[0].extensions.details[0].code, 'REQUIRED_FIELD', JSON.stringify(name))
  }
})

test('blanks at the ends of a text make no other unique value, and name no other planet', async (t) => {
  const { writer, reader } = service()
  t.is((await writer.put('/planets/mars', { id: 'mars', name: 'Mars' })).status, 201)
  for (const [index, blank] of BLANKS.entries()) {
    for (const name of [`mars${blank}`, `${blank}MARS`]) {
      const { status, body } = await writer.post('/planets', { name })
      t.deepEqual([status, body.error?.details[0].code], [409, 'DUPLICATE_VALUE'], JSON.stringify(name))
      const species = {
        scientific_name: `Acta ${index} ${name.length} ${name[0] === 'm'}`,
        planet_origin: name,
      }
      const created = await writer.post('/species', species)
      t.is(created.status, 201, created.text)
      t.is(created.body.planet_origin, name)
      t.regex(created.body._links.planet.href, /\/planets\/mars$/, JSON.stringify(name))
    }
    const unset = await writer.post('/species', { scientific_name: `Acta ${index}`, planet_origin: blank })
    t.deepEqual([unset.status, unset.body._links?.planet], [201, undefined], JSON.stringify(blank))
  }
  t.is((await reader.get('/planets?filter=name[icontains]:mars')).body.total_count, 1)
})

test('blanks leave no trace in the identifier of a new planet', async (t) => {
  const { writer } = service()
  const origin = '\u00a0Ma\u200ds \u2800Two\ufe0f'
  const { body } = await writer.post('/species', { scientific_name: 'Acta nova', planet_origin: origin })
  t.regex(body._links.planet.href, /\/planets\/mas-two$/)
})
