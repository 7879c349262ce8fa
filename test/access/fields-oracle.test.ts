import test from 'ava'
import fc from 'fast-check'
import type { Values } from '../../src/model/resource.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { Fixtures } from '../helpers/domain/fixtures.ts'
import { type RandomRequest, requestsOf } from '../helpers/domain/random-requests.ts'
import { openDomain, readScopedDomain } from '../helpers/domain/scoped-domain.ts'
import { isFull } from '../helpers/process/full.ts'
import type { Client } from '../helpers/service/client.ts'
import { serveBeside, startTestService, type TestService } from '../helpers/service/service.ts'

const REQUESTS = isFull ? 10_000 : 400

const COMPARED = ['content-type', 'etag', 'last-modified', 'link', 'preference-applied', 'x-total-count']

/** Makes some resources of each kind, and returns their representations by collection. */
async function store(client: Client): Promise<Record<string, Values[]>> {
  const fixtures = new Fixtures(client)
  const samples: Record<string, Values[]> = {}
  for (const resource of openDomain.resources) {
    const { path, owner } = resource
    samples[path] = []
    const parents = owner ? (samples[owner.path] ?? []).slice(0, 3).map(({ id }) => String(id)) : [undefined]
    for (const parentId of parents)
      for (let count = resource.listed ? 3 : 1; count > 0; count--) {
        const made = await fixtures.create(resource, parentId === undefined ? {} : { parentId })
        samples[path].push(made.answer.body)
      }
  }
  return samples
}

async function changeSome({ withScope }: TestService, { planets = [] }: Record<string, Values[]>) {
  const client = withScope('*:read *:write *:private')
  await client.patch(`/planets/${planets[0]?.['id']}`, { mass_jupiters: 77, host_star: 'Changed' })
  await client.post('/planets', { name: 'Without anything else' })
}

async function answerTo(client: Client, { path, accept = '', query }: RandomRequest, tag?: string) {
  const headers = { accept, ...(tag !== undefined && { 'if-none-match': tag }) }
  if (query !== undefined) return { body: (await client.graphql(query)).text }
  const { status, headers: received, text } = await client.get(path as string, headers)
  return { status, ...Object.fromEntries(COMPARED.map((name) => [name, received.get(name)])), body: text }
}

test('a caller without the scopes of fields gets the bytes of a definition without these fields', async (t) => {
  const publicBaseUrl = 'https://example.org'
  const service = await startTestService(t, { publicBaseUrl }, { domain: readScopedDomain })
  const samples = await store(
    service.withScope('*:read *:write *:private *:climate *:origin *:fleet *:status'),
  )
  await changeSome(service, samples)
  const scope = '*:read *:write'
  const restricted = service.withScope(scope)
  const open = (await serveBeside(t, service, openDomain))(scope)
  const requestFrom = requestsOf(openDomain.resources, createCompleteSchema(openDomain.resources), samples)
  const statuses: Record<string, number> = {}
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  t.log(`seed ${seed}, ${REQUESTS} requests`)
  const property = fc.asyncProperty(fc.gen(), async (generate) => {
    const request = requestFrom(generate)
    const [one, other] = [await answerTo(restricted, request), await answerTo(open, request)]
    const kind = 'status' in one ? String(one.status) : one.body.includes('"errors"') ? 'errors' : 'data'
    statuses[kind] = (statuses[kind] ?? 0) + 1
    if (JSON.stringify(one) !== JSON.stringify(other))
      throw new Error(`${JSON.stringify(request)}\n${JSON.stringify(one)}\n${JSON.stringify(other)}`)
    const { etag } = one as { etag?: string | null }
    if (!etag) return
    const repeated = await answerTo(restricted, request, etag)
    if (!('status' in repeated) || repeated.status !== 304)
      throw new Error(`no 304 for ${JSON.stringify(request)}`)
  })
  await fc.assert(property, { seed, numRuns: REQUESTS, endOnFailure: true })
  t.log(statuses)
  t.true(
    (statuses['200'] ?? 0) > REQUESTS / 5 && (statuses['data'] ?? 0) > REQUESTS / 5,
    'most requests succeed',
  )
})
