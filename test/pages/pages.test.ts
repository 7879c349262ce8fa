import test from 'ava'
import { domain } from '../helpers/domain/domain.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const HTML = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

test('a browser gets the same empty page for existing and missing resources, without a token', async (t) => {
  const { anonymous, writer } = service()
  const { body } = await writer.post('/planets', { name: 'Shell' })
  const known = await anonymous.get(`/planets/${body.id}`, HTML)
  const unknown = await anonymous.get('/nowhere/there', HTML)
  t.is(known.status, 200)
  t.is(known.headers.get('content-type'), 'text/html; charset=utf-8')
  t.is(known.text, unknown.text)
  t.false(known.text.includes(body.id))
  t.regex(known.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/)
})

test('a client that does not rank HTML first gets JSON, and needs a token', async (t) => {
  const { anonymous, reader } = service()
  t.is((await anonymous.get('/planets', { accept: '*/*' })).status, 401)
  t.is((await anonymous.get('/planets', { accept: 'application/json, text/html' })).status, 401)
  const answer = await reader.get('/planets', { accept: 'text/html;q=0.5, application/hal+json' })
  t.is(answer.headers.get('content-type'), 'application/hal+json')
  t.is((await anonymous.post('/planets', {}, HTML)).status, 401)
  t.is((await reader.get('/planets', { accept: 'text/html' })).status, 406)
})

test('the operation behind a response is shown on request, and does the same at /graphql', async (t) => {
  const { writer } = service()
  const name = 'Sønderborg ☄'
  const { body } = await writer.post('/planets', { name })
  t.is((await writer.get(`/planets/${body.id}`)).headers.get('graphql-operation'), null)
  const answer = await writer.get(`/planets/${body.id}`, { prefer: 'graphql-operation' })
  t.is(answer.headers.get('preference-applied'), 'graphql-operation')
  const operation = JSON.parse(answer.headers.get('graphql-operation') ?? '')
  t.is((await writer.graphql(operation.query, operation.variables)).data.resource.name, name)
  const list = await writer.get(`/planets?filter=name:${encodeURIComponent(name)}`, {
    prefer: 'graphql-operation',
  })
  const { variables } = JSON.parse(list.headers.get('graphql-operation') ?? '')
  t.deepEqual(variables.filter, { and: [{ name: { equals: name } }] })
})

test('a browser gets a page at an unknown address, and another client has to send a token', async (t) => {
  const { anonymous, reader, origin } = service()
  for (const path of ['/nowhere', '/errors/NO_SUCH_CODE', '/<b>/%ZZ']) {
    const { status, text, headers } = await anonymous.get(origin + path, HTML)
    t.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8'], path)
    t.true(text.includes('<h1>Not found</h1>') && !text.includes('<b>'), path)
    t.regex(text, /<a href="[^"]*\/api\/v1\/planets">Planets<\/a>/)
    t.is((await anonymous.get(origin + path)).status, 401, path)
    t.is((await reader.get(origin + path)).status, 404, path)
  }
  t.is((await anonymous.post(`${origin}/nowhere`, {}, HTML)).status, 401)
})

test('the root is a page for browsers only, and addresses that people guess lead to the pages', async (t) => {
  const { anonymous, origin, base } = service()
  t.regex((await anonymous.get(`${origin}/`, HTML)).text, /<h1>/)
  t.is((await anonymous.get(`${origin}/`)).status, 401)
  for (const [from, to] of [
    ['/docs/', `${origin}/docs`],
    ['/errors/', `${origin}/errors`],
    ['/graphql/', `${origin}/graphql`],
    ['/model/', `${origin}/model`],
    ['/openapi.json', `${base}/openapi.json`],
  ] as const) {
    const { status, headers } = await anonymous.get(origin + from)
    t.deepEqual([status, headers.get('location')], [308, to])
  }
})

test('the page of the model names the operations of a type', async (t) => {
  const { text } = await service().anonymous.get(`${service().origin}/model`, HTML)
  t.regex(text, /<p>Operations: <code>\w+<\/code>, <code>\w+<\/code>/)
})

test('the operations of the charts are within the limits, for every collection', async (t) => {
  const { anonymous, reader, origin } = service()
  const { body } = await anonymous.get(`${origin}/docs/assets/charts.json`)
  t.true(body.length > 5)
  const totals = body.flatMap(({ aggregate, latest }: Json) => [
    `${aggregate} { groups { count } }`,
    latest ?? '',
  ])
  t.is((await reader.graphql(`{ ${totals.join(' ')} }`)).errors, undefined)
  for (const { query, charts, numbers, ranges, title } of body) {
    const { data, errors } = await reader.graphql(query)
    t.is(errors, undefined, title)
    t.true(charts.every(({ name }: Json) => Array.isArray(data[name].groups)))
    if (numbers.length === 0) continue
    const bounds = numbers.map((_: Json, index: number) => [`bounds${index}`, [0, 1]])
    const counted = await reader.graphql(ranges.query, Object.fromEntries(bounds))
    t.is(counted.errors, undefined, title)
    t.is(Object.keys(counted.data).length, numbers.length)
  }
})

test('the ranges of a histogram have round bounds around the least and the greatest value, and labels of their own', async (t) => {
  const { rangesOf } = await import('../../src/pages/browser/histogram.js')
  const cases: [boolean, number, number, string][] = [
    [true, 1992, 2031, '1990 – 1999, 2000 – 2009, 2010 – 2019, 2020 – 2029, 2030 – 2039'],
    [true, 0, 3, '0, 1, 2, 3'],
    [true, 7, 7, '7'],
    [false, 0.5, 0.5, '0.5'],
    [false, -10, 10, '-10 – -5, -5 – 0, 0 – 5, 5 – 10'],
    [false, 0.3, 0.72, '0.3 – 0.4, 0.4 – 0.5, 0.5 – 0.6, 0.6 – 0.7, 0.7 – 0.8'],
    [false, 2, 4000, '1 – 10, 10 – 100, 100 – 1000, 1000 – 10,000'],
  ]
  for (const [isInteger, least, greatest, expected] of cases)
    t.is(rangesOf(isInteger, least, greatest, 8).labels.join(', '), expected)
  const extremes = [
    [5e-324, 1e-323],
    [-1.7e308, 1.7e308],
    [1e-300, 1e300],
    [1e15, 1e15 + 0.5],
  ] as const
  for (const [least, greatest] of extremes) {
    const { bounds, labels } = rangesOf(false, least, greatest, 8)
    t.is(bounds.length, labels.length + 1)
    t.true(labels.length <= 8 && new Set(labels).size === labels.length, labels.join())
    t.true(bounds.every((bound, index) => Number.isFinite(bound) && bound > (bounds[index - 1] ?? -Infinity)))
    t.true((bounds[0] as number) <= least && (bounds.at(-1) as number) >= greatest, bounds.join())
  }
})

test('texts in pages are escaped, both quotes included', async (t) => {
  const texts = { title: `"Best" & <i>cat's</i>`, description: `'"&<>` }
  const { anonymous, origin, base } = await startTestService(t, {}, { domain: { ...domain, ...texts } })
  const title = '&#34;Best&#34; &#38; &#60;i&#62;cat&#39;s&#60;/i&#62;'
  for (const path of [`${origin}/`, base, `${origin}/errors`]) {
    const page = await anonymous.get(path, HTML)
    t.true(page.text.includes(`&ndash; ${title}</title>`), path)
    t.true(page.text.includes(`/">${title}</a>`), path)
  }
  t.true((await anonymous.get(`${origin}/`, HTML)).text.includes('<p>&#39;&#34;&#38;&#60;&#62;</p>'))
})

test('every code of an error and of a detail is in the catalogue, with a response, as JSON and as a page', async (t) => {
  const { anonymous, origin } = service()
  const { body } = await anonymous.get(`${origin}/errors`)
  t.true(body.errors.length > 30)
  for (const entry of body.errors) {
    const { body: single } = await anonymous.get(entry.href)
    t.deepEqual(single, entry)
    t.true(entry.cause.length > 10 && entry.remedy.length > 10)
    t.regex(entry.response, new RegExp(`"code": "${entry.code}"`))
  }
  const page = await anonymous.get(`${origin}/errors/RESOURCE_GONE`, HTML)
  t.regex(page.text, /<h1><code>RESOURCE_GONE<\/code><\/h1>/)
  t.is((await anonymous.get(`${origin}/errors/NO_SUCH_CODE`)).status, 401)
  t.is((await anonymous.post(`${origin}/errors`)).status, 405)
})

test('labels and units are the same in profiles, forms, charts and the OpenAPI document', async (t) => {
  const { anonymous, writer, origin } = service()
  const { schema } = (await anonymous.get('/profile/species')).body
  const { min_celsius } = schema.properties.temperature_range.properties
  t.like(min_celsius, { title: 'Minimum', 'x-unit': '°C' })
  t.is(schema.properties.scientific_name.title, 'Scientific name')
  const label = 'Temperature range: Minimum (°C)'
  const form = await writer.get('/species', { accept: 'application/prs.hal-forms+json' })
  const { properties } = form.body._templates.default
  t.is(properties.find(({ name }: Json) => name === 'temperature_range.min_celsius').prompt, label)
  const { body: charts } = await anonymous.get(`${origin}/docs/assets/charts.json`)
  t.true(charts[0].numbers.some(({ title }: Json) => title === label))
  const { components } = (await anonymous.get('/openapi.json')).body
  for (const name of ['PlanetFields', 'PlanetPatch'])
    t.like(components.schemas[name].properties.distance_parsecs, { title: 'Distance', 'x-unit': 'parsecs' })
})

test('a profile says where the names of references are', async (t) => {
  const { anonymous } = service()
  const profile = async (path: string) => (await anonymous.get(`/profile/${path}`)).body
  const planet = { path: 'planets', name_field: 'name' }
  t.is((await profile('species')).name_field, 'scientific_name')
  t.deepEqual((await profile('species')).references, { planet_origin: { ...planet, relation: 'planet' } })
  t.deepEqual((await profile('moons')).references, { planet_id: { ...planet, relation: 'parent' } })
  t.like((await profile('missions')).references.destination_planet_id, { ...planet, relation: 'destination' })
})

test('a browser gets the explorer without a token, and it loads nothing from third parties', async (t) => {
  const { anonymous, origin } = service()
  const page = await anonymous.get(`${origin}/graphql`, HTML)
  t.is(page.status, 200)
  t.regex(page.headers.get('content-type') ?? '', /^text\/html/)
  t.regex(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self';/)
  const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string)
  t.true(addresses.every((address) => new URL(address, origin).origin === origin || address === 'data:,'))
  const files = addresses.filter((one) => /^(docs\/assets|graphql\/explorer)\//.test(one))
  t.true(files.length >= 5)
  for (const address of files) {
    const file = await anonymous.get(`${origin}/${address}`)
    t.is(file.status, 200, address)
    const again = await anonymous.get(`${origin}/${address}`, {
      'if-none-match': file.headers.get('etag') as string,
    })
    t.is(again.status, 304, address)
  }
})

test('other clients than browsers get no page', async (t) => {
  const { anonymous, origin } = service()
  const answer = await anonymous.get(`${origin}/graphql`)
  t.is(answer.status, 401)
  t.is(answer.headers.get('www-authenticate'), 'Bearer')
  t.is(answer.body.errors[0].extensions.code, 'AUTHENTICATION_REQUIRED')
})

test('every example fits the schema', async (t) => {
  const { anonymous, reader, origin } = service()
  const { body } = await anonymous.get(`${origin}/graphql/explorer/examples.json`)
  t.true(body.length > 5)
  for (const { title, document } of body) {
    const { errors } = await reader.graphql(document)
    // That of missing variables, or of the type of the response, which are checked after the document.
    const isOfRequest = errors?.every(({ message }) =>
      /^Variable "\$|^Too many errors processing variables|^A subscription needs/.test(message),
    )
    t.true(errors === undefined || isOfRequest, `${title}: ${JSON.stringify(errors)}`)
  }
})

test('without the setting there is no explorer', async (t) => {
  const { anonymous, origin } = await startTestService(t, { graphqlExplorer: false })
  t.is((await anonymous.get(`${origin}/graphql`, HTML)).status, 401)
  t.is((await anonymous.get(`${origin}/graphql/explorer/explorer.js`)).status, 401)
})
