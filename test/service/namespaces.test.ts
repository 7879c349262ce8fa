import test, { type ExecutionContext } from 'ava'
import { dropSchemas, register, unregister } from '../../src/database/namespaces/registry.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { until } from '../helpers/process/until.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import { type ManyService, query, startMany } from '../helpers/service/namespaces.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

/** A service, its namespaces, and a client of each. */
async function start<Name extends string>(t: ExecutionContext, names: readonly Name[], overrides = {}) {
  const service = await startMany(t, server as string, overrides)
  for (const name of names) await service.create(name)
  const clients = names.map((name) => [name, service.inside(name)])
  return { service, ...(Object.fromEntries(clients) as Record<Name, Client>) }
}

const kepler = (name = 'Kepler') => ({ id: 'kepler', name })

claim('rows, names, versions, keys and changes of one namespace are not those of another', async (t) => {
  const { north, south } = await start(t, ['north', 'south'])
  const key = { 'Idempotency-Key': 'same' }
  t.is((await north.put('/planets/kepler', kepler())).status, 201)
  t.is((await south.get('/planets/kepler')).status, 404)
  t.is((await south.put('/planets/kepler', kepler())).status, 201)
  t.is((await north.patch('/planets/kepler', { name: 'Kepler 2' })).headers.get('etag'), '"kepler:2"')
  t.is((await south.get('/planets/kepler')).headers.get('etag'), '"kepler:1"')
  const [made, other] = await Promise.all(
    [north, south].map((one) => one.post('/planets', { name: 'Vega' }, key)),
  )
  t.deepEqual([made?.status, other?.status], [201, 201])
  t.not(made?.body.id, other?.body.id)
  t.is((await south.delete('/planets/kepler')).status, 204)
  t.is((await south.get('/planets/kepler')).status, 410)
  t.is((await north.get(`/planets/${made?.body.id}`)).status, 200)
  t.is((await north.get('/planets/kepler/versions')).body._embedded.versions.length, 2)
  t.deepEqual(await eventsOf(north), ['created', 'changed', 'created'])
  t.deepEqual(await eventsOf(south), ['created', 'created', 'deleted'])
  t.deepEqual([await countOf(north), await countOf(south)], [2, 1])
})

async function eventsOf(client: Client): Promise<string[]> {
  const { body } = await client.get('/changes')
  return body._embedded.changes.map(({ event }: Json) => event)
}

const countOf = async (client: Client) => (await client.get('/planets')).body.total_count

claim('cursors, positions and node identifiers of one namespace are malformed in another', async (t) => {
  const { north, south } = await start(t, ['north', 'south'])
  for (const one of [north, south])
    for (const id of ['a', 'b', 'c']) await one.put(`/planets/${id}`, { id, name: `Planet ${id}` })
  const page = (await north.get('/planets?limit=1')).body
  const { next } = page._links
  t.is((await north.get(next.href)).body.page, 2)
  t.deepEqual(errorOf(await south.get(next.href.replace('/north/', '/south/'))), [400, 'cursor'])
  const position = (await north.get('/changes')).body._links.next.href
  t.is((await north.get(position)).status, 200)
  t.deepEqual(errorOf(await south.get(position.replace('/north/', '/south/'))), [400, 'since'])

  const query = '{ planetConnection(first: 1) { nodes { nodeId } pageInfo { endCursor } } }'
  const { nodes, pageInfo } = (await north.graphql(query)).data.planetConnection
  const node = '($id: ID!) { node(nodeId: $id) { nodeId } }'
  const found = (one: Client) => one.graphql(`query ${node}`, { id: nodes[0].nodeId })
  t.deepEqual((await found(north)).data.node, nodes[0])
  t.is((await found(south)).data.node, null)
  const after = 'query ($after: String) { planetConnection(first: 1, after: $after) { nodes { id } } }'
  t.is((await north.graphql(after, { after: pageInfo.endCursor })).data.planetConnection.nodes[0].id, 'b')
  t.is(
    (await south.graphql(after, { after: pageInfo.endCursor })).errors?.[0].extensions.details[0].field,
    'after',
  )
})

/** Its position is known when the response begins. */
async function openStream(url: string, { authorization = '' }: Client) {
  const response = await fetch(url, { headers: { accept: 'text/event-stream', authorization } })
  return response.body as ReadableStream<Uint8Array>
}

const errorOf = ({ status, body }: { status: number; body: Json }) => [status, body.error.details[0].field]

claim('a token names its namespaces; for others the answer does not tell whether they exist', async (t) => {
  const { service } = await start(t, ['north', 'south'], { anonymousScopes: '*:read' })
  const statuses = async (claims: object) => {
    const paths = ['api', 'north', 'south', 'west']
    const answers = paths.map((name) => service.inside(name, claims).get('/planets'))
    return (await Promise.all(answers)).map(({ status }) => status)
  }
  t.deepEqual(await statuses({}), [403, 403, 403, 403])
  t.deepEqual(await statuses({ namespaces: 'north' }), [403, 200, 403, 403])
  t.deepEqual(await statuses({ namespaces: ['south', 'api', 'west'] }), [200, 403, 200, 404])
  t.deepEqual(await statuses({ namespaces: '*' }), [200, 200, 200, 404])
  t.deepEqual(await statuses({ namespaces: { north: true } }), [403, 403, 403, 403])
  for (const namespaces of ['north south', 'nort', 'northern', ['']])
    t.deepEqual(await statuses({ namespaces }), [403, 403, 403, 403])
  const [missing, existing] = await Promise.all(
    ['west', 'south'].map((name) => service.inside(name, { namespaces: 'north' }).get('/planets')),
  )
  t.is(missing?.text.replaceAll('west', 'south'), existing?.text)
  t.is((await service.anonymous.get(`${service.origin}/north/v1/planets`)).status, 200)
  t.is((await service.anonymous.get(`${service.origin}/west/v1/planets`)).status, 404)

  const listed = async (claims: object) => {
    const { body } = await service.inside('north', claims).get(`${service.origin}/`)
    return body._links.namespaces.map(({ name, href }: Json) => [name, href.replace(service.origin, '')])
  }
  t.deepEqual(await listed({ namespaces: ['south', 'west'] }), [['south', '/south/v1']])
  t.deepEqual(await listed({ namespaces: '*' }), [
    ['api', '/api/v1'],
    ['north', '/north/v1'],
    ['south', '/south/v1'],
  ])
  t.deepEqual(await listed({}), [])
})

claim(
  'links, problem types, documents and pages of a namespace stay in it, also behind a gateway',
  async (t) => {
    const { service, north } = await start(t, ['north'], { trustProxy: true })
    const gateway = { 'X-Forwarded-Prefix': '/catalogue', 'X-Forwarded-Host': 'example.org' }
    const { body } = await north.get('', gateway)
    t.is(body._links.planets.href, 'http://example.org/catalogue/north/v1/planets')
    const problem = await north.get('/nothing', { Accept: 'application/problem+json' })
    t.is(problem.body.type, `${service.origin}/north/errors/RESOURCE_NOT_FOUND`)
    for (const path of [
      '/errors',
      '/errors/VALIDATION_FAILED',
      '/north/errors',
      '/north/docs',
      '/north/',
      '/north/v1',
      '/',
    ])
      t.is((await service.anonymous.get(service.origin + path, { Accept: 'text/html' })).status, 200, path)
    for (const name of ['north', 'south', 'north']) {
      const document = (await service.anonymous.get(`${service.origin}/${name}/v1/openapi.json`)).body
      t.deepEqual(
        document.servers.map(({ url }: Json) => url),
        [`${service.origin}/${name}`],
      )
      t.true('/v1/planets' in document.paths)
      const { body } = await service.anonymous.get(`${service.origin}/${name}/errors/VALIDATION_FAILED`)
      t.true(body.request.includes(` /${name}/v1/`))
    }
    const unknown = ['docs', 'model', 'graphql', 'north', 'North/v1', 'n_h/v1', '.well-known/api-catalog']
    for (const path of unknown)
      t.is((await service.inside('north').get(`${service.origin}/${path}`)).status, 404, path)
  },
)

claim(
  'a namespace that is behind, or whose server is down, answers 503 naming it, and the others serve',
  async (t) => {
    const { service, north } = await start(t, ['north'])
    await query(service.databaseUrl, async (send) => {
      await register(send, undefined, 'behind', undefined)
      await register(send, undefined, 'down', 'postgresql://nobody@127.0.0.1:1/none')
    })
    for (const name of ['behind', 'down']) {
      const { status, body } = await service.inside(name).get('/planets')
      t.deepEqual([status, body.error.code], [503, 'SERVICE_UNAVAILABLE'])
      t.regex(body.error.message, new RegExp(`namespace ${name} `))
      t.notRegex(body.error.message, /127|migrat/)
      // A busy machine may take longer for a check than it may take.
      await until(async () => {
        const ready = ['north', name].map((one) =>
          service.anonymous.get(`${service.origin}/${one}/health/ready`),
        )
        const statuses = (await Promise.all(ready)).map((answer) => answer.status)
        t.is(statuses[1], 503)
        return statuses[0] === 200
      })
    }
    t.is((await north.get('/planets')).status, 200)
    for (const path of ['/health/ready', '/north/health/ready'])
      await until(async () => (await service.anonymous.get(service.origin + path)).status === 200)
    await service.create('behind')
    await until(async () => (await service.inside('behind').get('/planets')).status === 200)
    // What the operator has to know is in the log.
    t.true(service.faults.splice(0).every(({ name }) => name === 'DatabaseRefusedError'))
  },
)

claim(
  'with more namespaces than may be open, the one that was used least recently gives up its place',
  async (t) => {
    const names = ['a', 'b', 'c'] as const
    const { service, a, b, c } = await start(t, names, { namespacesOpen: 2 })
    for (const client of [a, b, c, a, b, c])
      await until(async () => (await client.put('/planets/kepler', kepler())).status < 300)
    t.is(await countOf(a), 1)
    const streams = []
    for (const name of ['a', 'b'] as const)
      streams.push(await openStream(`${service.origin}/${name}/v1/changes?since=now`, service.inside(name)))
    t.is((await c.get('/planets')).status, 503)
    for (const [client, stream] of [
      [a, streams[0]],
      [b, streams[1]],
    ] as const) {
      t.is((await client.put('/planets/kepler', kepler('Other'))).status, 204)
      let text = ''
      for await (const chunk of stream ?? []) {
        text += Buffer.from(chunk).toString()
        if (text.includes('"name":"Other"')) break
      }
      t.regex(text, /event: changed/)
    }
    await until(async () => (await c.get('/planets')).status === 200)
  },
)

claim(
  'a namespace that is removed is gone, and one that is moved is served from its new place',
  async (t) => {
    const { service, north, south } = await start(t, ['north', 'south'])
    const elsewhere = await createDatabaseOn(server as string, t)
    for (const client of [north, south]) await client.put('/planets/kepler', kepler())
    await query(service.databaseUrl, async (send) => {
      await dropSchemas(send, 'north')
      await unregister(send, undefined, 'north')
    })
    await until(async () => (await north.get('/planets/kepler')).status === 404)
    t.is((await north.get('/planets/kepler')).body.error.message, 'There is no namespace north.')
    t.is((await south.get('/planets/kepler')).status, 200)
    await service.create('south', elsewhere)
    await until(async () => (await south.get('/planets/kepler')).status === 404)
    t.is((await south.put('/planets/kepler', kepler('Moved'))).status, 201)
    service.faults.length = 0
  },
)

claim(
  'writes of one namespace wait for no lock of another, and take no more than half of the connections',
  async (t) => {
    const { service, north, south } = await start(t, ['north', 'south'], { databaseTimeout: 15_000 })
    for (const client of [north, south]) await client.put('/planets/kepler', kepler())
    await query(service.databaseUrl, async (send) => {
      await send('BEGIN')
      await send('LOCK TABLE namespace_north.planets')
      const waiting = Array.from({ length: 20 }, (_, index) => north.get(`/planets?limit=${index + 1}`))
      const reading = Array.from({ length: 20 }, (_, index) => north.get(`/planets/p${index}`))
      for (let round = 0; round < 10; round++) {
        t.is((await south.get('/planets')).status, 200)
        t.is((await south.patch('/planets/kepler', { discovery_year: 1990 + round })).status, 204)
      }
      const answers = await Promise.all([...waiting, ...reading])
      t.deepEqual([...new Set(answers.map(({ status }) => status))], [503])
      await send('ROLLBACK')
    })
    t.is((await north.get('/planets/kepler')).status, 200)
  },
)

claim(
  'a rate limit is one for each namespace, and metrics can tell namespaces apart that exist',
  async (t) => {
    const settings = { rateLimit: 2, metrics: true, metricsByNamespace: true }
    const { service, north, south } = await start(t, ['north', 'south'], settings)
    const statuses = async (client: Client) => (await client.get('/planets')).status
    for (const status of [200, 200, 429]) t.is(await statuses(north), status)
    t.is(await statuses(south), 200)
    t.is(await statuses(service.inside('west')), 404)
    const { text } = await service.anonymous.get(`${service.origin}/metrics`)
    t.regex(text, /database_pool_connections\{database="primary",state="idle"\} [1-9]/)
    const counted = text.matchAll(/duration_seconds_count\{.*status="(\d+)",namespace="(\w+)"\} (\d+)/g)
    t.deepEqual([...counted].map(([, ...labels]) => labels.join(' ')).sort(), [
      '200 north 2',
      '200 south 1',
      '404 none 1',
      '429 north 1',
    ])
  },
)

claim('the connections of all namespaces of a server are at most DATABASE_POOL_SIZE', async (t) => {
  const names = ['a', 'b', 'c', 'd'] as const
  const { service, ...clients } = await start(t, names, { databasePoolSize: 3 })
  const burst = names.flatMap((name) =>
    Array.from({ length: 25 }, (_, index) => clients[name].get(`/planets?limit=${index + 1}`)),
  )
  t.deepEqual([...new Set((await Promise.all(burst)).map(({ status }) => status))], [200])
  t.true((await connectionsTo(service)) <= 3)
})

async function connectionsTo({ databaseUrl }: ManyService): Promise<number> {
  const text =
    'SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  const [found] = await query(databaseUrl, (send) => send(text))
  return (found as { count: number }).count
}
