import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { keepChanges } from '../../src/domain/recording.ts'
import type { AccessRule } from '../../src/model/access/access-rules.ts'
import { withAccess } from '../helpers/domain/with-access.ts'
import { accessToken } from '../helpers/service/access-token.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import { readEvents } from '../helpers/service/read-events.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'
import { subscribe } from '../helpers/service/subscribe.ts'

/** Ada and other subjects may read the planets whose host star names them, and the writer all. */
const own: AccessRule = ({ subject }) => subject === undefined || { host_star: { equals: subject } }
const free: AccessRule = ({ subject }) => subject === undefined || { tidally_locked: { notEquals: true } }
const domain = withAccess({ planets: { read: own }, moons: { read: free } })

const service = shareTestService(test, {}, { domain })

const SECRET = 'only the tests know this secret of theirs'

/** Such as `created planets/a 1`. */
const told = (changes: readonly Json[]) =>
  changes.map(({ event, collection, id, version }) => `${event} ${collection}/${id} ${version}`)

/** The changes of these resources since a position. */
async function changesSince(client: Client, href: string): Promise<Json[]> {
  const changes: Json[] = []
  for (let url = href; ; ) {
    const { status, body, text } = await client.get(url)
    if (status !== 200) throw new Error(text)
    changes.push(...body._embedded.changes)
    url = body._links.next.href
    if (!body.has_more) return changes
  }
}

const end = async (client: Client, query = '') =>
  (await client.get(`/changes?since=now${query}`)).body._links.next.href as string

const put = (writer: Client, path: string, body: object) => {
  const id = path.split('/').at(-1)
  return writer.put(path, { id, name: `Planet ${id}`, ...body })
}

test.serial(
  'a row that enters the view of a caller is created in its feed, and one that leaves is deleted',
  async (t) => {
    const { writer, withSubject } = service()
    const ada = withSubject('ada')
    const begin = await end(ada, '&collection=planets')
    await put(writer, '/planets/e1', { host_star: 'bob' })
    await writer.patch('/planets/e1', { discovery_year: 1999 })
    await writer.patch('/planets/e1', { host_star: 'ada' })
    await writer.patch('/planets/e1', { discovery_year: 2000 })
    await writer.patch('/planets/e1', { host_star: 'bob' })
    await writer.patch('/planets/e1', { discovery_year: 2001 })
    await writer.patch('/planets/e1', { host_star: 'ada' })
    await writer.delete('/planets/e1')
    await put(writer, '/planets/e2', { host_star: 'bob' })
    await writer.delete('/planets/e2')
    const changes = await changesSince(ada, begin)
    t.deepEqual(told(changes), [
      'created planets/e1 3',
      'changed planets/e1 4',
      'deleted planets/e1 4',
      'created planets/e1 7',
      'deleted planets/e1 7',
    ])
    const [entered, , left, , deleted] = changes
    t.is(entered.resource.discovery_year, 1999)
    t.deepEqual(Object.keys(left), Object.keys(deleted))
    t.is(left.resource, undefined)
    t.is((await changesSince(writer, begin)).length, 10)
  },
)

test.serial('what a parent owns enters and leaves with it, with the state of that time', async (t) => {
  const { writer, withSubject } = service()
  const ada = withSubject('ada')
  const begin = await end(ada)
  await put(writer, '/planets/p1', { host_star: 'bob' })
  await writer.put('/planets/p1/moons/m1', { id: 'm1', name: 'One' })
  await writer.put('/planets/p1/moons/m2', { id: 'm2', name: 'Two', tidally_locked: true })
  await writer.put('/planets/p1/moons/m3', { id: 'm3', name: 'Three' })
  await writer.put('/planets/p1/atmosphere', { surface_pressure_kilopascals: 1 })
  await writer.patch('/planets/p1', { host_star: 'ada' })
  await writer.patch('/planets/p1/moons/m1', { name: 'First' })
  await writer.patch('/planets/p1/moons/m2', { tidally_locked: false })
  await writer.delete('/planets/p1/moons/m3')
  await writer.patch('/planets/p1', { host_star: 'bob' })
  await writer.patch('/planets/p1/moons/m1', { name: 'Hidden' })
  await writer.put('/planets/p1/moons/m4', { id: 'm4', name: 'Hidden' })
  await writer.delete('/planets/p1')
  const changes = await changesSince(ada, begin)
  t.deepEqual(told(changes), [
    'created planets/p1 2',
    'created moons/m1 1',
    'created moons/m3 1',
    'created atmosphere/p1 1',
    'changed moons/m1 2',
    'created moons/m2 2',
    'deleted moons/m3 1',
    'deleted moons/m1 2',
    'deleted moons/m2 2',
    'deleted atmosphere/p1 1',
    'deleted planets/p1 2',
  ])
  t.is(changes[1].resource.name, 'One')
  t.false(JSON.stringify(changes).includes('Hidden'))
  const one = begin.replace('limit=20', 'limit=1')
  t.deepEqual(told(await changesSince(ada, one)), told(changes), 'pages of one change')
  const moons = await changesSince(ada, `${begin}&collection=moons`)
  t.deepEqual(
    told(moons),
    told(changes).filter((text) => text.includes('moons')),
  )
})

test.serial(
  'children that are deleted with a parent are deleted in the feed of those that could read them',
  async (t) => {
    const { writer, withSubject } = service()
    const begin = await end(writer)
    for (const owner of ['ada', 'bob']) {
      await put(writer, `/planets/d-${owner}`, { host_star: owner })
      await writer.put(`/planets/d-${owner}/moons/m-${owner}`, { id: `m-${owner}`, name: 'Moon' })
      await writer.delete(`/planets/d-${owner}`)
      await put(writer, `/planets/d-${owner}`, { host_star: 'carol' })
    }
    t.deepEqual(told(await changesSince(withSubject('ada'), begin)), [
      'created planets/d-ada 1',
      'created moons/m-ada 1',
      'deleted planets/d-ada 1',
      'deleted moons/m-ada 1',
    ])
  },
)

test.serial(
  'streams, long polls and subscriptions of callers that see different rows share nothing',
  async (t) => {
    const { writer, withSubject, base, origin } = service()
    const [ada, bob] = [withSubject('ada'), withSubject('bob')]
    const begin = await end(writer)
    const position = new URL(begin).searchParams.get('since')
    const callers = [writer, ada, bob]
    const subscribed = await Promise.all(
      callers.map(({ authorization }) =>
        subscribe(origin, authorization, 'subscription { planetChanged { id event } }'),
      ),
    )
    const changes = {
      [writer.authorization as string]: 3,
      [ada.authorization as string]: 2,
      [bob.authorization as string]: 2,
    }
    const streams = callers.map(({ authorization = '' }) =>
      readEvents(`${base}/changes?since=${position}`, changes[authorization] as number, { authorization }),
    )
    const poll = ada.get(begin, { prefer: 'wait=20' })
    await put(writer, '/planets/s1', { host_star: 'bob' })
    await put(writer, '/planets/s2', { host_star: 'ada' })
    await writer.patch('/planets/s1', { host_star: 'ada' })
    const [all, adas, bobs] = await Promise.all(streams)
    t.deepEqual(
      all?.events.map(({ data }) => `${data.event} ${data.id}`),
      ['created s1', 'created s2', 'changed s1'],
    )
    t.deepEqual(
      adas?.events.map(({ data }) => `${data.event} ${data.id}`),
      ['created s2', 'created s1'],
    )
    t.deepEqual(
      bobs?.events.map(({ data }) => `${data.event} ${data.id}`),
      ['created s1', 'deleted s1'],
    )
    const polled = await poll
    t.is(polled.headers.get('preference-applied'), 'wait=20')
    t.is(polled.body._embedded.changes[0].id, 's2')
    const shown = async (index: number, count: number) =>
      (await subscribed[index]?.until(count))?.map(
        ({ data }) => `${data.planetChanged.event} ${data.planetChanged.id}`,
      )
    t.deepEqual(await shown(0, 3), ['CREATED s1', 'CREATED s2', 'CHANGED s1'])
    t.deepEqual(await shown(1, 2), ['CREATED s2', 'CREATED s1'])
    t.deepEqual(await shown(2, 2), ['CREATED s1', 'DELETED s1'])
    for (const one of subscribed) one.leave()
  },
)

test.serial(
  'of requests that wait at the same position, only those are answered that see the change',
  async (t) => {
    const { writer, withSubject } = service()
    const begin = await end(writer)
    const started = Date.now()
    const callers = ['ada', 'bob', 'carol', 'bob', 'ada'].map(withSubject)
    const waiting = callers.map(async (client) => {
      const { body } = await client.get(begin, { prefer: 'wait=6' })
      return [body._embedded.changes.length, Date.now() - started > 5_500]
    })
    await delay(300)
    await put(writer, '/planets/w1', { host_star: 'bob' })
    const [unseen, seen] = [
      [0, true],
      [1, false],
    ]
    t.deepEqual(await Promise.all(waiting), [unseen, seen, unseen, seen, unseen])
  },
)

test.serial(
  'subscriptions that begin at once at the same position share nothing with other callers',
  async (t) => {
    const { writer, withSubject, origin } = service()
    const since = new URL(await end(writer)).searchParams.get('since')
    await put(writer, '/planets/b1', { host_star: 'bob' })
    await put(writer, '/planets/b2', { host_star: 'ada' })
    const names = Array.from({ length: 12 }, (_, index) => (index % 3 === 0 ? 'ada' : 'bob'))
    const query = `subscription { changes(since: "${since}") { id } }`
    const first = names.map(async (name) => {
      const one = await subscribe(origin, withSubject(name).authorization, query)
      const [{ data }] = (await one.until(1)) as [Json]
      one.leave()
      return data.changes.id
    })
    t.deepEqual(
      await Promise.all(first),
      names.map((name) => (name === 'ada' ? 'b2' : 'b1')),
    )
  },
)

test.serial('a large deletion is told to those that could read the children', async (t) => {
  const { writer, withSubject, database } = service()
  const begin = await end(writer, '&limit=100')
  for (const owner of ['ada', 'bob']) {
    await put(writer, `/planets/many-${owner}`, { host_star: owner })
    await database.pool.query(
      `INSERT INTO moons (planet_id, id, name, tidally_locked) SELECT $1, 'n' || number, 'N', number > 500
        FROM generate_series(1, 1001) AS number`,
      [`many-${owner}`],
    )
  }
  await writer.delete('/planets/many-ada')
  await writer.delete('/planets/many-bob')
  const changes = await changesSince(withSubject('ada'), begin)
  t.is(changes.filter(({ event }) => event === 'created').length, 501)
  t.is(changes.filter(({ event }) => event === 'deleted').length, 501)
  t.is(new Set(changes.map(({ parent_id }) => parent_id)).size, 2)
  const ada = withSubject('ada')
  t.is((await ada.get('/planets/many-ada')).status, 410)
  t.is((await ada.get('/planets/many-ada/moons/n1')).status, 410)
  t.is((await ada.get('/planets/many-ada/moons/n501')).status, 404)
  t.is((await ada.get('/planets/many-bob/moons/n1')).status, 404)
})

test.serial('more children than a change can name send the reader back to the lists', async (t) => {
  const { writer, withSubject, database } = service()
  const ada = withSubject('ada')
  const begin = await end(ada)
  await put(writer, '/planets/huge', { host_star: 'bob' })
  await database.pool.query(
    "INSERT INTO moons (planet_id, id, name) SELECT 'huge', 'n' || number, 'N' FROM generate_series(1, 1001) AS number",
  )
  await writer.patch('/planets/huge', { host_star: 'ada' })
  const read = changesSince(ada, begin)
  await t.throwsAsync(read, {
    message: /RESOURCE_GONE.*More than 1000 moons have entered or left/,
  })
  t.is((await ada.get(await end(ada))).status, 200)
})

test.serial('a page with parts of a change reads no more children than it shows', async (t) => {
  const { writer, withSubject, database } = service()
  const [ada, { pool }] = [withSubject('ada'), database]
  await put(writer, '/planets/wide', { host_star: 'bob' })
  await pool.query(
    "INSERT INTO moons (planet_id, id, name) SELECT 'wide', 'n' || number, 'N' FROM generate_series(100, 999) AS number",
  )
  let next = await end(ada)
  await writer.patch('/planets/wide', { host_star: 'ada' })
  const { query } = pool
  let read = 0
  pool.query = (async (...parameters: Parameters<typeof query>) => {
    const result = (await Reflect.apply(query, pool, parameters)) as unknown as { rows: unknown[] }
    read += result.rows.length
    return result
  }) as never
  const shown: string[] = []
  for (const limit of [2, 3]) {
    const { body } = await ada.get(next.replace(/limit=\d+/, `limit=${limit}`))
    shown.push(...told(body._embedded.changes))
    next = body._links.next.href
  }
  pool.query = query
  t.deepEqual(shown, [
    'created planets/wide 2',
    ...[100, 101, 102, 103].map((one) => `created moons/n${one} 1`),
  ])
  t.true(read > 5 && read < 30, `${read} rows`)
})

test.serial('a version that the caller may read is found below hundreds that it may not', async (t) => {
  const { database, writer, withSubject } = service()
  await put(writer, '/planets/deep', { host_star: 'ada' })
  await database.pool.query(`DO $$ BEGIN FOR year IN 1000..1300 LOOP
    UPDATE planets SET host_star = 'bob', discovery_year = year WHERE id = 'deep'; END LOOP; END $$`)
  const { body } = await withSubject('ada').get('/planets/deep/versions?limit=1')
  t.deepEqual(
    body._embedded.versions.map((one: Json) => one.version),
    [1],
  )
  t.is((await writer.get('/planets/deep')).body.discovery_year, 1300)
})

test.serial(
  'versions are those that the caller may read, and a deleted row is gone only if its last state was one',
  async (t) => {
    const { writer, withSubject } = service()
    const [ada, bob] = [withSubject('ada'), withSubject('bob')]
    await put(writer, '/planets/v1', { host_star: 'bob' })
    await writer.put('/planets/v1/moons/v2', { id: 'v2', name: 'Of Bob' })
    await writer.patch('/planets/v1', { host_star: 'ada' })
    await writer.patch('/planets/v1/moons/v2', { name: 'Of Ada' })
    await writer.patch('/planets/v1', { host_star: 'bob' })
    const versions = async (client: Client, path: string) => {
      const { status, body } = await client.get(`${path}/versions`)
      return status === 200
        ? body._embedded.versions.map((one: Json) => `${one.event} ${one.version}`)
        : status
    }
    t.deepEqual(await versions(ada, '/planets/v1'), ['changed 2'])
    t.deepEqual(await versions(bob, '/planets/v1'), ['changed 3', 'created 1'])
    t.deepEqual(await versions(writer, '/planets/v1'), ['changed 3', 'changed 2', 'created 1'])
    t.deepEqual(await versions(ada, '/planets/v1/moons/v2'), ['changed 2'])
    t.deepEqual(await versions(bob, '/planets/v1/moons/v2'), ['undefined 2', 'created 1'])
    t.is((await ada.get('/planets/v1/versions/2')).body.resource.host_star, 'ada')
    t.is((await ada.get('/planets/v1/versions/3')).status, 404)
    t.is((await ada.get('/planets/v1/versions/1')).status, 404)
    const query = '{ versions(collection: "planets", id: "v1") { items { version } } }'
    t.deepEqual((await ada.graphql(query)).data.versions.items, [{ version: 2 }])
    t.is(await versions(withSubject('carol'), '/planets/v1'), 404)
    await writer.delete('/planets/v1')
    t.is((await bob.get('/planets/v1')).status, 410)
    t.is((await ada.get('/planets/v1')).status, 404)
    t.is((await bob.get('/planets/v1/moons/v2')).status, 410)
    t.is((await ada.get('/planets/v1/moons/v2')).status, 404)
    t.deepEqual(await versions(bob, '/planets/v1'), ['deleted 3', 'changed 3', 'created 1'])
    t.deepEqual(await versions(ada, '/planets/v1'), ['changed 2'])
    t.is(await versions(withSubject('carol'), '/planets/v1'), 404)
    t.is((await ada.delete('/planets/v1', { prefer: 'handling=strict' })).status, 404)
  },
)

test.serial('a stream ends when the token expires whose claims decided on the rows', async (t) => {
  const { writer, base } = service()
  const token = accessToken({ secret: SECRET, scope: '*:read', subject: 'ada', seconds: 3 })
  const response = await fetch(`${base}/changes?since=now`, {
    headers: { Accept: 'text/event-stream', Authorization: `Bearer ${token}` },
  })
  await put(writer, '/planets/x1', { host_star: 'bob' })
  t.false((await response.text()).includes('x1'))
})

test('of changes from before the rules, nothing is told', async (t) => {
  const { writer, withSubject, database } = await startTestService(t, {}, { domain })
  const ada = withSubject('ada')
  await keepChanges(database.client, 30, [])
  await put(writer, '/planets/old', { host_star: 'ada' })
  const since = await end(writer)
  await writer.patch('/planets/old', { host_star: 'bob' })
  await keepChanges(database.client, 30, domain.resources)
  t.is((await ada.get(since)).status, 410)
  t.is((await writer.get(since)).status, 200)
  await writer.patch('/planets/old', { host_star: 'ada' })
  t.deepEqual(told(await changesSince(ada, '/changes')), ['created planets/old 3'])
  const versions = await ada.get('/planets/old/versions')
  t.deepEqual(versions.body._embedded.versions.length, 2)
})
