// Type-checked, and then run, against the client types that openapi-typescript makes of the document. A
// line marked as an expected error must be one: the types have to refuse what the service would refuse.
import createFetchClient from 'openapi-fetch'
import type { components, paths } from './generated.js'

const [origin = '', token = ''] = process.argv.slice(2)
const headers = { Authorization: `Bearer ${token}` }
const client = createFetchClient<paths, 'application/json'>({ baseUrl: origin, headers })

const species: components['schemas']['SpeciesInput'] = { scientific_name: 'Typa exacta', habitat: null }
// @ts-expect-error A number is not a name.
const wrong: components['schemas']['SpeciesInput'] = { scientific_name: 1 }
// @ts-expect-error There is no such field.
const unknown: components['schemas']['SpeciesInput'] = { scientific_name: 'x', colour: 'blue' }

const created = await client.POST('/api/v1/species', { body: species })
if (!created.data) throw new Error(`${created.error.error.code}: ${created.error.error.message}`)
const { id, _links: links } = created.data

const read = await client.GET('/api/v1/species/{id}', { params: { path: { id } } })
const list = await client.GET('/api/v1/species', {
  params: { query: { limit: 1, sort: ['scientific_name:asc', 'id:asc'] } },
})
const refused = await client.POST('/api/v1/species', { body: wrong })
const page = list.data
console.log(
  JSON.stringify({
    self: links.self.href,
    name: read.data?.scientific_name,
    items: page?._embedded.species.length,
    next: page?._links.next?.href ?? null,
    refused: refused.error?.error.details[0]?.code,
    unknown: Object.keys(unknown).length,
  }),
)
