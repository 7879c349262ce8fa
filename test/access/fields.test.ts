import test from 'ava'
import { scopedDomain } from '../helpers/domain/scoped-domain.ts'
import type { Answer, Client, Json } from '../helpers/service/client.ts'
import { readEvents } from '../helpers/service/read-events.ts'
import { shareTestService } from '../helpers/service/service.ts'
import { subscribe } from '../helpers/service/subscribe.ts'

const service = shareTestService(test, {}, { domain: scopedDomain })

const SECRET = 'Spelunca abscondita'

const PLANET = { mass_jupiters: 4321.5, discovery_method: 'Transit' }

/** Reads and writes all collections, but no field that needs a scope. */
const reader = () => service().writer
/** Has all scopes of fields, too. */
const physician = () =>
  service().withScope('*:read *:write *:private *:climate *:origin *:fleet *:status *:names moons:unknown')

test.serial.before(async () => {
  const all = physician()
  const made = [
    await all.put('/planets/arca', { id: 'arca', ...PLANET, name: 'Arca', discovery_year: 1999 }),
    await all.put('/spacecraft/navis', { id: 'navis', name: 'Navis', kind: 'capsule', crew_capacity: 7 }),
    await all.put('/missions/iter', { id: 'iter', name: 'Iter', spacecraft_id: 'navis' }),
    await all.put('/species/talpa', {
      id: 'talpa',
      scientific_name: 'Talpa',
      habitat: SECRET,
      planet_origin: 'arca',
      classification: { kingdom: SECRET, class: 'Mammalia' },
      temperature_range: { min_celsius: 3, max_celsius: 4321.5 },
    }),
    await all.put('/species/other', { id: 'other', scientific_name: 'Other', habitat: 'elsewhere' }),
  ]
  for (const { status, text } of made) if (status !== 201) throw new Error(text)
})

const HIDDEN = [
  SECRET,
  '4321.5',
  'habitat',
  'classification',
  'max_celsius',
  'planet_origin',
  'maxCelsius',
  'discovery_status',
]

/** The hidden names and values in a text. */
const shown = (text: string) => HIDDEN.filter((one) => text.includes(one))

const ACCEPTS = ['application/json', 'application/hal+json', 'application/prs.hal-forms+json']

for (const accept of [...ACCEPTS, 'text/csv', 'application/x-ndjson'])
  test(`a list in ${accept} has no field whose scope the caller lacks`, async (t) => {
    const path = '/species?filter=id:talpa'
    t.deepEqual(shown((await reader().get(path, { accept })).text), [])
    const { text } = await physician().get(path, { accept })
    t.true(shown(text).length >= 6, text)
  })

for (const accept of ACCEPTS)
  test(`a resource in ${accept} has no field, form property or link that needs another scope`, async (t) => {
    t.deepEqual(shown((await reader().get('/species/talpa', { accept })).text), [])
    t.true(shown((await physician().get('/species/talpa', { accept })).text).length >= 6)
    t.false((await reader().get('/missions/iter', { accept })).text.includes('spacecraft'))
    t.true((await physician().get('/missions/iter', { accept })).text.includes('/spacecraft/navis'))
    t.false((await reader().get('/spacecraft/navis', { accept })).text.includes('missions'))
    t.true((await physician().get('/spacecraft/navis', { accept })).text.includes('missions'))
  })

test('a scope of a field is that of its collection, or of all', async (t) => {
  const habitat = async (scope: string) =>
    (await service().withScope(`*:read ${scope}`).get('/species/talpa')).body.habitat
  t.is(await habitat('species:private'), SECRET)
  t.is(await habitat('*:private'), SECRET)
  t.is(await habitat('planets:private'), undefined)
  t.is(await habitat('private'), undefined)
  t.is((await service().withScope('species:private').get('/species/talpa')).status, 403)
})

test('an embedded resource has no field whose scope the caller lacks', async (t) => {
  const path = '/planets/arca?embed=moons,atmosphere'
  t.false((await reader().get(path)).text.includes('4321.5'))
  t.is((await reader().get('/species?embed=planet')).status, 400)
  const embedded = (await physician().get('/species/talpa?embed=planet')).body._embedded.planet
  t.is(embedded.mass_jupiters, 4321.5)
  const origin = await service().withScope('*:read species:origin').get('/species/talpa?embed=planet')
  t.is(origin.body._embedded.planet.name, 'Arca')
  t.false('mass_jupiters' in origin.body._embedded.planet)
})

const denied = (scope: string) => ({
  status: 403,
  code: 'ACCESS_DENIED',
  message: `The token lacks the scope ${scope}.`,
})

const refusal = ({ status, body }: Answer) => ({ status, ...body.error }) as Json

for (const [path, scope] of [
  ['/species?fields=habitat', 'species:private'],
  ['/species/talpa?fields=id,habitat', 'species:private'],
  ['/species/talpa?fields=classification', 'species:private'],
  ['/species/talpa?fields=classification.kingdom', 'species:private'],
  ['/species?fields=temperature_range.max_celsius', 'species:climate'],
  ['/species?sort=habitat:desc', 'species:private'],
  ['/species?sort=scientific_name:asc,temperature_range.max_celsius:asc', 'species:climate'],
  ['/species?filter=habitat:x', 'species:private'],
  ['/species?filter=habitat[set]:true', 'species:private'],
  ['/species?filter=habitat[nonsense]:true', 'species:private'],
  ['/species?habitat=x', 'species:private'],
  ['/species?classification.kingdom=x', 'species:private'],
  ['/missions?spacecraft_id=navis', 'missions:fleet'],
  ['/planets/arca/species', 'species:origin'],
  ['/planets/arca/moons?sort=radius_kilometres:asc', 'moons:private'],
] as const)
  test(`${path} is refused without the scope ${scope}`, async (t) => {
    t.like(refusal(await reader().get(path)), denied(scope))
    const csv = await reader().get(path, { accept: 'text/csv, application/json;q=0.1' })
    t.like(refusal(csv), denied(scope))
    t.not((await physician().get(path)).status, 403)
  })

test('a group shows the members that need no scope', async (t) => {
  const { body } = await reader().get('/species/talpa?fields=temperature_range')
  t.deepEqual(body.temperature_range, { min_celsius: 3 })
})

test('hints do not name fields that need a scope', async (t) => {
  for (const path of [
    '/species?filter=nonsense:1',
    '/species?sort=nonsense:asc',
    '/species?fields=nonsense',
  ]) {
    const answer = await reader().get(path)
    t.is(answer.status, 400)
    t.deepEqual(shown(answer.text), [])
  }
  const answer = await reader().post('/species', { scientific_name: 'Hint', nonsense: 1 })
  t.is(answer.status, 400)
  t.deepEqual(shown(answer.text), [])
})

test('a search does not look at fields whose scope the caller lacks', async (t) => {
  const found = async (client: Client) => (await client.get('/species?q=abscondita')).body.total_count
  t.is(await found(reader()), 0)
  t.is(await found(physician()), 1)
  const query =
    '{ speciesPage(search: "abscondita") { totalCount } speciesAggregate(search: "SPELUNCA") { groups { count } } }'
  t.deepEqual((await reader().graphql(query)).data, {
    speciesPage: { totalCount: 0 },
    speciesAggregate: { groups: [{ count: 0 }] },
  })
  t.is((await physician().graphql(query)).data.speciesPage.totalCount, 1)
})

test('in GraphQL, a field whose scope the caller lacks is null, with an error at its path', async (t) => {
  const query = `{ species(id: "talpa") {
    scientificName habitat classification { kingdom } temperatureRange { minCelsius maxCelsius } planet { id } planetId
    alias: habitat
  } }`
  const { data, errors } = await reader().graphql(query)
  t.deepEqual(data.species, {
    scientificName: 'Talpa',
    habitat: null,
    classification: null,
    temperatureRange: { minCelsius: 3, maxCelsius: null },
    planet: null,
    planetId: null,
    alias: null,
  })
  const paths = errors?.map(({ path, message, extensions }) => [
    path.slice(1).join('.'),
    message,
    extensions.code,
  ])
  const error = (path: string, scope: string) => [
    path,
    `The token lacks the scope species:${scope}.`,
    'ACCESS_DENIED',
  ]
  t.deepEqual(paths?.sort(), [
    error('alias', 'private'),
    error('classification', 'private'),
    error('habitat', 'private'),
    error('planet', 'origin'),
    error('planetId', 'origin'),
    error('temperatureRange.maxCelsius', 'climate'),
  ])
  const all = await physician().graphql(query)
  t.is(all.errors, undefined)
  t.like(all.data.species, { habitat: SECRET, planet: { id: 'arca' } })
})

test('a group does not show whether members that need a scope are set', async (t) => {
  const query = '{ species(id: "hot") { temperatureRange { minCelsius } } }'
  const made = { id: 'hot', scientific_name: 'Hot', temperature_range: { max_celsius: 99 } }
  t.is((await physician().put('/species/hot', made)).status, 201)
  t.is((await reader().graphql(query)).data.species.temperatureRange, null)
  t.deepEqual((await physician().graphql(query)).data.species.temperatureRange, { minCelsius: null })
  t.false('temperature_range' in (await reader().get('/species/hot')).body)
})

test('a field that is always set and needs a scope is nullable in GraphQL, and its item stays', async (t) => {
  const named = 'filter: { name: { equals: "Arca" } }'
  const { data } = await reader().graphql(`{ planetPage(${named}) { items { id discoveryMethod } } }`)
  t.deepEqual(data.planetPage.items, [{ id: 'arca', discoveryMethod: null }])
})

test('the Node interface and nested resources are no way to a field that needs a scope', async (t) => {
  const { data } = await reader().graphql('{ planet(id: "arca") { nodeId } }')
  const node = await reader().graphql(
    `{ node(nodeId: "${data.planet.nodeId}") { ... on Planet { name massJupiters } } }`,
  )
  t.deepEqual(node.data.node, { name: 'Arca', massJupiters: null })
  t.is(node.errors?.length, 1)
  const origin = service().withScope('*:read species:origin')
  const nested = await origin.graphql('{ species(id: "talpa") { planet { name massJupiters } } }')
  t.deepEqual(nested.data.species.planet, { name: 'Arca', massJupiters: null })
})

for (const [query, scope] of [
  ['speciesPage(filter: { habitat: { equals: "x" } }) { totalCount }', 'species:private'],
  ['speciesPage(filter: { classification: { kingdom: { isSet: true } } }) { totalCount }', 'species:private'],
  ['speciesPage(filter: { not: { or: [{ habitat: { isSet: false } }] } }) { totalCount }', 'species:private'],
  ['speciesConnection(filter: { planetId: { equals: "arca" } }) { totalCount }', 'species:origin'],
  ['speciesPage(filter: { planet: { name: { equals: "Arca" } } }) { totalCount }', 'species:origin'],
  ['moonPage(filter: { planet: { massJupiters: { gt: 1 } } }) { totalCount }', 'planets:private'],
  ['speciesPage(sort: [{ field: HABITAT }]) { totalCount }', 'species:private'],
  ['speciesConnection(sort: [{ field: TEMPERATURE_RANGE_MAX_CELSIUS }]) { totalCount }', 'species:climate'],
  ['speciesPage(planetId: "arca") { totalCount }', 'species:origin'],
  ['planet(id: "arca") { species { totalCount } }', 'species:origin'],
  ['planet(id: "arca") { speciesConnection { totalCount } }', 'species:origin'],
  ['spacecraft(id: "navis") { missions { totalCount } }', 'missions:fleet'],
  ['speciesAggregate(groupBy: [HABITAT]) { groups { count } }', 'species:private'],
  ['speciesAggregate(groupBy: [PLANET_ID]) { groups { key { planet { name } } } }', 'species:origin'],
  ['speciesAggregate(filter: { habitat: { isSet: true } }) { groups { count } }', 'species:private'],
  ['speciesAggregate { groups { maximum { temperatureRangeMaxCelsius } } }', 'species:climate'],
  ['speciesAggregate { groups { distinctCount { habitat } } }', 'species:private'],
  ['planetAggregate { groups { median { massJupiters } } }', 'planets:private'],
  [
    'planetAggregate(groupByRange: { field: MASS_JUPITERS, bounds: [0, 1] }) { groups { range } }',
    'planets:private',
  ],
  [
    'missionAggregate(groupByTime: { field: LAUNCH_DATE, unit: DAY }) { groups { time } }',
    'missions:private',
  ],
] as const)
  test(`{ ${query} } is refused without the scope ${scope}`, async (t) => {
    const { errors } = await reader().graphql(`{ ${query} }`)
    t.is(errors?.length, 1)
    t.like(errors?.[0], { message: denied(scope).message, extensions: { code: 'ACCESS_DENIED' } })
    t.is((await physician().graphql(`{ ${query} }`)).errors, undefined)
  })

test('a cursor made by a caller with the scope is no way to sort without it', async (t) => {
  const { data } = await physician().graphql(
    '{ speciesConnection(first: 1, sort: [{ field: HABITAT }]) { pageInfo { endCursor } } }',
  )
  const { endCursor } = data.speciesConnection.pageInfo
  const page = (sort: string) =>
    reader().graphql(`{ speciesConnection(first: 1, after: "${endCursor}"${sort}) { nodes { id } } }`)
  t.is((await page(', sort: [{ field: HABITAT }]')).errors?.[0].extensions.code, 'ACCESS_DENIED')
  t.is((await page('')).errors?.[0].extensions.code, 'INVALID_QUERY_PARAMETER')
})

test('the feed, its streams and versions have no field whose scope the caller lacks', async (t) => {
  const { origin, base } = service()
  const feed = '/changes?collection=species&limit=20'
  const queries =
    '{ changes(collections: ["species"]) { items { resource } } versions(collection: "species", id: "talpa") { items { resource } } }'
  const texts = async (client: Client) => {
    const { authorization = '' } = client
    const events = await readEvents(`${base}${feed}`, 1, { authorization })
    const subscribed = await subscribe(
      origin,
      authorization,
      'subscription { speciesChanged(since: "MA") { resource } }',
    ).catch(String)
    if (typeof subscribed !== 'string') subscribed.leave()
    return [
      (await client.get(feed)).text,
      (await client.get('/species/talpa/versions')).text,
      (await client.get('/species/talpa/versions/1')).text,
      JSON.stringify(events.events),
      (await client.graphql(queries)).text,
    ]
  }
  for (const text of await texts(reader())) {
    t.true(text.includes('Talpa'))
    t.deepEqual(shown(text), [])
  }
  for (const text of await texts(physician())) t.true(shown(text).length >= 6, text)
})

test('a subscription has no field whose scope the caller lacks, and no filter by it', async (t) => {
  const { origin } = service()
  const query = 'subscription { planetChanged { resource } }'
  const clients = [reader(), physician()]
  const streams = await Promise.all(
    clients.map(({ authorization }) => subscribe(origin, authorization, query)),
  )
  await physician().put('/planets/nova', { id: 'nova', name: 'Nova', ...PLANET })
  const [closed, open] = await Promise.all(streams.map((stream) => stream.until(1)))
  for (const stream of streams) stream.leave()
  await physician().delete('/planets/nova')
  t.is(closed?.[0].data.planetChanged.resource.name, 'Nova')
  t.is(closed?.[0].data.planetChanged.resource.mass_jupiters, undefined)
  t.is(open?.[0].data.planetChanged.resource.mass_jupiters, 4321.5)
  const filtered = 'subscription { planetChanged(filter: { massJupiters: { gt: 1 } }) { id } }'
  const answer = await fetch(`${origin}/graphql`, {
    method: 'POST',
    headers: {
      authorization: reader().authorization ?? '',
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: filtered }),
  })
  t.regex(await answer.text(), /The token lacks the scope planets:private\./)
})

test('a profile has the fields that the token may read; without a token, those that need no scope', async (t) => {
  const profile = async (client: Client) => (await client.get('/profile/species')).body
  for (const client of [reader(), service().anonymous]) {
    const { schema, input, policies, references } = await profile(client)
    t.deepEqual(shown(JSON.stringify([schema, input, policies, references])), [])
  }
  const { schema, input } = await profile(physician())
  t.true('habitat' in schema.properties && 'habitat' in input.properties)
  t.false(schema.properties.habitat.description.includes('scope'))
  const answer = await reader().get('/profile/species')
  t.regex(answer.headers.get('vary') ?? '', /Authorization/)
  t.is((await reader().get('/profile/species', { authorization: 'Bearer nonsense' })).status, 401)
})

test('the OpenAPI document and the GraphQL schema name the field and its scope', async (t) => {
  const { schemas } = (await service().anonymous.get('/openapi.json')).body.components
  t.regex(schemas.SpeciesFields.properties.habitat.description, /Needs the scope species:private\.$/)
  t.regex(
    schemas.SpeciesFields.properties.common_name.description,
    /Writing needs the scope species:names\.$/,
  )
  t.false(schemas.PlanetFields.required.includes('discovery_method'))
  t.false(schemas.PlanetInput.required.includes('discovery_method'))
  const { data } = await reader().graphql('{ __type(name: "Species") { fields { name description } } }')
  const habitat = data.__type.fields.find(({ name }: Json) => name === 'habitat')
  t.regex(habitat.description, /Needs the scope species:private\.$/)
})

test('no example body of the OpenAPI document has a field that needs a scope', async (t) => {
  const examplesIn = (value: Json): string[] => {
    if (typeof value !== 'object' || value === null) return []
    const { content, ...others } = value
    const own = Object.values(content ?? {}).map(({ schema, ...media }: Json) => JSON.stringify(media))
    return [...own, ...Object.values(others).flatMap(examplesIn)]
  }
  const { paths, components } = (await service().anonymous.get('/openapi.json')).body
  const text = examplesIn(paths).join() + JSON.stringify(components.examples)
  t.true(text.includes('scientific_name') && text.includes('completed_date'))
  t.deepEqual(text.match(/"(?:habitat|classification|max_celsius|planet_origin|common_name|score)":/g), null)
})

test('pages draw charts and offer examples without fields that need a scope', async (t) => {
  const { origin } = service()
  const charts = await (await fetch(`${origin}/docs/assets/charts.json`)).text()
  const examples = (await (await fetch(`${origin}/graphql/explorer/examples.json`)).json()) as Json[]
  const own = examples.filter(({ title }) => !title.startsWith('Persisted'))
  for (const text of [charts, JSON.stringify(own)]) {
    t.true(text.includes('species'))
    t.deepEqual(
      ['habitat', 'HABITAT', 'massJupiters', 'SPACECRAFT_ID', 'launchDate'].filter((one) =>
        text.includes(one),
      ),
      [],
    )
  }
})
