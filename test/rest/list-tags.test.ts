import test from 'ava'
import { createTestDatabase } from '../helpers/database/database.ts'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures } from '../helpers/domain/fixtures.ts'
import { domainWith } from '../helpers/domain/versioned-domain.ts'
import type { Answer, RequestHeaders } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const tagOf = ({ headers }: Answer) => headers.get('etag') as string

for (const resource of resources.filter(({ listed }) => listed)) {
  test.serial(`${resource.path}: a list is 304 to a reader who has it, until an item changes`, async (t) => {
    const { reader, writer } = service()
    const { collection, path, parentId } = await new Fixtures(writer).create(resource)
    const shown = await reader.get(collection)
    const tag = tagOf(shown)
    t.regex(tag, /^W\/"[\w.-]+"$/)
    t.is(shown.headers.get('cache-control'), 'private, no-cache, must-revalidate')
    for (const value of [tag, tag.slice(2), tag.replace(/"$/, '-gzip"'), '*', `"x", W/"y.z",${tag}`]) {
      for (const method of ['GET', 'HEAD']) {
        const { status, text, headers } = await reader.request(method, collection, undefined, {
          'If-None-Match': value,
        })
        t.deepEqual([status, text, headers.get('etag')], [304, '', tag], value)
        t.is(headers.get('vary'), shown.headers.get('vary'))
      }
    }
    for (const value of ['"x"', '', tag.replace('W/"', 'W/"x'), tag.slice(2, -1)])
      t.is((await reader.get(collection, { 'If-None-Match': value })).status, 200, value)
    if (resource.replaceable) await writer.put(path, await new Fixtures(writer).body(resource))
    else await new Fixtures(writer).create(resource, { ...(parentId !== undefined && { parentId }) })
    const changed = await reader.get(collection, { 'If-None-Match': tag })
    t.is(changed.status, 200)
    t.not(tagOf(changed), tag)
    t.deepEqual(changed.body, (await reader.get(collection)).body)
  })
}

test.serial('each representation of a list has a tag of its own', async (t) => {
  const { reader, withScope } = service()
  const forms = { accept: 'application/prs.hal-forms+json' }
  const answers = [
    await reader.get('/spacecraft?limit=5'),
    await reader.get('/spacecraft'),
    await reader.get('/spacecraft?limit=5', { accept: 'application/hal+json' }),
    await reader.get('/spacecraft?limit=5', { accept: 'text/csv' }),
    await reader.get('/spacecraft?limit=5', { accept: 'application/x-ndjson' }),
    await reader.get('/spacecraft?limit=5', forms),
    await withScope('spacecraft:read spacecraft:write').get('/spacecraft?limit=5', forms),
    await reader.get('/spacecraft?limit=5', { prefer: 'count=none' }),
    await reader.get('/spacecraft?limit=5&filter=name:x'),
    await reader.get('/spacecraft?limit=5&filter=name:x', { prefer: 'count=none' }),
  ]
  const tags = answers.map(tagOf)
  t.is(new Set(tags).size, tags.length)
  const others = tags.slice(1).join(', ')
  const { status, body } = await reader.get('/spacecraft?limit=5', { 'if-none-match': others })
  t.deepEqual([status, body], [200, answers[0]?.body])
})

/** The same pseudo-random numbers in each run (a linear congruential generator). */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * below)
  }
}

test('a list has another tag once its definition shows other fields of the same versions', async (t) => {
  const options = await createTestDatabase(t)
  const listed = async (isHidden: boolean, tag = '') => {
    const releases: (() => Promise<void>)[] = []
    const owner = { teardown: (release: () => Promise<void>) => void releases.push(release) }
    const changes = isHidden ? { 'planets.host_star': { hidden: true as const } } : {}
    const parts = { domain: domainWith(undefined, changes) }
    const { writer } = await startTestService(owner, { ...options, publicBaseUrl: 'http://localhost' }, parts)
    await writer.put('/planets/vega-b', { id: 'vega-b', name: 'Vega b' })
    const answer = await writer.get('/planets', { 'if-none-match': tag })
    for (const release of releases) await release()
    return answer
  }
  const tag = tagOf(await listed(false))
  t.is((await listed(false, tag)).status, 304)
  t.is((await listed(true, tag)).status, 200)
})

test.serial('whatever is written, a list is 304 exactly while it shows the same', async (t) => {
  const { reader, writer, database } = service()
  const random = numbers(7)
  const path = (id: number) => `/missions/tagged-${id}`
  const put = (id: number) => {
    const body = { id: `tagged-${id}`, name: `Tagged ${id}`, objective: ['one', 'two'][random(2)] }
    return writer.put(path(id), body)
  }
  for (const id of [0, 2, 4, 6, 8]) await put(id)
  const writes = [
    put,
    put,
    (id: number) => writer.patch(path(id), { objective: 'three' }),
    (id: number) => writer.patch(path(id), {}),
    (id: number) => writer.delete(path(id)),
    (id: number) =>
      database.client.prisma
        .$executeRaw`UPDATE missions SET objective = 'by hand' WHERE id = ${`tagged-${id}`}`,
  ]
  const sorted = '/missions?limit=2&sort=name:asc'
  const { next } = (await reader.get(sorted)).body._links
  const { prev } = (await reader.get((await reader.get(next.href)).body._links.next.href)).body._links
  const requests: [string, RequestHeaders][] = [
    [sorted, {}],
    [`${sorted}&page=2`, {}],
    [`${sorted}&page=2`, { prefer: 'count=none' }],
    [next.href, {}],
    [prev.href, {}],
    [prev.href, { prefer: 'count=none' }],
    ['/missions?limit=3&filter=objective:two', {}],
    ['/missions?page=3&limit=2&sort=objective:desc', { accept: 'application/hal+json' }],
  ]
  const last = new Map<unknown, Answer>()
  for (let step = 0; step < 30; step++) {
    await writes[random(writes.length)]?.(random(10))
    for (const request of requests) {
      const [url, headers] = request
      const now = await reader.get(url, headers)
      const before = last.get(request)
      last.set(request, now)
      if (!before) continue
      const again = await reader.get(url, { ...headers, 'If-None-Match': tagOf(before) })
      t.is(again.status, before.text === now.text ? 304 : 200, `${step}: ${url}`)
      t.is(tagOf(again), tagOf(now))
      if (again.status === 200) t.is(again.text, now.text)
    }
  }
})

test.serial('GraphQL: a page whose revision still holds has no items', async (t) => {
  const { reader, writer } = service()
  await writer.put('/planets/revised', { id: 'revised', name: 'Revised' })
  for (const id of ['a', 'b', 'c']) await writer.put(`/planets/revised/moons/${id}`, { id, name: id })
  const query = `query ($page: Int!, $cursor: String, $known: String) { planet(id: "revised") {
    moons(page: $page, limit: 2, cursor: $cursor, unlessRevision: $known) {
      revision page totalCount hasMore nextCursor previousCursor items { id name planet { name } } } } }`
  const read = async (page: number, known?: string, cursor?: string) =>
    (await reader.graphql(query, { page, known, cursor })).data.planet.moons
  const first = await read(1)
  const second = await read(2, undefined, first.nextCursor)
  t.not(first.revision, second.revision)
  t.deepEqual(await read(1, first.revision), { ...first, items: [] })
  t.deepEqual(await read(2, second.revision, first.nextCursor), { ...second, items: [] })
  t.deepEqual(await read(1, second.revision), first)
  await writer.put('/planets/revised/moons/d', { id: 'd', name: 'd' })
  const counted = await read(1, first.revision)
  t.deepEqual(counted, { ...first, revision: counted.revision, totalCount: 4 })
  const nested = 'planetPage(unlessRevision: "old") { items { moons { items { planet { name } } } } }'
  const { data } = await reader.graphql(`{ ${nested} }`)
  t.true(JSON.stringify(data).includes('Revised'))
})

test.serial('an uncounted page changes when another follows it', async (t) => {
  const { reader, writer } = service()
  await writer.put('/planets/grows', { id: 'grows', name: 'Grows' })
  await writer.put('/planets/grows/moons/a', { id: 'a', name: 'a' })
  const read = (headers = {}) =>
    reader.get('/planets/grows/moons?limit=1', { prefer: 'count=none', ...headers })
  const known = { 'if-none-match': tagOf(await read()) }
  t.is((await read(known)).status, 304)
  await writer.put('/planets/grows/moons/b', { id: 'b', name: 'b' })
  const { status, body } = await read(known)
  t.deepEqual([status, body.has_more], [200, true])
  await writer.put('/planets/grows/moons/c', { id: 'c', name: 'c' })
  t.is((await read({ 'if-none-match': tagOf(await read()) })).status, 304)
})

for (const accept of ['text/csv', 'application/x-ndjson']) {
  for (const embed of ['', '&embed=moons']) {
    test.serial(
      `${accept}${embed}: the tag changes with the count and the next page in headers`,
      async (t) => {
        const { reader, writer } = service()
        const star = `Star of ${accept}${embed}`
        const put = (id: string) =>
          writer.put(`/planets/counted-${id}`, {
            id: `counted-${id}`,
            name: `${id} ${star}`,
            host_star: star,
          })
        const query = `limit=1&sort=name:asc&filter=host_star:${encodeURIComponent(star)}${embed}`
        const read = (headers: RequestHeaders = {}) => reader.get(`/planets?${query}`, { accept, ...headers })
        await put('a')
        const uncounted = await read({ prefer: 'count=none' })
        const first = await read()
        await put('b')
        for (const [before, prefer, count] of [
          [uncounted, 'count=none', null],
          [first, '', '2'],
        ] as const) {
          const now = await read({ prefer, 'if-none-match': tagOf(before) })
          t.deepEqual([now.status, now.text, now.headers.get('x-total-count')], [200, before.text, count])
          t.regex(now.headers.get('link') ?? '', /rel="next"/)
          t.is((await read({ prefer, 'if-none-match': tagOf(now) })).status, 304)
        }
        const second = await read()
        await put('c')
        const third = await read({ 'if-none-match': tagOf(second) })
        t.deepEqual([third.status, third.headers.get('x-total-count')], [200, '3'])
        for (const id of ['a', 'b', 'c']) await writer.delete(`/planets/counted-${id}`)
      },
    )
  }
}
