import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { Client as Ketting, type State } from 'ketting'
import type { Rule } from '../../src/domain/definition.ts'
import { SettingsError } from '../../src/service/settings/settings.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { versionedDomain } from '../helpers/domain/versioned-domain.ts'
import { openConnection, readToEnd } from '../helpers/process/raw-connection.ts'
import type { Answer, Client, Json, RequestHeaders } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test, {}, { domain: versionedDomain })

/** Requests to one version of the API; a link is taken as it is. */
function through(version: 'v1' | 'v2', client: () => Client = () => service().writer) {
  const at = (path: string) => (path.startsWith('http') ? path : `${service().origin}/api/${version}${path}`)
  const request =
    (method: string) =>
    (path: string, body?: unknown, headers: RequestHeaders = {}) =>
      client().request(method, at(path), body, headers)
  return {
    at,
    get: (path: string, headers?: RequestHeaders) => client().get(at(path), headers),
    post: request('POST'),
    put: request('PUT'),
    patch: request('PATCH'),
    delete: request('DELETE'),
  }
}

const v1 = through('v1')
const v2 = through('v2')

const codes = ({ body }: Answer): string[] =>
  body.error.details.map(({ field, code }: Json) => `${field} ${code}`)

test('a service without API_VERSION shows the newest version', (t) => {
  t.is(service().base, `${service().origin}/api/v2`)
})

test('PUT keeps the fields that its version does not have, members of objects included', async (t) => {
  const range = { min_celsius: 1, max_celsius: 20 }
  const made = await v2.put(
    '/species/keeper',
    { id: 'keeper', scientific_name: 'Custos', common_name: 'Keeper', temperature_range: range },
    {},
  )
  t.is(made.status, 201)
  t.is((await v1.get('/species/keeper')).body.intelligence_level, 'unknown')
  const sent = { scientific_name: 'Custos', habitat: 'cave', intelligence_level: 'social' }
  t.is((await v1.put('/species/keeper', sent)).status, 204)
  t.deepEqual((await v2.get('/species/keeper')).body.temperature_range, { max_celsius: 20 })
  t.false('common_name' in (await v2.get('/species/keeper')).body)
  t.is((await v2.put('/species/keeper', { scientific_name: 'Custos' })).status, 204)
  t.like((await v1.get('/species/keeper')).body, { habitat: 'cave', intelligence_level: 'social' })
  t.false('temperature_range' in (await v2.get('/species/keeper')).body)
})

test('what a version removes leaves the members of other versions', async (t) => {
  const { body } = await v2.post('/species', {
    scientific_name: 'Pars manet',
    temperature_range: { min_celsius: 1, max_celsius: 2 },
  })
  t.is((await v1.patch(`/species/${body.id}`, { temperature_range: null })).status, 204)
  t.deepEqual((await v2.get(`/species/${body.id}`)).body.temperature_range, { max_celsius: 2 })
})

test('PUT that changes nothing in its version does not change the version of the resource', async (t) => {
  const { body, headers } = await v2.post('/planets', {
    name: 'Stans',
    discovery_method: 'Transit',
    habitable: true,
  })
  const { _links, ...old } = (await v1.get(`/planets/${body.id}`)).body
  const put = await v1.put(`/planets/${body.id}`, old, { 'if-match': headers.get('etag') as string })
  t.is(put.status, 204)
  t.is(put.headers.get('etag'), headers.get('etag'))
  t.like((await v2.get(`/planets/${body.id}`)).body, { discovery_method: 'Transit', habitable: true })
})

test('checks and rules see the whole resource, whatever the version of a write', async (t) => {
  const { body } = await v2.post('/species', {
    scientific_name: 'Tota',
    temperature_range: { min_celsius: 1, max_celsius: 5 },
  })
  const path = `/species/${body.id}`
  const tooWarm = { temperature_range: { min_celsius: 6 } }
  for (const answer of [
    await v1.patch(path, tooWarm),
    await v1.put(path, { scientific_name: 'Tota', intelligence_level: 'social', ...tooWarm }),
  ]) {
    t.is(answer.status, 400)
    t.deepEqual(codes(answer), ['temperature_range.min_celsius INVALID_RANGE'])
  }
  t.is((await v1.patch(path, { temperature_range: { min_celsius: 5 } })).status, 204)
  const cold = await v1.patch(path, { temperature_range: { min_celsius: -300 } })
  t.is(cold.status, 422)
})

test('a check does not see a version that lacks fields it needs', async (t) => {
  const isWhole: Rule = ({ temperature_range: range }) =>
    range && !('max_celsius' in (range as object))
      ? [{ field: 'temperature_range.max_celsius', code: 'REQUIRED_FIELD', message: 'It needs a maximum.' }]
      : []
  const resources = versionedDomain.resources.map((one) =>
    one.path === 'species' ? { ...one, checks: [isWhole] } : one,
  )
  const own = await startTestService(t, {}, { domain: { ...versionedDomain, resources } })
  const send = (version: string, method: string, path: string, body: object) =>
    own.writer.request(method, `${own.origin}/api/${version}/species${path}`, body)
  const range = { min_celsius: 1, max_celsius: 5 }
  const created = await send('v2', 'PUT', '/whole', {
    id: 'whole',
    scientific_name: 'Whole',
    temperature_range: range,
  })
  t.is(created.status, 201, created.text)
  const part = { intelligence_level: 'social', temperature_range: { min_celsius: 2 } }
  t.is((await send('v1', 'PUT', '/whole', { scientific_name: 'Whole', ...part })).status, 204)
  t.is((await send('v1', 'PATCH', '/whole', { temperature_range: { min_celsius: 3 } })).status, 204)
  for (const version of ['v1', 'v2']) {
    const { status, body } = await send(version, 'POST', '', {
      scientific_name: `Part of ${version}`,
      temperature_range: { min_celsius: 2 },
      ...(version === 'v1' && { intelligence_level: 'social' }),
    })
    t.deepEqual([status, body.error.details[0].code], [400, 'REQUIRED_FIELD'], version)
  }
})

test.serial('lists have the items of their version; filters and sorts of others are unknown', async (t) => {
  for (const name of ['A', 'B', 'C']) {
    await v2.post('/planets', { name: `Ordinata ${name}`, discovery_method: 'Ordo', habitable: name !== 'A' })
  }
  const names = ({ body }: Answer) => body._embedded.planets.map(({ name }: Json) => name)
  const query =
    '/planets?filter=discovery_method:Ordo&filter=habitable:true&sort=habitable:asc,name:desc&limit=1'
  const first = await v2.get(query)
  t.deepEqual(names(first), ['Ordinata C'])
  t.deepEqual(names(await v2.get(first.body._links.next.href)), ['Ordinata B'])
  for (const refused of ['filter=habitable:true', 'sort=habitable:asc', 'habitable=true']) {
    const answer = await v1.get(`/planets?${refused}`)
    t.is(answer.status, 400, refused)
    t.regex(codes(answer)[0] as string, /UNKNOWN_(?:FIELD|PARAMETER)/)
    t.notRegex(answer.body.error.message, /there are .*habitable/)
  }
  const old = await v1.get('/planets?filter=name[contains]:Ordinata&sort=name:asc&limit=2')
  t.is(old.body.total_count, 3)
  const next = await v1.get(old.body._links.next.href)
  t.deepEqual([...names(old), ...names(next)], ['Ordinata A', 'Ordinata B', 'Ordinata C'])
  for (const item of old.body._embedded.planets) t.false('habitable' in item || 'discovery_method' in item)
})

/** Every URL in a document. */
const urlsIn = (document: Json): string[] =>
  [...JSON.stringify(document).matchAll(/https?:\/\/[^"]+/g)].map(([url]) => url)

test('fields and embed have the names of their version, and embed what it shows', async (t) => {
  const planet = (await v2.post('/planets', { name: 'Embedda', discovery_method: 'Transit' })).body.id
  await v1.post('/species', {
    scientific_name: 'Embeddi',
    habitat: 'reef',
    intelligence_level: 'social',
    planet_origin: planet,
  })
  const old = await v1.get(`/planets/${planet}?fields=name,host_star&embed=species`)
  const items = old.body._embedded?.species._embedded.species
  t.deepEqual([old.status, items.length, items[0].habitat], [200, 1, 'reef'])
  t.true(items[0]._links.self.href.includes('/api/v1/species/'))
  t.is((await v1.get('/species?embed=planet&fields=habitat&limit=1')).status, 200)
  for (const [client, refused] of [
    [v1, `/planets/${planet}?fields=habitable`],
    [v1, '/planets?fields=name,discovery_method'],
    [v2, `/planets/${planet}?embed=species`],
    [v2, '/species?embed=planet'],
  ] as const) {
    const { status, body } = await client.get(refused)
    t.deepEqual([status, body.error.code], [400, 'INVALID_QUERY_PARAMETER'], refused)
  }
})

// Alone, because it reads lists to which other tests add.
test.serial('links stay in the version, and are those of its fields', async (t) => {
  const ship = await v1.post('/spacecraft', { name: 'Nexus', kind: 'lander' })
  const planet = await v1.post('/planets', { name: 'Nexa' })
  const mission = await v1.post('/missions', { name: 'Ligata', spacecraft_id: ship.body.id })
  await v1.post(`/planets/${planet.body.id}/moons`, { name: 'Luna nexa' })
  t.is(mission.status, 201)
  t.is(mission.body._links.spacecraft.href, v1.at(`/spacecraft/${ship.body.id}`))
  t.false('spacecraft' in (await v2.get(`/missions/${mission.body.id}`)).body._links)
  t.true('missions' in (await v1.get(`/spacecraft/${ship.body.id}`)).body._links)
  t.false('missions' in (await v2.get(`/spacecraft/${ship.body.id}`)).body._links)
  t.is((await v1.get(`/planets/${planet.body.id}/species`)).status, 200)
  t.is((await v2.get(`/planets/${planet.body.id}/species`)).status, 404)
  for (const version of [v1, v2]) {
    const paths = ['', '/planets', `/planets/${planet.body.id}`, `/planets/${planet.body.id}/moons`]
    for (const path of [...paths, '/missions', `/missions/${mission.body.id}`]) {
      const { body, headers, status } = await version.get(path)
      t.is(status, 200, path)
      t.true(urlsIn(body).length > 0)
      for (const url of urlsIn(body)) t.true(url.startsWith(version.at('')), `${path}: ${url}`)
      const described = /<([^>]+)>; rel="(?:describedby|service-desc)"/.exec(headers.get('link') as string)
      t.true(described?.[1]?.startsWith(version.at('')), path)
    }
  }
})

test.serial('an idempotency key that was used in one version is refused in another', async (t) => {
  const headers = { 'idempotency-key': 'one key, two versions'.replaceAll(' ', '-') }
  const body = { name: 'Semel creata' }
  const first = await v1.post('/planets', body, headers)
  t.is(first.status, 201, first.text)
  const again = await v1.post('/planets', body, headers)
  t.is(again.body.id, first.body.id)
  const other = await v2.post('/planets', { ...body, discovery_method: 'Not known' }, headers)
  t.is(other.status, 422)
  t.deepEqual(codes(other), ['idempotency_key IDEMPOTENCY_KEY_REUSED'])
})

const DEPRECATION = { deprecation: '@1688169599', sunset: 'Wed, 01 Jan 2031 00:00:00 GMT' }
const deprecationOf = ({ headers }: Answer) => ({
  deprecation: headers.get('deprecation'),
  sunset: headers.get('sunset'),
})
const successorOf = ({ headers }: Answer) =>
  /<([^>]+)>; rel="successor-version"/.exec(headers.get('link') ?? '')?.[1]

test('every response of a deprecated version has Deprecation, Sunset and a link to its successor', async (t) => {
  const { anonymous, withScope } = service()
  const { body, headers } = await v1.post('/planets', { name: 'Obsoleta' })
  const path = `/planets/${body.id}`
  const unknown = { 'if-none-match': headers.get('etag') as string }
  const answers: [status: number, path: string, Answer][] = [
    [200, path, await v1.get(path)],
    [304, path, await v1.get(path, unknown)],
    [200, '/planets', await v1.get('/planets?limit=1')],
    [201, '/planets', await v1.post('/planets', { name: 'Obsoletior' })],
    [204, path, await v1.patch(path, { host_star: 'Sol' })],
    [400, path, await v1.patch(path, { habitable: true })],
    [400, path, await v1.get(`${path}?colour=blue`)],
    [404, '/planets/none', await v1.get('/planets/none')],
    [405, path, await v1.post(path, {})],
    [406, path, await v1.get(path, { accept: 'image/png' })],
    [401, path, await anonymous.get(v1.at(path))],
    [403, path, await withScope('moons:read').get(v1.at(path))],
    [200, '', await v1.get('')],
    [200, '/openapi.json', await anonymous.get(v1.at('/openapi.json'))],
    [200, '/profile/planets', await anonymous.get(v1.at('/profile/planets'))],
    [200, path, await anonymous.get(v1.at(path), { accept: 'text/html' })],
    [
      204,
      path,
      await anonymous.options(v1.at(path), { 'access-control-request-method': 'PUT', origin: 'http://x' }),
    ],
    [200, path, await service().writer.head(v1.at(path))],
  ]
  for (const [status, at, answer] of answers) {
    t.is(answer.status, status, at)
    t.deepEqual(deprecationOf(answer), DEPRECATION, `${status} ${at}`)
    t.is(successorOf(answer), v2.at(at), `${status} ${at}`)
  }
})

test('the successor of what the next version does not have is its entry document', async (t) => {
  const { body } = await v1.post('/planets', { name: 'Sine heredibus' })
  t.is(successorOf(await v1.get(`/planets/${body.id}/species`)), v2.at(''))
  const nowhere = await v1.get('/nowhere/at/all')
  t.is(nowhere.status, 404)
  t.is(successorOf(nowhere), v2.at(''))
  t.deepEqual(deprecationOf(nowhere), DEPRECATION)
})

test('a response without a valid host has the dates, but no link', async (t) => {
  const socket = await openConnection(service().origin)
  const response = readToEnd(socket)
  socket.write('GET /api/v1/planets HTTP/1.1\r\nHost: "><script>\r\nConnection: close\r\n\r\n')
  const text = await response
  t.regex(text, /^HTTP\/1.1 400 .*\r\nDeprecation: @1688169599\r\n/s)
  t.notRegex(text, /successor-version/)
})

test('a path with characters that headers cannot have is escaped in the link to its successor', async (t) => {
  const answer = await v1.get('/planets/%C3%A9%3E%3Crel')
  t.is(answer.status, 404)
  t.is(successorOf(answer), v2.at('/planets/%C3%A9%3E%3Crel'))
})

test('versions that are not deprecated, unknown versions and other paths send none of these headers', async (t) => {
  const { reader, origin } = service()
  const paths = [
    '/api/v2/planets',
    '/api/v2/none',
    '/api/v9/planets',
    '/api/v11',
    '/errors',
    '/docs',
    '/health',
  ]
  for (const path of paths) {
    const answer = await reader.get(origin + path)
    t.deepEqual(deprecationOf(answer), { deprecation: null, sunset: null }, path)
    t.is(successorOf(answer), undefined, path)
  }
  t.is((await reader.get(`${origin}/api/v9/planets`)).status, 404)
})

test('scripts of other origins may read the headers of a deprecation', async (t) => {
  const { headers } = await v1.get('/planets', { origin: 'https://dashboard.example' })
  t.true(headers.has('deprecation'))
  t.is(headers.get('access-control-expose-headers'), '*')
})

test('API_VERSION chooses the version that pages show, and must be one of the domain', async (t) => {
  const { base, anonymous, origin } = await startTestService(
    t,
    { apiVersion: 'v1' },
    { domain: versionedDomain },
  )
  t.is(base, `${origin}/api/v1`)
  const html = { accept: 'text/html' }
  t.regex((await anonymous.get(`${origin}/docs`, html)).text, /content="[^"]+\/api\/v1"/)
  t.regex((await anonymous.get(`${origin}/docs/v2`, html)).text, /content="[^"]+\/api\/v2"/)
  t.regex((await anonymous.get(`${origin}/errors`, html)).text, /href="[^"]+\/api\/v1\/openapi.json"/)
  const refused = startTestService(t, { apiVersion: 'v3' }, { domain: versionedDomain })
  const { message } = (await t.throwsAsync(refused, { instanceOf: SettingsError })) as Error
  t.regex(message, /API_VERSION: the domain has the versions v1, v2, not v3/)
})

test('the catalogue of interfaces has every version, with its own reference', async (t) => {
  const { anonymous, origin } = service()
  const [{ item }, ...interfaces] = (await anonymous.get(`${origin}/.well-known/api-catalog`)).body.linkset
  const addresses = [v1.at(''), v2.at(''), `${origin}/graphql`]
  t.deepEqual(
    item,
    addresses.map((href) => ({ href })),
  )
  const references = interfaces.slice(0, 2).map((one: Json) => one['service-doc'][0].href)
  t.deepEqual(references, [`${origin}/docs/v1`, `${origin}/docs/v2`])
})

test('two HAL clients, one in each version, work on the same resources', async (t) => {
  const clients = ([v1, v2] as const).map((version) => {
    const client = new Ketting(version.at(''))
    client.use((request, next) => {
      request.headers.set('Authorization', service().writer.authorization as string)
      return next(request)
    })
    return client
  })
  const [old, now] = clients as [Ketting, Ketting]
  const made = await (await old.follow('planets')).postFollow({ data: { name: 'Communis' } })
  const found: State<Json> = await (
    await (await now.follow('planets')).follow('find', { id: made.uri.split('/').at(-1) as string })
  ).get()
  const [item] = found.followAll('planets')
  const inNew = item as NonNullable<typeof item>
  const data = ((await inNew.refresh()) as State<Json>).data
  await inNew.put({ data: { ...data, habitable: true } })
  const inOld: State<Json> = await made.refresh()
  t.false('habitable' in inOld.data)
  await made.put({ data: { ...inOld.data, host_star: 'Vega' } })
  const successor: State<Json> = await (
    await ((await made.get()) as State<Json>).follow('successor-version')
  ).refresh()
  t.like(successor.data, { name: 'Communis', host_star: 'Vega', habitable: true })
})

test('the documents of a version are valid, and describe its view', async (t) => {
  const folder = await createTestFolder(t)
  const linter = fileURLToPath(new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  for (const [name, version] of Object.entries({ v1, v2 })) {
    const { body } = await version.get('/openapi.json')
    const file = join(folder, `${name}.json`)
    await writeFile(file, JSON.stringify(body))
    const command = [linter, 'lint', '--extends=recommended', '--format=json', file]
    const { stdout } = await promisify(execFile)(process.execPath, command, { env, cwd: folder })
    t.deepEqual(JSON.parse(stdout.slice(stdout.indexOf('{'))).problems, [], name)
    const isOld = name === 'v1'
    t.is(body.info.version, name.slice(1))
    t.is(/deprecated since 2023-06-30 and will be removed on 2031-01-01\./.test(body.info.description), isOld)
    const profile = await version.get('/profile/species')
    const { schemas } = body.components
    for (const schema of [{ ...schemas.SpeciesPatch, ...schemas.SpeciesInput }, profile.body.input]) {
      t.is('habitat' in schema.properties, isOld)
      t.is('max_celsius' in schema.properties.temperature_range.properties, !isOld)
      t.is(schema.required.includes('intelligence_level'), isOld)
    }
    t.is('habitable' in schemas.PlanetFields.properties, !isOld)
    for (const [path, item] of Object.entries<Json>(body.paths)) {
      t.regex(path, new RegExp(`^/(?:api/${name}|errors|\\.well-known)(?:/|$)`))
      const { get } = item
      t.is(get?.deprecated, isOld && get && path.startsWith('/api') ? true : undefined, path)
    }
    t.is('SunsetHeader' in body.components.headers, isOld)
    const page = await service().anonymous.get(version.at(''), { accept: 'text/html' })
    t.true(page.text.includes(`${service().origin}/docs/${name}"`))
  }
})
