import test from 'ava'
import { schemaOf } from '../../src/database/namespaces/registry.ts'
import { internalSchema } from '../../src/database/session.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import { type ManyService, startMany } from '../helpers/service/namespaces.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

let shared: ManyService | undefined
const releases: (() => Promise<void>)[] = []
/** Each test has namespaces of its own. */
const many = () => shared as ManyService

test.serial.before(async () => {
  const settings = { anonymousScopes: '*:read', trustProxy: true }
  const owner = { teardown: (release: () => Promise<void>) => void releases.push(release) }
  if (server) shared = await startMany(owner, server, settings)
})
test.after.always(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

test('the schemas of a namespace are those of no other, however long or alike the names are', (t) => {
  const long = 'w'.repeat(44)
  const names = ['a', 'a-internal', 'a-internal-internal', long, `${long}-two`, `${long}-too`, `${long}-x`]
  const all = names.map(schemaOf).flatMap((schema) => [schema, internalSchema(schema)])
  t.is(new Set(all).size, all.length)
  t.true(all.every((schema) => schema.length < 64))
  t.is(schemaOf('far-south'), 'namespace_far_south')
})

const kepler = () => ({ id: 'kepler', name: 'Kepler' })

claim('rows, names, versions, keys and changes of one namespace are not those of another', async (t) => {
  const { north, south } = many().clients
  const key = { 'Idempotency-Key': 'same' }
  t.is((await north.put('/planets/kepler', kepler())).status, 201)
  t.is((await south.get('/planets/kepler')).status, 404)
  t.is((await south.put('/planets/kepler', kepler())).status, 201)
  t.is((await north.patch('/planets/kepler', { name: 'Kepler 2' })).headers.get('etag'), '"kepler:2"')
  t.is((await south.get('/planets/kepler')).headers.get('etag'), '"kepler:1"')
  const made = await north.post('/planets', { name: 'Vega' }, key)
  const other = await south.post('/planets', { name: 'Vega' }, key)
  t.deepEqual([made.status, other.status], [201, 201])
  t.not(made.body.id, other.body.id)
  t.is((await south.delete('/planets/kepler')).status, 204)
  t.is((await south.get('/planets/kepler')).status, 410)
  t.is((await north.get(`/planets/${made.body.id}`)).status, 200)
  t.is((await north.get('/planets/kepler/versions')).body._embedded.versions.length, 2)
  t.deepEqual(await eventsOf(north), ['created', 'changed', 'created'])
  t.deepEqual(await eventsOf(south), ['created', 'created', 'deleted'])
  // Equal reads at the same time are sent once.
  const inTurn = Array.from({ length: 10 }, () => [north, south]).flat()
  const counts = await Promise.all(inTurn.map(countOf))
  t.deepEqual(
    counts,
    inTurn.map((client) => (client === north ? 2 : 1)),
  )
})

async function eventsOf(client: Client): Promise<string[]> {
  const { body } = await client.get('/changes')
  return body._embedded.changes.map(({ event }: Json) => event)
}

const countOf = async (client: Client) => (await client.get('/planets')).body.total_count

claim('cursors, positions and node identifiers of one namespace are malformed in another', async (t) => {
  const { east, west } = many().clients
  for (const one of [east, west])
    for (const id of ['a', 'b', 'c']) await one.put(`/planets/${id}`, { id, name: `Planet ${id}` })
  const page = (await east.get('/planets?limit=1')).body
  const { next } = page._links
  t.is((await east.get(next.href)).body.page, 2)
  t.deepEqual(errorOf(await west.get(next.href.replace('/east/', '/west/'))), [400, 'cursor'])
  const position = (await east.get('/changes')).body._links.next.href
  t.is((await east.get(position)).status, 200)
  t.deepEqual(errorOf(await west.get(position.replace('/east/', '/west/'))), [400, 'since'])

  const query = '{ planetConnection(first: 1) { nodes { nodeId } pageInfo { endCursor } } }'
  const { nodes, pageInfo } = (await east.graphql(query)).data.planetConnection
  const node = '($id: ID!) { node(nodeId: $id) { nodeId } }'
  const found = (one: Client) => one.graphql(`query ${node}`, { id: nodes[0].nodeId })
  t.deepEqual((await found(east)).data.node, nodes[0])
  t.is((await found(west)).data.node, null)
  const after = 'query ($after: String) { planetConnection(first: 1, after: $after) { nodes { id } } }'
  t.is((await east.graphql(after, { after: pageInfo.endCursor })).data.planetConnection.nodes[0].id, 'b')
  t.is(
    (await west.graphql(after, { after: pageInfo.endCursor })).errors?.[0].extensions.details[0].field,
    'after',
  )
})

const errorOf = ({ status, body }: { status: number; body: Json }) => [status, body.error.details[0].field]

claim('a token names its namespaces; for others the answer does not tell whether they exist', async (t) => {
  const service = many()
  const statuses = async (claims: object) => {
    const paths = ['api', 'north', 'south', 'nowhere']
    const answers = paths.map((name) => service.inside(name, claims).get('/planets'))
    return (await Promise.all(answers)).map(({ status }) => status)
  }
  t.deepEqual(await statuses({}), [403, 403, 403, 403])
  t.deepEqual(await statuses({ namespaces: 'north' }), [403, 200, 403, 403])
  t.deepEqual(await statuses({ namespaces: ['south', 'api', 'nowhere'] }), [200, 403, 200, 404])
  t.deepEqual(await statuses({ namespaces: '*' }), [200, 200, 200, 404])
  t.deepEqual(await statuses({ namespaces: { north: true } }), [403, 403, 403, 403])
  for (const namespaces of ['north south', 'nort', 'northern', ['']])
    t.deepEqual(await statuses({ namespaces }), [403, 403, 403, 403])
  const [missing, existing] = await Promise.all(
    ['nowhere', 'south'].map((name) => service.inside(name, { namespaces: 'north' }).get('/planets')),
  )
  t.is(missing?.text.replaceAll('nowhere', 'south'), existing?.text)
  t.is((await service.anonymous.get(`${service.origin}/north/v1/planets`)).status, 200)
  t.is((await service.anonymous.get(`${service.origin}/nowhere/v1/planets`)).status, 404)

  const listed = async (claims: object) => {
    const { body } = await service.inside('north', claims).get(`${service.origin}/`)
    return body._links.namespaces.map(({ name, href }: Json) => [name, href.replace(service.origin, '')])
  }
  t.deepEqual(await listed({ namespaces: ['south', 'nowhere'] }), [['south', '/south/v1']])
  t.deepEqual(await listed({ namespaces: '*' }), [
    ['api', '/api/v1'],
    ['east', '/east/v1'],
    ['north', '/north/v1'],
    ['south', '/south/v1'],
    ['west', '/west/v1'],
  ])
  t.deepEqual(await listed({}), [])
})

claim(
  'links, problem types, documents and pages of a namespace stay in it, also behind a gateway',
  async (t) => {
    const service = many()
    const { north } = service.clients
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
