import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { purgeChanges } from '../../helpers/database/purge-changes.ts'
import { accessToken } from '../../helpers/service/access-token.ts'
import type { Client, Json } from '../../helpers/service/client.ts'
import { shareTestService, startTestService, type TestService } from '../../helpers/service/service.ts'
import { subscribe } from '../../helpers/service/subscribe.ts'

const service = shareTestService(test)

const CHANGES = `subscription ($collections: [String!], $since: String) {
  changes(collections: $collections, since: $since) { cursor collection id parentId version event resource }
}`

const EVENTS = { Accept: 'text/event-stream' }

/** Follows changes as this client. */
function follow({ origin }: TestService, { authorization }: Client, variables = {}, query = CHANGES) {
  return subscribe(origin, authorization, query, variables)
}

const told = (results: readonly Json[]) =>
  results.map(({ data }) => `${data.changes.event} ${data.changes.id} ${data.changes.version}`)

const codes = (results: readonly Json[]) => results.flatMap(({ errors = [] }) => errors.map(codeOf))

const codeOf = ({ extensions }: Json) => extensions.code

async function end({ reader }: TestService): Promise<string> {
  return (await reader.graphql('{ changes(since: "now") { nextCursor } }')).data.changes.nextCursor
}

test.serial('a subscription sends each change from its beginning on, in the order of the feed', async (t) => {
  const { writer, reader } = service()
  await writer.put('/planets/before', { id: 'before', name: 'Before' })
  const begin = await end(service())
  const all = await follow(service(), reader)
  const moons = await follow(service(), reader, { collections: ['moons'], since: 'now' })
  await writer.put('/planets/vesta', { id: 'vesta', name: 'Vesta', host_star: 'Sol' })
  await writer.patch('/planets/vesta', { name: 'Ceres' })
  await writer.put('/planets/vesta/moons/luna', { id: 'luna', name: 'Luna' })
  await writer.delete('/planets/vesta')
  const expected = [
    'CREATED vesta 1',
    'CHANGED vesta 2',
    'CREATED luna 1',
    'DELETED vesta 2',
    'DELETED luna 1',
  ]
  t.deepEqual(told(await all.until(5)), expected)
  t.deepEqual(told(await moons.until(2)), ['CREATED luna 1', 'DELETED luna 1'])
  const { items } = (
    await reader.graphql(
      `query ($since: String) { changes(since: $since) {
        items { cursor collection id parentId version event resource } } }`,
      { since: begin },
    )
  ).data.changes
  t.deepEqual(
    all.results.map(({ data }) => data.changes),
    items,
  )
  for (const one of [all, moons]) one.leave()
})

test.serial('a subscription resumes after the cursor of any change, without gaps and repeats', async (t) => {
  const { writer, reader } = service()
  const own = await follow(service(), reader, { collections: ['spacecraft'] })
  const put = (id: string) => writer.put(`/spacecraft/${id}`, { id, name: id, kind: 'rover' })
  for (const id of ['one', 'two']) await put(id)
  const [{ data }] = (await own.until(1)) as [Json]
  own.leave()
  await own.ended
  for (let number = 0; number < 45; number++) await put(`more-${number}`)
  const since = data.changes.cursor
  const resumed = await follow(service(), reader, { collections: ['spacecraft'], since })
  const ids = (await resumed.until(46)).map((result) => result.data.changes.id)
  t.deepEqual(ids, ['two', ...Array.from({ length: 45 }, (_, number) => `more-${number}`)])
  resumed.leave()
})

test.serial('the subscription of an owned resource has those of each parent, or of one', async (t) => {
  const { writer, reader } = service()
  const query = 'subscription ($parent: ID) { moonChanged(planetId: $parent) { parentId id } }'
  for (const planet of ['left', 'right']) await writer.put(`/planets/${planet}`, { id: planet, name: planet })
  const all = await follow(service(), reader, {}, query)
  const one = await follow(service(), reader, { parent: 'right' }, query)
  for (const planet of ['left', 'right'])
    await writer.put(`/planets/${planet}/moons/luna`, { id: 'luna', name: 'Luna' })
  const parentsIn = (results: readonly Json[]) => results.map(({ data }) => data.moonChanged.parentId)
  t.deepEqual(parentsIn(await all.until(2)), ['left', 'right'])
  t.deepEqual(parentsIn(await one.until(1)), ['right'])
  all.leave()
  one.leave()
})

test.serial(
  'only changes that the token may read are sent; what it may not, and what is no position, is an error',
  async (t) => {
    const { writer, reader, withScope, anonymous } = service()
    const engineer = withScope('spacecraft:read planets:write')
    const own = await follow(service(), engineer)
    await writer.put('/planets/unseen', { id: 'unseen', name: 'Unseen' })
    await writer.put('/spacecraft/hermes', { id: 'hermes', name: 'Hermes', kind: 'rover' })
    t.deepEqual(told(await own.until(1)), ['CREATED hermes 1'])
    own.leave()
    const ahead = Buffer.from('999999').toString('base64url')
    for (const [client, variables, code] of [
      [engineer, { collections: ['planets'] }, 'ACCESS_DENIED'],
      [withScope(''), {}, 'ACCESS_DENIED'],
      [reader, { collections: ['stars'] }, 'INVALID_QUERY_PARAMETER'],
      [reader, { since: 'x' }, 'INVALID_QUERY_PARAMETER'],
      [reader, { since: '' }, 'INVALID_QUERY_PARAMETER'],
      [reader, { since: ahead }, 'RESOURCE_GONE'],
      [reader, { since: 1 }, 'VALIDATION_FAILED'],
    ] as const) {
      const refused = await follow(service(), client, variables)
      t.is(await refused.ended, undefined)
      t.deepEqual(codes(refused.results), [code], JSON.stringify(variables))
    }
    const refused = await follow(service(), anonymous)
    t.regex(String(await refused.ended), /401/)
  },
)

test.serial('documents have the limits and rules of queries', async (t) => {
  for (const query of [
    'subscription {',
    'subscription { nothing { id } }',
    'subscription { changes { id } other: changes { id } }',
    'subscription { __typename }',
    `subscription { changes { ${Array.from({ length: 31 }, (_, index) => `a${index}: id`)} } }`,
  ]) {
    const refused = await follow(service(), service().reader, {}, query)
    t.is(await refused.ended, undefined)
    t.is(codes(refused.results)[0], 'VALIDATION_FAILED', query)
  }
  for (const query of [
    'subscription { changes @skip(if: true) { id } }',
    'subscription ($on: Boolean = false) { ... @include(if: $on) { changes { id } } }',
    'subscription { ...F @skip(if: true) } fragment F on Subscription { changes { id } }',
    'subscription { ...F } fragment F on Subscription { changes @include(if: false) { id } }',
  ]) {
    const { status, errors } = await service().reader.graphql(query, {}, EVENTS)
    t.deepEqual([status, errors?.map(codeOf)], [400, ['VALIDATION_FAILED']], query)
  }
  const conditional = 'subscription ($all: Boolean!) { changes { id @include(if: $all) version } }'
  const own = await follow(service(), service().reader, { all: false }, conditional)
  await service().writer.put('/planets/limited', { id: 'limited', name: 'Limited' })
  t.deepEqual((await own.until(1))[0], { data: { changes: { version: 1 } } })
  own.leave()
})

test.serial('queries and mutations can be sent as events, and subscriptions as nothing else', async (t) => {
  const { reader, writer, origin } = service()
  const query = await follow(service(), reader, {}, '{ collections { path } }')
  t.is(await query.ended, undefined)
  t.is(query.results[0].data.collections[0].path, 'species')
  const create = 'mutation { createPlanet(input: { name: "Sent as an event" }) { outcome } }'
  const mutation = await follow(service(), writer, {}, create)
  t.deepEqual(await mutation.until(1), [{ data: { createPlanet: { outcome: 'CREATED' } } }])

  const body = { query: CHANGES }
  for (const accept of ['application/json', '*/*', 'application/graphql-response+json']) {
    const refused = await reader.post(`${origin}/graphql`, body, { Accept: accept })
    t.deepEqual([refused.status, refused.body.errors.map(codeOf)], [406, ['NOT_ACCEPTABLE']], accept)
  }
  const both = { Accept: 'application/json, text/event-stream' }
  t.is(
    (await reader.post(`${origin}/graphql`, { query: '{ collections { path } }' }, both)).body.errors,
    undefined,
  )
  const get = `${origin}/graphql?query=${encodeURIComponent('subscription { changes { id } }')}`
  t.is((await reader.get(get, { 'Apollo-Require-Preflight': '1' })).status, 405)
  const streamed = await reader.get(get, { 'Apollo-Require-Preflight': '1', ...EVENTS })
  t.regex(streamed.text, /^event: next\ndata: \{"errors":.*\n\nevent: complete\ndata:\n\n$/)
  t.is((await reader.post(`${origin}/graphql`, '{', EVENTS)).status, 400)
})

test.serial(
  'subscriptions at one position have the collections that each asks for and may read',
  async (t) => {
    const { writer, reader, withScope } = service()
    const since = await end(service())
    const put = async (id: string) => {
      await writer.put(`/planets/p-${id}`, { id: `p-${id}`, name: `P ${id}` })
      await writer.put(`/spacecraft/s-${id}`, { id: `s-${id}`, name: `S ${id}`, kind: 'rover' })
    }
    await put('before')
    const planets = ['p-before', 'p-after']
    const both = ['p-before', 's-before', 'p-after', 's-after']
    const engineer = withScope('spacecraft:read')
    const expected: [Client, Json, string[]][] = Array.from({ length: 4 }, (): [Client, Json, string[]][] => [
      [reader, {}, both],
      [withScope('planets:read'), {}, planets],
      [engineer, {}, ['s-before', 's-after']],
      [reader, { collections: ['planets'] }, planets],
      [reader, { collections: ['planets', 'spacecraft'] }, both],
      [engineer, { collections: ['spacecraft'] }, ['s-before', 's-after']],
    ]).flat()
    const followed = await Promise.all(
      expected.map(([client, variables]) => follow(service(), client, { ...variables, since })),
    )
    await put('after')
    for (const [index, one] of followed.entries()) {
      const [, , ids] = expected[index] as (typeof expected)[number]
      await one.until(ids.length)
      t.deepEqual(
        one.results.map(({ data }) => data.changes.id),
        ids,
      )
      one.leave()
    }
  },
)

test.serial('a client that leaves its subscription no longer counts among those that wait', async (t) => {
  const { writer, withSubject, base } = service()
  const leaving = withSubject('leaving')
  const followed = await Promise.all(
    Array.from({ length: 100 }, () => follow(service(), leaving, { collections: ['planets'] })),
  )
  await writer.put('/planets/seen-by-all', { id: 'seen-by-all', name: 'Seen by all' })
  for (const one of followed) await one.until(1)
  const feed = `${base}/changes?collection=planets&since=${await end(service())}`
  const waits = async () => (await leaving.get(feed, { Prefer: 'wait=1' })).headers.has('preference-applied')
  t.false(await waits())
  for (const one of followed) one.leave()
  // One that is quiet is only written to after 5 seconds, when the service would notice in any case.
  for (let attempt = 0; attempt < 15 && !(await waits()); attempt++) await delay(200)
  t.true(await waits())
})

test('a subscription ends with its token', async (t) => {
  const own = await startTestService(t)
  for (let seconds = 2; ; seconds *= 2) {
    const token = accessToken({
      secret: 'only the tests know this secret of theirs',
      scope: '*:read',
      seconds,
    })
    const followed = await subscribe(own.origin, `Bearer ${token}`, CHANGES)
    const failure = await followed.ended
    // Where the machine was too slow, the token had expired before.
    if (failure && seconds < 100) continue
    t.is(failure, undefined)
    t.deepEqual(codes(followed.results), ['AUTHENTICATION_REQUIRED'])
    return
  }
})

test('a subscription after purged changes is an error, and so is one without a record', async (t) => {
  const own = await startTestService(t)
  const since = await end(own)
  await own.writer.put('/planets/one', { id: 'one', name: 'One' })
  await purgeChanges(own.database)
  const gone = await follow(own, own.reader, { since })
  t.is(await gone.ended, undefined)
  t.deepEqual(codes(gone.results), ['RESOURCE_GONE'])
  const none = await startTestService(t, { changesDays: 0 })
  t.deepEqual(codes(await (await follow(none, none.reader)).until(1)), ['RESOURCE_NOT_FOUND'])
})

test('one that does not read holds up no other', async (t) => {
  const own = await startTestService(t)
  const { origin, reader, database } = own
  const headers = {
    Authorization: reader.authorization as string,
    'Content-Type': 'application/json',
    ...EVENTS,
  }
  const slow = request(`${origin}/graphql`, { method: 'POST', headers })
  slow.end(JSON.stringify({ query: CHANGES }))
  const [response] = (await once(slow, 'response')) as [IncomingMessage]
  response.pause()
  const fast = await follow(own, reader)
  const count = 2_000
  await database.pool.query(
    `INSERT INTO missions (id, name, status, objective)
      SELECT 'm' || n, 'm' || n, 'planned', repeat('x', 10000) FROM generate_series(1, ${count}) AS n`,
  )
  const results = await fast.until(count)
  t.is(new Set(results.map(({ data }) => data.changes.id)).size, count)
  fast.leave()
  response.destroy()
})

test('at most a hundred subscriptions of a caller wait; the others end with an error', async (t) => {
  const own = await startTestService(t)
  const followed = await Promise.all(Array.from({ length: 102 }, () => follow(own, own.reader)))
  const ended = () => followed.filter(({ results }) => results.length > 0)
  while (ended().length < 2) await delay(10)
  t.deepEqual(
    ended().flatMap(({ results }) => codes(results)),
    ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  )
  const other = await follow(own, own.withSubject('other'))
  await own.writer.put('/planets/awaited', { id: 'awaited', name: 'Awaited' })
  t.deepEqual(told(await other.until(1)), ['CREATED awaited 1'])
  for (const one of [...followed, other]) one.leave()
})

test('subscriptions end when the service stops', async (t) => {
  const releases: (() => Promise<void>)[] = []
  const own = await startTestService({ teardown: (release) => void releases.push(release) })
  const followed = await follow(own, own.reader)
  for (const release of releases.reverse()) await release()
  t.is(await followed.ended, undefined)
  t.deepEqual(codes(followed.results), ['SERVICE_UNAVAILABLE'])
})
