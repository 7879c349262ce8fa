// TypeScript, with types generated from the OpenAPI document. Needs API and TOKEN in the environment.
//
//   npx openapi-typescript $API/openapi.json -o generated.d.ts
//   npm install openapi-fetch, then compile and run this file
import createClient from 'openapi-fetch'
import type { paths } from './generated.js'

const { API = '', TOKEN = '' } = process.env
// The types of JSON only: lists can also be CSV, and errors problem documents.
const client = createClient<paths, 'application/json'>({
  baseUrl: new URL(API).origin,
  headers: { Authorization: `Bearer ${TOKEN}` },
})

// Create. The key makes a repetition safe: it gets the first response.
const key = crypto.randomUUID()
const species = { scientific_name: `Exemplum typi ${key}`, habitat: 'reef' }
const create = () =>
  client.POST('/api/v1/species', { body: species, params: { header: { 'Idempotency-Key': key } } })
const created = await create()
const repeated = await create()
const id = created.data?.id
if (id === undefined || repeated.data?.id !== id) throw new Error('not created, or created twice')
console.log(`created ${species.scientific_name}`)

// Read a list through its links. The link to the next page has the query for it.
let count = 0
const query: { limit: number; page?: number; cursor?: string } = { limit: 2 }
for (let hasMore = true; hasMore; ) {
  const { data } = await client.GET('/api/v1/species', { params: { query } })
  count += data?._embedded.species.length ?? 0
  hasMore = data?.has_more ?? false
  const next = new URL(data?._links.next?.href ?? API).searchParams
  Object.assign(query, { page: Number(next.get('page')), cursor: next.get('cursor') })
}
console.log(`read ${count} species`)

// Change, only if it is still as it was read.
const { response } = await client.GET('/api/v1/species/{id}', { params: { path: { id } } })
const header = { 'If-Match': response.headers.get('ETag') ?? '' }
const params = { path: { id }, header }
await client.PATCH('/api/v1/species/{id}', { params, body: { habitat: 'deep reef' } })
const late = await client.PATCH('/api/v1/species/{id}', { params, body: { habitat: 'shallow reef' } })
console.log(`second change with the old entity tag: ${late.response.status}`)

// The details of an error. The types would refuse a body without a name.
const refused = await client.POST('/api/v1/species', { body: { scientific_name: ' ' } })
for (const { field, code } of refused.error?.error.details ?? []) console.log(`refused: ${field} ${code}`)
