import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type { QueryResult } from 'pg'
import type { StatementClient } from '../../../src/database/database-client.ts'
import { beginTimeline } from '../../../src/domain/recording.ts'
import { followFeed } from '../../../src/features/history/feed/follow.ts'
import { readEnd } from '../../../src/features/history/feed/read-feed.ts'
import { toCursor } from '../../../src/features/history/feed/recorded-change.ts'
import { FeedWatch } from '../../../src/features/history/feed/watch.ts'
import { unrestricted } from '../../../src/model/access/access.ts'
import { DomainError } from '../../../src/model/errors.ts'
import { createDatabaseOn, findServer } from '../../helpers/database/postgres-server.ts'
import { purgeChanges } from '../../helpers/database/purge-changes.ts'
import { resources } from '../../helpers/domain/domain.ts'
import { openConnection } from '../../helpers/process/raw-connection.ts'
import { accessToken } from '../../helpers/service/access-token.ts'
import type { Answer, Client, Json } from '../../helpers/service/client.ts'
import { readEvents } from '../../helpers/service/read-events.ts'
import { shareTestService, startTestService } from '../../helpers/service/service.ts'

const SECRET = 'only the tests know this secret of theirs'

const access = unrestricted('all changes are read')

const service = shareTestService(test)

/** What a client reads that follows `next` until there is no more, and where it stopped. */
async function follow(
  client: Client,
  url: string,
): Promise<{ changes: Json[]; next: string; pages: number }> {
  const changes: Json[] = []
  for (let pages = 1; ; pages++) {
    const { status, body, text } = await client.get(url)
    if (status !== 200) throw new Error(text)
    changes.push(...body._embedded.changes)
    url = body._links.next.href
    if (!body.has_more) return { changes, next: url, pages }
  }
}

/** The end of the feed. */
async function end(client: Client, rest = ''): Promise<string> {
  return (await client.get(`/changes?since=now${rest}`)).body._links.next.href
}

const told = (changes: readonly Json[]) =>
  changes.map(({ event, id, version }) => `${event} ${id} ${version}`)

test.serial(
  'the feed has each change once, with the resource after it, in pages that next joins',
  async (t) => {
    const { withSubject, reader, base } = service()
    const ada = withSubject('ada')
    const begin = await end(reader, '&limit=2')
    await ada.put('/planets/vesta', { id: 'vesta', name: 'Vesta', host_star: 'Sol' })
    await ada.patch('/planets/vesta', { name: 'Ceres', host_star: null })
    await ada.put('/planets/vesta/moons/luna', { id: 'luna', name: 'Luna' })
    const { body: planet } = await reader.get('/planets/vesta')
    await ada.delete('/planets/vesta')
    const { changes, next, pages } = await follow(reader, begin)
    t.is(pages, 3)
    t.deepEqual(told(changes), [
      'created vesta 1',
      'changed vesta 2',
      'created luna 1',
      'deleted vesta 2',
      'deleted luna 1',
    ])
    const { _links, ...fields } = planet
    const { time, ...change } = changes[1]
    t.deepEqual(change, {
      collection: 'planets',
      id: 'vesta',
      version: 2,
      event: 'changed',
      by: 'ada',
      resource: fields,
      _links: { resource: { href: `${base}/planets/vesta` } },
    })
    t.regex(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.like(changes[2], {
      parent_id: 'vesta',
      _links: { resource: { href: `${base}/planets/vesta/moons/luna` } },
    })
    t.is(changes[3].resource, undefined)

    const { body: quiet } = await reader.get(next)
    t.deepEqual([quiet._embedded.changes, quiet.has_more, quiet._links.next.href], [[], false, next])
    await ada.put('/planets/vesta', { id: 'vesta', name: 'Again' })
    t.deepEqual(told((await follow(reader, next)).changes), ['created vesta 3'])
    t.deepEqual(told((await follow(reader, begin)).changes).length, 6)
  },
)

test.serial('each kind of resource is in the feed as it is in REST, without hidden fields', async (t) => {
  const { writer, reader } = service()
  const begin = await end(reader)
  await writer.put('/species/una', {
    id: 'una',
    scientific_name: 'Una',
    planet_origin: 'Ida',
    temperature_range: { min_celsius: -1.5, max_celsius: 1e300 },
  })
  await writer.put('/planets/Ida/atmosphere', { composition: { neon: 0.25 }, breathable: false })
  await writer.put('/missions/far', { id: 'far', name: 'Far', launch_date: '2031-05-06' })
  const { changes } = await follow(reader, begin)
  t.deepEqual(told(changes), ['created Ida 1', 'created una 1', 'created Ida 1', 'created far 1'])
  for (const { resource, _links } of changes) {
    const { _links: links, ...fields } = (await reader.get(_links.resource.href)).body
    t.deepEqual(resource, fields)
  }
})

test.serial(
  'only changes that the token may read are shown, and a position advances over the others',
  async (t) => {
    const { writer, reader, withScope, anonymous } = service()
    const begin = await end(reader)
    for (const id of ['first', 'second']) await writer.put(`/planets/${id}`, { id, name: `Only ${id}` })
    await writer.put('/spacecraft/hermes', { id: 'hermes', name: 'Hermes', kind: 'rover' })
    const engineer = withScope('spacecraft:read planets:write')
    const { changes, next } = await follow(engineer, begin)
    t.deepEqual(told(changes), ['created hermes 1'])
    t.is(next, (await follow(reader, begin)).next)
    const planets = await follow(reader, begin.replace('?', '?collection=planets&'))
    t.deepEqual(told(planets.changes), ['created first 1', 'created second 1'])
    t.is((await engineer.get('/changes?collection=planets')).status, 403)
    t.is((await withScope('planets:write').get('/changes')).status, 403)
    t.is((await anonymous.get('/changes')).status, 401)
  },
)

test.serial('what is no position, no collection or no parameter is refused', async (t) => {
  const { reader } = service()
  for (const query of [
    'since=x',
    'since=',
    'since=LTE',
    'since=MDE',
    'since=%00',
    'collection=stars',
    'collection=',
    'limit=0',
    'limit=101',
    'page=1',
    'since=now&since=now',
  ]) {
    const { status, body } = await reader.get(`/changes?${query}`)
    t.deepEqual([status, body.error.code], [400, 'INVALID_QUERY_PARAMETER'], query)
  }
  t.is((await service().writer.post('/changes', {})).status, 405)
})

test.serial('a mass deletion is one change for each child, and pages divide it', async (t) => {
  const { writer, reader, database } = service()
  await writer.put('/planets/full', { id: 'full', name: 'Full' })
  await database.pool.query(
    "INSERT INTO moons (planet_id, id, name) SELECT 'full', 'm' || n, 'M' FROM generate_series(1, 1501) AS n",
  )
  await database.pool.query("UPDATE moons SET name = 'N' WHERE id = 'm7'")
  const begin = await end(reader, '&limit=99')
  await writer.delete('/planets/full')
  const { changes, pages } = await follow(reader, begin)
  t.is(pages, 16)
  t.is(new Set(told(changes)).size, 1502)
  t.true(told(changes).includes('deleted m7 2'))
  t.true(changes.slice(0, -1).every(({ parent_id }) => parent_id === 'full'))
  t.is(changes.at(-1)?.id, 'full')
})

test('a position is gone when changes after it were purged; without one, the feed begins with the oldest', async (t) => {
  const own = await startTestService(t)
  const { writer, reader } = own
  const put = (id: string) => writer.put(`/planets/${id}`, { id, name: id })
  const begin = await end(reader)
  await put('one')
  const { next } = await follow(reader, begin)
  await put('two')
  await purgeChanges(own.database)
  const { status, body } = await reader.get(next)
  t.deepEqual([status, body.error.code], [410, 'RESOURCE_GONE'])
  const fresh = await follow(reader, '/changes')
  t.deepEqual(fresh.changes, [])
  await put('three')
  t.deepEqual(told((await follow(reader, '/changes')).changes), ['created three 1'])
  t.deepEqual(told((await follow(reader, fresh.next)).changes), ['created three 1'])
  // Of a database that was restored from a backup.
  const ahead = Buffer.from('999').toString('base64url')
  t.is((await reader.get(`/changes?since=${ahead}`)).status, 410)
})

test('after `halgraph restored`, positions that may be lost are gone, and the feed continues after it', async (t) => {
  const own = await startTestService(t)
  const { writer, reader, database } = own
  const put = (id: string, name = id) => writer.put(`/planets/${id}`, { id, name })
  await put('one')
  const { next: kept } = await follow(reader, '/changes')
  // As if positions were lost that a client has.
  const lost = `/changes?since=${toCursor((await readEnd({ client: database.client, changesDays: 30 })) + 1)}`
  t.is((await reader.get(lost)).status, 410)
  const timeline =
    'BEGIN; SELECT FROM begin_timeline(); SELECT last_position + 1 AS first FROM change_feed; ROLLBACK'
  const [, , { rows }] = (await database.pool.query(timeline)) as unknown as [unknown, unknown, QueryResult]
  const another = `/changes?since=${toCursor(rows[0].first)}`
  t.true(await beginTimeline(database.client))
  const { next: end } = await follow(reader, '/changes?since=now')
  await put('two')
  await put('one', 'Changed')
  for (const since of [kept, end, '/changes?since=MA'])
    t.deepEqual(
      told((await follow(reader, since)).changes)
        .map((change) => change.split(' ', 2).join(' '))
        .slice(-2),
      ['created two', 'changed one'],
    )
  for (const position of [lost, another]) t.is((await reader.get(position)).status, 410)
  await beginTimeline(database.client)
  t.deepEqual((await follow(reader, '/changes?since=now')).changes, [])
  t.is((await follow(reader, kept)).changes.length, 2)
  t.is((await reader.get(lost)).status, 410)
  await purgeChanges(database)
  t.is((await reader.get(lost)).status, 410)
  t.is((await reader.get(kept)).status, 410)
})

test('without a record there is no feed', async (t) => {
  const { reader } = await startTestService(t, { changesDays: 0 })
  const { status, body } = await reader.get('/changes')
  t.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  const { data } = await reader.graphql('{ planetPage { changesCursor } }')
  t.is(data.planetPage.changesCursor, null)
  t.notRegex((await reader.get('/planets')).headers.get('link') ?? '', /rel="changes"/)
  const daily = await startTestService(t, { changesDays: 1 })
  t.is((await daily.reader.get('/changes')).status, 200, 'a record of one day is one')
})

test.serial('GraphQL has the same feed', async (t) => {
  const { writer, reader, withScope } = service()
  const { data } = await reader.graphql('{ changes(since: "now") { items { id } hasMore nextCursor } }')
  t.deepEqual([data.changes.items, data.changes.hasMore], [[], false])
  await writer.put('/planets/graph', { id: 'graph', name: 'Graph', distance_parsecs: 2 })
  await writer.put('/planets/graph/moons/moon', { id: 'moon', name: 'Moon' })
  const query = `query ($since: String) { changes(since: $since, collections: ["planets", "moons"], limit: 1) {
    items { cursor collection id parentId version event time by resource } hasMore nextCursor } }`
  const first = (await reader.graphql(query, { since: data.changes.nextCursor })).data.changes
  const [change] = first.items
  t.like(change, { collection: 'planets', id: 'graph', parentId: null, version: 1, event: 'CREATED' })
  t.like(change.resource, {
    name: 'Graph',
    distance_parsecs: 2,
    last_updated: (await reader.get('/planets/graph')).body.last_updated,
  })
  t.deepEqual([first.hasMore, first.nextCursor], [true, change.cursor])
  const second = (await reader.graphql(query, { since: change.cursor })).data.changes
  t.like(second.items[0], { collection: 'moons', parentId: 'graph' })
  const refused = await withScope('moons:read').graphql(query, {})
  t.is(refused.errors?.[0].extensions.code, 'ACCESS_DENIED')
  t.is(
    (await reader.graphql('{ changes(limit: 101) { hasMore } }')).errors?.[0].extensions.code,
    'INVALID_QUERY_PARAMETER',
  )
})

test.serial('a copy made of lists and the feed equals the original, while writers write', async (t) => {
  const { writer, reader } = service()
  let isWriting = true
  const write = async (_: unknown, index: number) => {
    for (let round = 0; round < 25; round++) {
      const id = `copied-${(index * 7 + round * 3) % 20}`
      if (round % 5 === 4) await writer.delete(`/planets/${id}`)
      else await writer.put(`/planets/${id}`, { id, name: id, orbital_period_days: index * 100 + round })
    }
  }
  const writers = Promise.all(Array.from({ length: 4 }, write)).finally(() => {
    isWriting = false
  })
  const copy = new Map<string, Json>()
  let next = await end(reader, '&collection=planets')
  for (let url = '/planets?limit=10'; url; ) {
    const { body } = await reader.get(url)
    for (const { _links, ...fields } of body._embedded.planets) copy.set(fields.id, fields)
    url = body._links.next?.href
  }
  const apply = async () => {
    const followed = await follow(reader, next)
    next = followed.next
    for (const { id, resource } of followed.changes) {
      if (resource) copy.set(id, resource)
      else copy.delete(id)
    }
  }
  while (isWriting) await apply()
  await writers
  await apply()
  const original = await reader.get('/planets?limit=100')
  const items = original.body._embedded.planets.map(({ _links, ...fields }: Json) => fields)
  const byId = (one: Json, other: Json) => (one.id < other.id ? -1 : 1)
  t.deepEqual([...copy.values()].sort(byId), items.sort(byId))
})

const applied = ({ headers }: { headers: Headers }) => headers.get('preference-applied')

test.serial(
  'a request that prefers to wait is answered with the next change that it would show',
  async (t) => {
    const { writer, reader } = service()
    const begin = await end(reader, '&collection=spacecraft')
    const waiting = reader.get(begin, { Prefer: 'wait=30' })
    let isOver = false
    const quiet = (async () => {
      await reader.get(await end(reader, '&collection=moons'), { Prefer: 'wait=10' })
      isOver = true
    })()
    // It has found nothing yet.
    await delay(500)
    await writer.put('/planets/unseen', { id: 'unseen', name: 'Unseen' })
    await writer.put('/spacecraft/argo', { id: 'argo', name: 'Argo', kind: 'rover' })
    const answer = await waiting
    t.deepEqual(told(answer.body._embedded.changes), ['created argo 1'])
    t.is(applied(answer), 'wait=30')
    t.false(isOver)
    await quiet
    const known = await reader.get(begin, { Prefer: 'wait=4' })
    t.deepEqual(told(known.body._embedded.changes), ['created argo 1'])
  },
)

test.serial('a wait that is over has no changes, and its next continues', async (t) => {
  const { writer, reader } = service()
  const quiet = await reader.get(await end(reader), { Prefer: 'wait=1' })
  t.deepEqual([quiet.status, quiet.body._embedded.changes, applied(quiet)], [200, [], 'wait=1'])
  await writer.put('/planets/later', { id: 'later', name: 'Later' })
  t.deepEqual(told((await follow(reader, quiet.body._links.next.href)).changes), ['created later 1'])
  const longest = await reader.get('/changes', { Prefer: 'wait=3600' })
  t.is(applied(longest), 'wait=30')
  t.is((await reader.get('/changes?since=x', { Prefer: 'wait=1' })).status, 400)
  t.is((await service().withScope('').get('/changes', { Prefer: 'wait=1' })).status, 403)
})

test.serial(
  'one caller may wait a hundred times at once; further requests are answered immediately',
  async (t) => {
    const { reader, writer } = service()
    const begin = await end(reader)
    const answers: Answer[] = []
    const waits = Array.from({ length: 103 }, async () => {
      answers.push(await reader.get(begin, { Prefer: 'wait=30' }))
    })
    while (answers.length < 3) await delay(10)
    t.deepEqual(answers.map(applied), [null, null, null])
    await writer.put('/planets/awaited', { id: 'awaited', name: 'Awaited' })
    await Promise.all(waits)
    t.true(answers.every(({ status }) => status === 200))
    t.is(answers.filter((answer) => applied(answer) === null).length, 3)
  },
)

test.serial('a thousand requests may wait, whoever they belong to', async (t) => {
  const { writer, withSubject } = service()
  const begin = await end(writer)
  const answers: Answer[] = []
  const waits = Array.from({ length: 1_003 }, async (_, index) => {
    answers.push(await withSubject(`waiting ${index % 11}`).get(begin, { Prefer: 'wait=30' }))
  })
  while (answers.length < 3) await delay(10)
  t.deepEqual(answers.map(applied), [null, null, null])
  await writer.put('/planets/long-awaited', { id: 'long-awaited', name: 'Long awaited' })
  await Promise.all(waits)
  t.true(answers.every(({ status }) => status === 200))
  t.is(answers.filter((answer) => applied(answer) === 'wait=30').length, 1_000)
})

test.serial('a client that leaves no longer counts among those that wait', async (t) => {
  const { reader, writer, base } = service()
  const begin = await end(reader, '&collection=planets')
  const authorization = `Bearer ${accessToken({ secret: SECRET, scope: 'planets:read', subject: 'leaving' })}`
  const waits = async (since: string) => {
    const answer = await fetch(since, { headers: { authorization, prefer: 'wait=1' } })
    return answer.headers.has('preference-applied')
  }
  const connections = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const connection = await openConnection(base)
      const request = [
        `GET ${begin} HTTP/1.1`,
        `Host: ${new URL(base).host}`,
        `Authorization: ${authorization}`,
        'Accept: text/event-stream',
      ]
      connection.write(`${request.join('\r\n')}\r\n\r\n`)
      await once(connection, 'data')
      return connection
    }),
  )
  const told = connections.map((connection) => once(connection, 'data'))
  await writer.put('/planets/seen-by-all', { id: 'seen-by-all', name: 'Seen by all' })
  await Promise.all(told)
  const since = await end(reader, '&collection=planets')
  t.false(await waits(since))
  for (const connection of connections) connection.destroy()
  // A stream that is quiet is only written to after 5 seconds, when the service would notice in any case.
  for (let attempt = 0; attempt < 15 && !(await waits(since)); attempt++) await delay(200)
  t.true(await waits(since))
})

test('a stream goes on after a page that a busy service refused to read, and ends with any other error', async (t) => {
  const answers = [
    () => Promise.reject(new DomainError('SERVICE_UNAVAILABLE', 'Busy.')),
    () => Promise.resolve({ changes: [], next: 'b', hasMore: true }),
    () => Promise.reject(new DomainError('RESOURCE_GONE', 'Gone.')),
  ]
  const feed = { wait: async () => answers.shift()?.() }
  const request = { resources: [], access, since: 'a', limit: 1 }
  const pages = followFeed(feed, request, caller, new AbortController().signal)
  t.is((await pages.next()).value?.next, 'b')
  await t.throwsAsync(pages.next(), { message: 'Gone.' })
})

test('a request that waits is woken by a write of its process, without the next look at the database', async (t) => {
  const { writer, database } = await startTestService(t)
  const feed = new FeedWatch({ client: database.client, changesDays: 30 }, 3_600_000)
  t.teardown(async () => feed.stop())
  await feed.refresh()
  const isWoken = waitWith(feed)
  await writer.put('/planets/woken', { id: 'woken', name: 'Woken' })
  feed.written()
  t.true(await isWoken)
})

test('while nothing changes, a waiting request makes the feed look at its end at intervals, and search once', async (t) => {
  const { database } = await startTestService(t)
  const statements: string[] = []
  const client: StatementClient = {
    $rows(statement) {
      statements.push(statement.text)
      return database.client.$rows(statement)
    },
  }
  const feed = new FeedWatch({ client, changesDays: 30 }, 200)
  t.teardown(async () => feed.stop())
  await feed.refresh()
  statements.length = 0
  const request = { resources, access, since: toCursor(await readEnd(feed.source)), limit: 1 }
  const result = await feed.wait(request, caller, 1_000, new AbortController().signal)
  t.like(result, { changes: [], hasMore: false })
  const counts = [...new Set(statements)].map((text) => statements.filter((other) => other === text).length)
  t.is(Math.min(...counts), 1, 'the search')
  t.true(Math.max(...counts) <= 7, `${counts}`)
})

test('requests of one caller that wait for different collections search one after the other', async (t) => {
  const { database } = await startTestService(t)
  const running = { all: 0, most: 0 }
  const client: StatementClient = {
    async $rows<Result>(statement: Parameters<StatementClient['$rows']>[0]) {
      running.most = Math.max(running.most, ++running.all)
      await delay(20)
      return database.client.$rows<Result>(statement).finally(() => running.all--)
    },
  }
  const feed = new FeedWatch({ client, changesDays: 30 }, 3_600_000)
  t.teardown(async () => feed.stop())
  await feed.refresh()
  const since = toCursor(await readEnd(feed.source))
  running.most = 0
  const waits = resources.map((resource) => {
    const request = { resources: [resource], access, since, limit: 1 }
    return feed.wait(request, caller, 600, new AbortController().signal)
  })
  await Promise.all(waits)
  // One looks at the end of the feed.
  t.true(running.most <= 2, `${running.most}`)
})

const caller = { identity: 'reader', scopes: new Set<string>(), subject: undefined, claims: {} }

/** Whether a request that waits for the next change is woken within a minute. */
async function waitWith(feed: FeedWatch): Promise<boolean> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), 60_000)
  const request = { resources, access, since: toCursor(await readEnd(feed.source)), limit: 1 }
  await feed.wait(request, caller, 3_600_000, ending.signal)
  clearTimeout(timer)
  return !ending.signal.aborted
}

test('a request that waits is woken by a write of another process', async (t) => {
  const server = findServer(t.log)
  if (!server) return t.pass()
  const databaseUrl = await createDatabaseOn(server, t)
  const { database } = await startTestService(t, { databaseUrl })
  const { writer } = await startTestService(t, { databaseUrl })
  const feed = new FeedWatch({ client: database.client, changesDays: 30 })
  await feed.refresh()
  const isWoken = waitWith(feed)
  await writer.put('/planets/first', { id: 'first', name: 'first' })
  t.true(await isWoken)
})

test.serial('each write of a process is told to its feed, and so is each batch', async (t) => {
  const { writer } = service()
  let count = 0
  const { written } = FeedWatch.prototype
  FeedWatch.prototype.written = function (this: FeedWatch) {
    count++
    written.call(this)
  }
  t.teardown(() => {
    FeedWatch.prototype.written = written
  })
  await writer.put('/planets/told', { id: 'told', name: 'Told' })
  t.is(count, 1)
  const operations = [{ method: 'PATCH', path: '/planets/told', body: { host_star: 'Sol' } }]
  t.is((await writer.post('/batch', { operations })).status, 200)
  // Once for its field, and once after the commit.
  t.is(count, 3)
})

test('a list links to the feed, at a position from which nothing that it lacks is missing', async (t) => {
  const { reader, writer, base } = await startTestService(t)
  await writer.put('/planets/listed', { id: 'listed', name: 'Listed' })
  const list = await reader.get('/planets?limit=5')
  await writer.put('/planets/missing', { id: 'missing', name: 'Missing' })
  await writer.put('/planets/missing/moons/luna', { id: 'luna', name: 'Luna' })
  const [, url = ''] = /<([^>]*)>; rel="changes"/.exec(list.headers.get('link') ?? '') ?? []
  t.true(url.startsWith(`${base}/changes?since=`))
  const changes = told((await follow(reader, url)).changes)
  t.is(changes.at(-1), 'created missing 1')
  t.regex(
    (await reader.get('/planets/missing/moons')).headers.get('link') ?? '',
    /collection=moons&limit=20>; rel="changes"/,
  )
})

test('with replicas, a list links to a position that all of them have reached', async (t) => {
  const { writer, database } = await startTestService(t)
  const source = { client: database.client, changesDays: 30 }
  const lag = 1_000
  const feed = new FeedWatch(source, undefined, lag)
  const change = async (name: string) => {
    await writer.put('/planets/changing', { id: 'changing', name })
    await feed.refresh()
    return readEnd(source)
  }
  const first = await change('First')
  t.is(feed.startFor(first), first, 'nothing earlier is known')
  await delay(lag)
  const second = await change('Second')
  t.is(feed.startFor(second), first)
  t.is(feed.startFor(0), 0, 'a replica that lags further')
  await delay(lag)
  t.is(feed.startFor(await change('Third')), second)
  await beginTimeline(database.client)
  const last = await change('Of a timeline that no replica may have')
  t.is(feed.startFor(last), last)
})

test.serial('the cursor of a page is the position that its feed gives for that of the page', async (t) => {
  const { reader } = service()
  const { startFor } = FeedWatch.prototype
  FeedWatch.prototype.startFor = () => 7
  t.teardown(() => {
    FeedWatch.prototype.startFor = startFor
  })
  const { data } = await reader.graphql('{ planetPage { changesCursor } }')
  t.is(data.planetPage.changesCursor, toCursor(7))
})

/** Reads events as a client that may read planets. */
const events = (url: string, count: number, headers = {}) =>
  readEvents(url, count, {
    Authorization: `Bearer ${accessToken({ secret: SECRET, scope: 'planets:read' })}`,
    ...headers,
  })

test.serial('a stream sends changes when they happen, and resumes after the last event', async (t) => {
  const { writer, reader, base } = service()
  const begin = await end(reader, '&collection=planets')
  const first = events(begin, 2)
  for (const id of ['live-1', 'live-2']) await writer.put(`/planets/${id}`, { id, name: id })
  const { events: sent, last } = await first
  t.deepEqual(told(sent.map(({ data }) => data)), ['created live-1 1', 'created live-2 1'])
  t.deepEqual(sent[0]?.data, (await follow(reader, begin)).changes[0])
  await writer.put('/planets/live-3', { id: 'live-3', name: 'live-3' })
  for (const after of [sent[0]?.id as string, last]) {
    const resumed = await events(begin, 1, { 'Last-Event-ID': after })
    t.is(
      told(resumed.events.map(({ data }) => data))
        .at(-1)
        ?.startsWith('created live-'),
      true,
    )
    t.is(resumed.events[0]?.data.id, after === last ? 'live-3' : 'live-2')
  }
  await t.throwsAsync(events(`${base}/changes?since=x`, 0), { message: /INVALID_QUERY_PARAMETER/ })
  await t.throwsAsync(events(`${base}/changes?collection=moons`, 0), { message: /ACCESS_DENIED/ })
})

test.serial('streams at one position have the changes that each asks for and may see', async (t) => {
  const { writer, reader, base } = service()
  const since = new URL(await end(reader)).searchParams.get('since') as string
  const both = accessToken({ secret: SECRET, scope: 'planets:read spacecraft:read' })
  const ids = async (query: string, count: number, token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    const { events: sent } = await events(`${base}/changes?since=${since}${query}`, count, headers)
    return sent.map(({ data }) => data.id)
  }
  const streams = [
    ids('', 2, both),
    ids('', 1),
    ids('&collection=spacecraft', 1, both),
    ids('', 2, both),
    ids('&limit=1', 2, both),
  ]
  await delay(500)
  await writer.put('/planets/seen', { id: 'seen', name: 'Seen' })
  await writer.put('/spacecraft/hidden', { id: 'hidden', name: 'Hidden', kind: 'rover' })
  t.deepEqual(await Promise.all(streams), [
    ['seen', 'hidden'],
    ['seen'],
    ['hidden'],
    ['seen', 'hidden'],
    ['seen', 'hidden'],
  ])
})

test.serial('a stream of a token that cannot see a change still tells the position after it', async (t) => {
  const { writer, reader, base } = service()
  const begin = new URL(await end(reader)).searchParams.get('since') as string
  await writer.put('/spacecraft/unseen', { id: 'unseen', name: 'Unseen', kind: 'rover' })
  const { events: none, last } = await events(`${base}/changes?since=${begin}`, 0)
  t.deepEqual(none, [])
  t.is(last, new URL(await end(reader)).searchParams.get('since') as string)
})
