import test from 'ava'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import { scopedDomain } from '../helpers/domain/scoped-domain.ts'
import type { Answer, Client, Json } from '../helpers/service/client.ts'
import { readEvents } from '../helpers/service/read-events.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test, {}, { domain: scopedDomain })

/** Reads and writes all collections, but no field that needs a scope. */
const reader = () => service().writer
/** Has all scopes of fields, too. */
const physician = () =>
  service().withScope('*:read *:write *:private *:climate *:origin *:fleet *:status *:names')

let made = 0

/** A species with all fields, made by the physician. */
async function makeSpecies(): Promise<{ path: string; id: string; body: Json }> {
  made += 1
  const id = `made-${made}`
  const body = {
    scientific_name: `Made ${made}`,
    common_name: 'Common',
    habitat: 'cave',
    classification: { kingdom: 'Animalia' },
    temperature_range: { min_celsius: 1, max_celsius: 20 },
  }
  const answer = await physician().put(`/species/${id}`, { id, ...body })
  if (answer.status !== 201) throw new Error(answer.text)
  return { path: `/species/${id}`, id, body }
}

const stored = async (path: string) => {
  const { id, created_date, discovered_date, last_updated, _links, ...body } = (await physician().get(path))
    .body
  return body
}

function isDenied({ status, body }: Answer, scope: string): boolean {
  return status === 403 && body.error.message.endsWith(`The token lacks the scope ${scope}.`)
}

const SENT = [
  [{ habitat: 'x' }, 'species:private'],
  [{ habitat: 'cave' }, 'species:private'],
  [{ habitat: null }, 'species:private'],
  [{ habitat: { wrong: 'type' } }, 'species:private'],
  [{ classification: null }, 'species:private'],
  [{ classification: {} }, 'species:private'],
  [{ classification: { kingdom: 'Animalia' } }, 'species:private'],
  [{ temperature_range: { max_celsius: null } }, 'species:climate'],
  [{ common_name: 'Common' }, 'species:names'],
  [{ common_name: null }, 'species:names'],
] as const

for (const [fields, scope] of SENT)
  test(`sending ${JSON.stringify(fields)} is refused without the scope ${scope}`, async (t) => {
    const { path, body } = await makeSpecies()
    const sent = { scientific_name: body.scientific_name, ...fields }
    const batch = { operations: [{ method: 'PATCH', path, body: fields }] }
    for (const answer of [
      await reader().post('/species', { ...sent, scientific_name: 'New' }),
      await reader().put(path, sent),
      await reader().patch(path, fields),
      await reader().post('/batch', batch),
      await reader().put('/species/absent', { id: 'absent', ...sent }),
    ])
      t.true(isDenied(answer, scope), answer.text)
    t.like(await stored(path), body)
    t.is((await physician().get('/species/absent')).status, 404)
  })

for (const [input, scope] of [
  ['habitat: "x"', 'species:private'],
  ['habitat: null', 'species:private'],
  ['classification: { kingdom: "x" }', 'species:private'],
  ['temperatureRange: { maxCelsius: 1 }', 'species:climate'],
  ['commonName: "Common"', 'species:names'],
] as const)
  test(`a mutation with ${input} is refused without the scope ${scope}`, async (t) => {
    const { id, path, body } = await makeSpecies()
    const { data, errors } = await reader().graphql(`mutation {
      createSpecies(input: { scientificName: "New", ${input} }) { outcome }
      putSpecies(id: "${id}", input: { scientificName: "${body.scientific_name}", ${input} }) { outcome }
      patchSpecies(id: "${id}", patch: { ${input} }) { outcome }
    }`)
    t.deepEqual(data, { createSpecies: null, putSpecies: null, patchSpecies: null })
    t.deepEqual(
      errors?.map(({ message, extensions }) => [message, extensions.code]),
      Array(3).fill([`The token lacks the scope ${scope}.`, 'ACCESS_DENIED']),
    )
    t.like(await stored(path), body)
  })

test('read-only values sent for comparison are no way to find out a stored value', async (t) => {
  const { id } = await makeSpecies()
  const messages = async (guess: string) => {
    const { errors } = await reader().graphql(`mutation {
      patchSpecies(id: "${id}", patch: { bioluminescent: true }, readOnly: { ${guess} }) { outcome }
    }`)
    return errors?.map(({ message }) => message)
  }
  const denied = ['The token lacks the scope species:status.']
  t.deepEqual(await messages('discoveryStatus: "newly_catalogued"'), denied)
  t.deepEqual(await messages('discoveryStatus: "other"'), denied)
})

test('PUT keeps the fields that the caller cannot write, and PATCH and null leave them alone', async (t) => {
  const { path, body } = await makeSpecies()
  const { scientific_name } = body
  const answer = await reader().put(path, { scientific_name, bioluminescent: true })
  t.is(answer.status, 204)
  const { min_celsius, ...range } = body.temperature_range
  t.deepEqual(await stored(path), {
    ...body,
    temperature_range: range,
    bioluminescent: true,
    discovery_status: 'newly_catalogued',
  })
  t.is((await reader().patch(path, { temperature_range: null, bioluminescent: null })).status, 204)
  t.deepEqual((await stored(path)).temperature_range, { max_celsius: 20 })
  const { id } = await makeSpecies()
  const { data } = await reader().graphql(
    `mutation { putSpecies(id: "${id}", input: { scientificName: "Replaced ${id}" }) { outcome } }`,
  )
  t.is(data.putSpecies.outcome, 'REPLACED')
  t.like(await stored(`/species/${id}`), { common_name: 'Common', habitat: 'cave' })
})

test('a new resource gets the initial values of fields that its caller cannot write', async (t) => {
  const answer = await reader().post('/planets', { name: 'Initial' })
  t.is(answer.status, 201)
  t.false('discovery_method' in answer.body)
  t.is((await stored(`/planets/${answer.body.id}`)).discovery_method, 'Not known')
  const batch = await reader().post('/batch', {
    operations: ['One', 'Two'].map((name) => ({ method: 'POST', path: '/planets', body: { name } })),
  })
  t.is(batch.status, 200)
  t.false(batch.text.includes('discovery_method'))
})

test('a required field that needs a scope is required of callers with the scope', async (t) => {
  t.is((await physician().post('/planets', { name: 'Required' })).status, 400)
  t.is((await physician().put('/planets/required', { id: 'required', name: 'Required' })).status, 400)
  const { errors } = await physician().graphql(`mutation {
    createPlanet(input: { name: "Required" }) { outcome }
    putPlanet(id: "required", input: { name: "Required" }) { outcome }
  }`)
  t.deepEqual(
    errors?.map(({ extensions }) => extensions.details[0].code),
    ['REQUIRED_FIELD', 'REQUIRED_FIELD'],
  )
})

test('a caller with the scope writes the field', async (t) => {
  const { path, id } = await makeSpecies()
  t.is((await physician().patch(path, { habitat: 'reef', common_name: 'New' })).status, 204)
  t.like(await stored(path), { habitat: 'reef', common_name: 'New' })
  const { errors } = await physician().graphql(
    `mutation { patchSpecies(id: "${id}", patch: { habitat: "lake", classification: null }) { outcome } }`,
  )
  t.is(errors, undefined)
  t.is((await stored(path)).habitat, 'lake')
})

test('each caller has entity tags of its own, which its conditional requests accept', async (t) => {
  const { path } = await makeSpecies()
  for (const accept of ['application/json', 'application/prs.hal-forms+json']) {
    const headers = { accept }
    const tags = await Promise.all(
      [reader(), physician(), service().withScope('*:read *:write species:private')].map(async (client) => {
        const tag = (await client.get(path, headers)).headers.get('etag') ?? ''
        t.is((await client.get(path, { ...headers, 'if-none-match': tag })).status, 304)
        t.regex((await client.get(path, headers)).headers.get('vary') ?? '', /Authorization/)
        return tag
      }),
    )
    t.is(new Set(tags).size, 3, tags.join())
    const [closed = '', open = ''] = tags
    t.is((await physician().get(path, { ...headers, 'if-none-match': closed })).status, 200)
    t.is((await reader().get(path, { ...headers, 'if-none-match': open })).status, 200)
  }
})

test('the entity tag of a write is that of the next read by its caller, also after a failed precondition', async (t) => {
  const { path } = await makeSpecies()
  for (const client of [reader(), physician()]) {
    const tag = (await client.get(path)).headers.get('etag') ?? ''
    const patched = await client.patch(
      path,
      { bioluminescent: client.authorization === reader().authorization },
      { 'if-match': tag },
    )
    t.is(patched.status, 204)
    const next = (await client.get(path)).headers.get('etag')
    t.is(patched.headers.get('etag'), next)
    const failed = await client.patch(path, { bioluminescent: null }, { 'if-match': tag })
    t.is(failed.status, 409)
    t.is(failed.headers.get('etag'), next)
    const preferred = { prefer: 'return=representation', 'if-match': next ?? '' }
    const replaced = await client.patch(path, { intelligence_level: client.authorization ?? '' }, preferred)
    t.is(replaced.headers.get('etag'), (await client.get(path)).headers.get('etag'))
    t.is('habitat' in replaced.body, client.authorization !== reader().authorization)
  }
})

test('lists of callers with other scopes have other entity tags', async (t) => {
  await makeSpecies()
  for (const accept of ['application/json', 'text/csv', 'application/prs.hal-forms+json']) {
    const path = '/species?filter=id:made-1'
    const clients = [reader(), physician()]
    const tags = await Promise.all(
      clients.map(async (client) => (await client.get(path, { accept })).headers.get('etag') ?? ''),
    )
    t.is(new Set(tags).size, 2)
    for (const [index, client] of clients.entries()) {
      const statuses = tags.map(
        async (tag) => (await client.get(path, { accept, 'if-none-match': tag })).status,
      )
      t.deepEqual(await Promise.all(statuses), index === 0 ? [304, 200] : [200, 304])
    }
  }
})

test('representations with other forms have other entity tags', async (t) => {
  await makeSpecies()
  await physician().put('/planets/formed', { id: 'formed', name: 'Formed', discovery_method: 'Transit' })
  const accept = 'application/prs.hal-forms+json'
  for (const [path, scope] of [
    ['/species?filter=id:made-1', 'species:names'],
    ['/species/made-1', 'species:names'],
    ['/planets/formed', 'atmosphere:private'],
  ] as const) {
    const answers = await Promise.all(
      ['', scope].map((more) => service().withScope(`*:read *:write ${more}`).get(path, { accept })),
    )
    const [forms, tags] = [
      answers.map(({ body }) => JSON.stringify(body._templates)),
      answers.map(({ headers }) => headers.get('etag')),
    ]
    t.not(forms[0], forms[1], path)
    t.not(tags[0], tags[1], path)
  }
})

test('forms have no property that the caller must not send', async (t) => {
  const { path } = await makeSpecies()
  const accept = 'application/prs.hal-forms+json'
  const names = async (client: Client, key: string, at = path) =>
    (await client.get(at, { accept })).body._templates[key].properties.map(({ name }: Json) => name)
  for (const [key, at] of [
    ['default', path],
    ['patch', path],
    ['default', '/species?limit=1'],
  ] as const) {
    const shown = (await names(reader(), key, at)).join()
    t.regex(shown, /scientific_name.*temperature_range\.min_celsius/)
    t.notRegex(shown, /habitat|common_name|classification|max_celsius/)
    t.regex((await names(physician(), key, at)).join(), /habitat.*max_celsius/)
    t.regex((await names(physician(), key, at)).join(), /common_name/)
  }
  const { body } = await reader().get('/profile/species')
  t.true('common_name' in body.schema.properties)
  t.false('common_name' in body.input.properties || 'common_name' in body.patch.properties)
  t.true('common_name' in (await physician().get('/profile/species')).body.input.properties)
})

test('a repeated creation shows what the scopes of the repetition permit', async (t) => {
  const create = async (scope: string) => {
    const client = service().withScope(`*:write ${scope}`, 'ada')
    return (await client.post('/species', { scientific_name: 'Repeated' }, { 'idempotency-key': 'once' }))
      .body
  }
  const made = await create('species:status')
  t.is(made.discovery_status, 'newly_catalogued')
  const { discovery_status, ...others } = made
  t.deepEqual(await create(''), others)
  t.deepEqual(await create('species:status'), made)
})

test('a caller without the scope can delete, and return a representation that it read', async (t) => {
  const { path } = await makeSpecies()
  const { body } = await reader().get(path)
  const { common_name, ...sendable } = body
  t.is(common_name, 'Common')
  t.is((await reader().put(path, sendable)).status, 204)
  t.true(isDenied(await reader().put(path, body), 'species:names'))
  t.is((await reader().delete(path)).status, 204)
})

test('without a token, a field that needs a scope asks for a token', async (t) => {
  const anonymousScopes = '*:read species:climate'
  const { anonymous, withScope } = await startTestService(t, { anonymousScopes }, { domain: scopedDomain })
  const all = withScope('*:read *:write *:private *:climate *:names')
  const range = { min_celsius: 1, max_celsius: 2 }
  await all.put('/species/a', { id: 'a', scientific_name: 'A', habitat: 'x', temperature_range: range })
  const { body } = await anonymous.get('/species/a')
  t.false('habitat' in body)
  t.deepEqual(body.temperature_range, range)
  const refused = await anonymous.get('/species?sort=habitat:asc')
  t.is(refused.status, 401)
  t.regex(refused.headers.get('www-authenticate') ?? '', /^Bearer/)
  t.is((await withScope(anonymousScopes).get('/species?sort=habitat:asc')).status, 403)
  t.is((await anonymous.get('/species?sort=habitat:asc')).status, 401)
  t.is((await withScope(anonymousScopes).get('/species?sort=habitat:asc')).status, 403)
  const profile = (await anonymous.get('/profile/species')).body.schema.properties
  t.false('habitat' in profile)
  t.true('max_celsius' in profile.temperature_range.properties)
  const { errors } = await anonymous.graphql('{ species(id: "a") { habitat } }')
  t.is(errors?.[0].extensions.code, 'AUTHENTICATION_REQUIRED')
})

test('rules for rows can use a field that the caller may not read', async (t) => {
  const resources = scopedDomain.resources.map((resource) =>
    resource.path === 'species'
      ? defineResource({ ...resource, access: { read: ({ subject }) => ({ habitat: { equals: subject } }) } })
      : resource,
  )
  const service = await startTestService(t, {}, { domain: { ...scopedDomain, resources } })
  const scope = '*:read *:write'
  for (const id of ['ada', 'bob'])
    await service
      .withScope(`${scope} *:private`, id)
      .put(`/species/${id}`, { id, scientific_name: `Species ${id}`, habitat: id })
  const ada = service.withScope(scope, 'ada')
  t.is((await ada.get('/species/ada')).status, 200)
  t.is((await ada.get('/species/bob')).status, 404)
  for (const path of ['/species', '/changes', '/changes?collection=species', '/species/ada/versions']) {
    const { status, text } = await ada.get(path)
    t.is(status, 200)
    t.true(text.includes('Species ada'))
    t.false(text.includes('Species bob') || text.includes('habitat'))
  }
  const { events } = await readEvents(`${service.base}/changes`, 1, {
    authorization: ada.authorization ?? '',
  })
  t.is(events[0]?.data.resource.scientific_name, 'Species ada')
  t.is((await ada.patch('/species/ada', { bioluminescent: true })).status, 204)
  t.is((await ada.get('/species?sort=habitat:asc')).status, 403)
})

test('an atomic mutation that selects a field the caller may not read writes nothing', async (t) => {
  const create = (directive: string, name: string) =>
    reader().graphql(
      `mutation ${directive} { createSpecies(input: { scientificName: "${name}" }) { species { id habitat } } }`,
    )
  const stored = async (name: string) =>
    (await physician().get(`/species?scientific_name=${name}`)).body.total_count
  t.is((await create('@atomic', 'Undone')).errors?.[0].extensions.code, 'ACCESS_DENIED')
  t.is(await stored('Undone'), 0)
  t.is((await create('', 'Kept')).errors?.[0].extensions.code, 'ACCESS_DENIED')
  t.is(await stored('Kept'), 1)
})
