// JavaScript, without packages. Needs API and TOKEN in the environment.
import { randomUUID } from 'node:crypto'

const { API, TOKEN } = process.env

/** Sends a request, and repeats it when the service asks for that and it is safe. Resolves to the response and its body. */
async function call(method, url, body, headers = {}) {
  const response = await fetch(url, {
    method,
    headers: {
      Authorization: `Bearer ${TOKEN}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  // A write that got 503 can have happened. A 429 has not.
  const isSafe = method !== 'POST' || headers['Idempotency-Key']
  if ((response.status === 503 && isSafe) || response.status === 429) {
    const seconds = Number(response.headers.get('Retry-After') ?? 1)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    return call(method, url, body, headers)
  }
  const text = await response.text()
  return { response, body: text ? JSON.parse(text) : undefined }
}

// Create. The key makes a repetition safe: it gets the first response.
const key = randomUUID()
const species = { scientific_name: `Exemplum scripti ${key}`, habitat: 'reef' }
const created = await call('POST', `${API}/species`, species, { 'Idempotency-Key': key })
const repeated = await call('POST', `${API}/species`, species, { 'Idempotency-Key': key })
const self = created.body._links.self.href
if (repeated.body._links.self.href !== self) throw new Error('created twice')
console.log(`created ${species.scientific_name}`)

// Read a list through its links.
let count = 0
for (let next = `${API}/species?limit=2`; next; ) {
  const { body } = await call('GET', next)
  count += body._embedded.species.length
  next = body._links.next?.href
}
console.log(`read ${count} species`)

// Change, only if it is still as it was read.
const { response } = await call('GET', self)
const condition = { 'If-Match': response.headers.get('ETag') }
await call('PATCH', self, { habitat: 'deep reef' }, condition)
const late = await call('PATCH', self, { habitat: 'shallow reef' }, condition)
console.log(`second change with the old entity tag: ${late.response.status}`)

// The details of an error.
const refused = await call('POST', `${API}/species`, {})
for (const { field, code } of refused.body.error.details) console.log(`refused: ${field} ${code}`)
