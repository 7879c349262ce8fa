import test, { type ExecutionContext } from 'ava'
import { parseConnection } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrations/migrator.ts'
import {
  addressOf,
  dropSchemas,
  type Place,
  readRegistry,
  register,
  unregister,
} from '../../src/database/namespaces/registry.ts'
import { createSpacesOn, findServer, PREPARED } from '../helpers/database/postgres-server.ts'
import { domain } from '../helpers/domain/domain.ts'
import { until } from '../helpers/process/until.ts'
import type { Client } from '../helpers/service/client.ts'
import { type ManyService, query, startMany } from '../helpers/service/namespaces.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

const start = (t: ExecutionContext, overrides = {}) => startMany(t, server as string, overrides)

const kepler = (name = 'Kepler') => ({ id: 'kepler', name })

claim(
  'a namespace that is behind, or whose server is down, answers 503 naming it, and the others serve',
  async (t) => {
    const service = await start(t)
    const { north } = service.clients
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
  'namespaces with long names of a registry without schemas are served from where they are',
  async (t) => {
    const service = await start(t)
    const name = `${'w'.repeat(40)}-internal`.slice(0, 48)
    const place = { schema: `namespace_${name.replaceAll('-', '_')}`, address: undefined }
    await query(service.databaseUrl, async (send) => {
      await send('ALTER TABLE public_internal.namespaces DROP COLUMN schema')
      await send('INSERT INTO public_internal.namespaces (name) VALUES ($1)', [name])
      await migrate(parseConnection(addressOf(place, service.databaseUrl)), domain.folder.migrations)
      const client = service.inside(name)
      await until(async () => (await client.put('/planets/kepler', kepler())).status === 201)
      await register(send, undefined, 'another', undefined)
      t.deepEqual((await readRegistry(send, undefined)).get(name), place)
      t.is((await send(`SELECT FROM ${place.schema}.planets`)).length, 1)
    })
  },
)

/**
 * Its position is known when the response begins. A namespace whose last request ends in this moment keeps its place. Without
 * its response, the body would be collected as garbage, and the stream would end.
 */
async function openStream(url: string, { authorization = '' }: Client) {
  let response: Response | undefined
  await until(async () => {
    response = await fetch(url, { headers: { accept: 'text/event-stream', authorization } })
    return response.status === 200
  })
  return response as Response
}

claim(
  'with more namespaces than may be open, the one that was used least recently gives up its place',
  async (t) => {
    const service = await start(t, { namespacesOpen: 2 })
    const { north, south, west } = service.clients
    for (const client of [north, south, west, north, south, west])
      await until(async () => (await client.put('/planets/kepler', kepler())).status < 300)
    await until(async () => (await north.get('/planets')).body.total_count === 1)
    const streams = []
    for (const name of ['north', 'south'])
      streams.push(await openStream(`${service.origin}/${name}/v1/changes?since=now`, service.inside(name)))
    t.is((await west.get('/planets')).status, 503)
    for (const [client, stream] of [
      [north, streams[0]],
      [south, streams[1]],
    ] as const) {
      t.is((await client.put('/planets/kepler', kepler('Other'))).status, 204)
      let text = ''
      for await (const chunk of stream?.body ?? []) {
        text += Buffer.from(chunk).toString()
        if (text.includes('"name":"Other"')) break
      }
      t.regex(text, /event: changed/)
    }
    await until(async () => (await west.get('/planets')).status === 200)
  },
)

claim(
  'a namespace that is removed is gone, and one that is moved is served from its new place',
  async (t) => {
    const service = await start(t)
    const { north, south } = service.clients
    const elsewhere = await createSpacesOn(server as string, t)
    for (const client of [north, south]) await client.put('/planets/kepler', kepler())
    await query(service.databaseUrl, async (send) => {
      await dropSchemas(send, (await readRegistry(send, undefined)).get('north') as Place)
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
  'writes of one namespace wait for no lock of another, which takes no more than half of the connections',
  async (t) => {
    const service = await start(t)
    const { north, south } = service.clients
    for (const client of [north, south]) await client.put('/planets/kepler', kepler())
    await query(service.databaseUrl, async (send) => {
      await send('BEGIN')
      await send('LOCK TABLE namespace_north.planets')
      const waiting = Array.from({ length: 20 }, (_, index) => north.get(`/planets?limit=${index + 1}`))
      const reading = Array.from({ length: 20 }, (_, index) => north.get(`/planets/p${index}`))
      const locks = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'namespace_north.planets'::regclass`
      const takesHalf = async () => (await send(locks)).length === 3
      await until(takesHalf)
      for (let round = 0; round < 10; round++) {
        t.is((await south.get('/planets')).status, 200)
        t.is((await south.patch('/planets/kepler', { discovery_year: 1990 + round })).status, 204)
      }
      t.true(await takesHalf())
      await send('ROLLBACK')
      t.deepEqual([...new Set((await Promise.all(waiting)).map(({ status }) => status))], [200])
      t.deepEqual([...new Set((await Promise.all(reading)).map(({ status }) => status))], [404])
    })
  },
)

claim(
  'a rate limit is one for each namespace, and metrics can tell namespaces apart that exist',
  async (t) => {
    const settings = { rateLimit: 2, metrics: true, metricsByNamespace: true }
    const service = await start(t, settings)
    const { north, south } = service.clients
    const statuses = async (client: Client) => (await client.get('/planets')).status
    for (const status of [200, 200, 429]) t.is(await statuses(north), status)
    t.is(await statuses(south), 200)
    t.is(await statuses(service.inside('nowhere')), 404)
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
  const service = await start(t, { databasePoolSize: 3 })
  const burst = PREPARED.flatMap((name) =>
    Array.from({ length: 25 }, (_, index) => service.clients[name].get(`/planets?limit=${index + 1}`)),
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
