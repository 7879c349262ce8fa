import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import test from 'ava'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures, resourcePath } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const STRICT = [
  'handling="strict"',
  'HANDLING = Strict',
  'handling="str\\ict"',
  'a="x, y; \\"", handling=strict;b;c="d,e"',
  ',, handling=strict ,',
  'handling=strict, handling=lenient',
  '=x, (, handling=strict',
]

const NOT_STRICT = [
  'handling=lenient, handling=strict',
  'handling, handling=strict',
  'a; handling=strict',
  'a="handling=strict"',
  'a=", handling=strict',
  'handling=strictly',
  'handling=strict strict',
  'handling:strict, handling=strict',
  'constructor, __proto__=x',
]

test('RFC 7240 §2: the first preference of a name counts; malformed and unknown ones are ignored', async (t) => {
  const { writer } = service()
  const statusOf = async (prefer: string) =>
    (await writer.delete('/species/never-was', { Prefer: prefer })).status
  for (const prefer of STRICT) t.is(await statusOf(prefer), 404, prefer)
  for (const prefer of NOT_STRICT) t.is(await statusOf(prefer), 204, prefer)
})

test('several Prefer headers are one list', async (t) => {
  const { origin, writer } = service()
  const { authorization } = writer
  const headers = { authorization, prefer: ['respond-async', 'handling=strict'] }
  const sent = request(`${origin}/api/v1/species/never-was`, { method: 'DELETE', headers }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  t.is(answer.statusCode, 404)
})

test('a preference tx that is not recognized is refused, since ignoring it would write', async (t) => {
  const { writer } = service()
  for (const prefer of [
    'tx',
    'tx=maybe',
    'TX="roll back"',
    'tx:rollback',
    'tx=rollback now',
    'tx=x, tx=commit',
  ]) {
    const { status, body } = await writer.delete('/species/never-was', { Prefer: prefer })
    t.deepEqual(
      [status, body.error?.code, body.error?.details[0].field],
      [400, 'INVALID_QUERY_PARAMETER', 'prefer'],
    )
  }
  t.is((await writer.delete('/species/never-was', { Prefer: 'tx=commit' })).status, 204)
})

const MINIMAL = { Prefer: 'return=minimal' }
const REPRESENTATION = { Prefer: 'return=representation' }

for (const resource of resources) {
  test.serial(
    `${resource.path}: return=representation answers a change with what a GET returns then`,
    async (t) => {
      const { reader, writer } = service()
      const fixtures = new Fixtures(writer)
      const { path, body } = await fixtures.create(resource)
      if (!resource.replaceable) return t.pass('never changes')
      const { [resource.writable[0]?.name as string]: _, ...fewer } = body
      const sent = await fixtures.body(resource)
      for (const change of [
        () => writer.put(path, { ...body, ...sent }, REPRESENTATION),
        () => writer.patch(path, {}, { ...REPRESENTATION, 'If-None-Match': '"other:1"' }),
        () => writer.patch(path, fewer, REPRESENTATION),
      ]) {
        const { status, headers, body: shown } = await change()
        const read = await reader.get(path)
        t.deepEqual([status, shown], [200, read.body])
        t.is(headers.get('preference-applied'), 'return=representation')
        t.is(headers.get('content-location'), read.body._links.self.href)
        for (const name of ['etag', 'last-modified', 'content-type'])
          t.is(headers.get(name), read.headers.get(name))
      }
    },
  )

  test.serial(`${resource.path}: return=minimal answers no write with a body`, async (t) => {
    const { reader, writer } = service()
    const fixtures = new Fixtures(writer)
    const { path } = await fixtures.create(resource)
    const body = await fixtures.body(resource)
    const collection = resource.listed ? path.slice(0, path.lastIndexOf('/')) : path
    if (!resource.listed) await writer.delete(path)
    const method = resource.listed ? 'POST' : 'PUT'
    const created = await writer.request(method, collection, body, MINIMAL)
    t.deepEqual([created.status, created.text, created.headers.get('content-type')], [201, '', null])
    t.is(created.headers.get('preference-applied'), 'return=minimal')
    const address = created.headers.get('location') ?? ''
    const read = await reader.get(address)
    for (const name of ['etag', 'last-modified']) t.is(created.headers.get(name), read.headers.get(name))
    if (!resource.replaceable) return
    const changed = await writer.patch(address, body, MINIMAL)
    t.deepEqual([changed.status, changed.text], [204, ''])
    t.is(changed.headers.get('preference-applied'), 'return=minimal')
  })
}

test('a caller without the read scope sees a new resource, and no changed one', async (t) => {
  const { withScope } = service()
  const writer = withScope('planets:write')
  const created = await writer.put('/planets/hidden', { id: 'hidden', name: 'Hidden' }, REPRESENTATION)
  t.deepEqual([created.status, created.body.name], [201, 'Hidden'])
  t.is(created.headers.get('preference-applied'), 'return=representation')
  const changed = await writer.patch('/planets/hidden', { habitable: true }, REPRESENTATION)
  t.deepEqual([changed.status, changed.text, changed.headers.get('preference-applied')], [204, '', null])
})

test('a change without a preference has no body, and an unknown one changes nothing', async (t) => {
  const { writer } = service()
  await writer.put('/planets/plain', { id: 'plain', name: 'Plain' })
  for (const headers of [{}, { Prefer: 'return=all' }]) {
    const { status, text, headers: sent } = await writer.patch('/planets/plain', { habitable: true }, headers)
    t.deepEqual([status, text, sent.get('preference-applied')], [204, '', null])
  }
})

test('a preference that is applied whatever the result is confirmed once', async (t) => {
  const { writer } = service()
  const strict = { Prefer: 'handling=strict' }
  await writer.put('/planets/brief', { id: 'brief', name: 'Brief' })
  for (const status of [204, 410]) {
    const deleted = await writer.delete('/planets/brief', strict)
    t.deepEqual([deleted.status, deleted.headers.get('preference-applied')], [status, 'handling=strict'])
  }
})

test('handling=lenient is confirmed, except by a creation, which ignores read-only fields anyway', async (t) => {
  const { writer } = service()
  const lenient = { Prefer: 'handling=lenient, return=minimal' }
  const readOnly = { last_updated: '2000-01-01T00:00:00Z' }
  const created = await writer.post('/planets', { name: 'New', ...readOnly }, lenient)
  t.deepEqual([created.status, created.headers.get('preference-applied')], [201, 'return=minimal'])
  const changed = await writer.patch(created.headers.get('location') ?? '', readOnly, lenient)
  const applied = 'handling=lenient, return=minimal'
  t.deepEqual([changed.status, changed.headers.get('preference-applied')], [204, applied])
})

const UNCOUNTED = { Prefer: 'count=none' }

test.serial('count=none leads through a list and back', async (t) => {
  const { reader, writer } = service()
  for (const id of ['a', 'b', 'c', 'd', 'e'])
    await writer.put(`/missions/walk-${id}`, { id: `walk-${id}`, name: id, objective: 'walked through' })
  const path = '/missions?limit=2&sort=name:asc&filter=objective:walked%20through'
  const shown: string[][] = []
  const pages: Json[] = []
  for (let url = path; url; url = pages.at(-1)._links.next?.href) {
    const { body, headers } = await reader.get(url, UNCOUNTED)
    t.is(headers.get('preference-applied'), 'count=none')
    t.deepEqual(Object.keys(body), ['_links', 'page', 'limit', 'has_more', '_embedded'])
    t.false('last' in body._links)
    t.is(body.has_more, body._links.next !== null)
    shown.push(body._embedded.missions.map(({ name }: Json) => name))
    pages.push(body)
  }
  t.deepEqual(shown, [['a', 'b'], ['c', 'd'], ['e']])
  t.deepEqual(
    pages.map(({ page }) => page),
    [1, 2, 3],
  )
  for (const index of [2, 1]) {
    const { body } = await reader.get(pages[index]._links.prev.href, UNCOUNTED)
    t.deepEqual([body.page, body._embedded], [index, pages[index - 1]._embedded])
  }
  t.is(pages[0]._links.prev, null)
  const second = await reader.get(`${path}&page=2`, UNCOUNTED)
  t.deepEqual(second.body._embedded, pages[1]._embedded)
  const past = await reader.get(`${path}&page=9`, UNCOUNTED)
  t.deepEqual([past.body.has_more, past.body._embedded.missions], [false, []])
  t.regex(past.body._links.prev.href, /[?&]page=8&/)
})

test.serial('a list without the preference is counted, and varies with it', async (t) => {
  const { reader, writer } = service()
  await writer.put('/planets/counted', { id: 'counted', name: 'Counted' })
  const { body, headers } = await reader.get('/planets?limit=1')
  t.true(body.total_count > 0 && body.total_pages > 0)
  t.regex(headers.get('vary') ?? '', /\bPrefer\b/)
  t.is(headers.get('preference-applied'), null)
})

const DRY = { Prefer: 'tx=rollback' }

for (const resource of representatives) {
  test.serial(`${resource.path}: a dry run answers as the write would, and stores nothing`, async (t) => {
    const { reader, writer } = service()
    const fixtures = new Fixtures(writer)
    const { path, collection, parentId } = await fixtures.create(resource)
    const before = await reader.get(path)
    const body = await fixtures.body(resource)
    const isDry = ({ headers }: { headers: Headers }) =>
      t.is(headers.get('preference-applied'), 'tx=rollback')

    const other = resourcePath(resource, parentId, 'dry')
    for (const [method, target] of [
      ['POST', collection],
      ['PUT', other],
    ] as const) {
      if (!resource.listed || (method === 'PUT' && !resource.replaceable)) continue
      const sent = method === 'PUT' ? { ...body, id: 'dry' } : body
      const tried = await writer.request(method, target, sent, DRY)
      isDry(tried)
      t.deepEqual([tried.status, tried.headers.get('etag')], [201, `"${tried.body.id}:1"`])
      t.is((await reader.get(tried.headers.get('location') as string)).status, 404)
      const created = await writer.request(method, target, sent)
      const asCreated = (answer: Json) => JSON.stringify(answer).replaceAll(/"[^"]*(?:Z|[-0-9a-f]{36})"/g, '')
      t.is(asCreated(tried.body), asCreated(created.body))
      await writer.delete(created.headers.get('location') as string)
    }
    if (resource.replaceable) {
      for (const method of ['PUT', 'PATCH'] as const) {
        const changed = await writer.request(method, path, body, DRY)
        isDry(changed)
        t.deepEqual([changed.status, changed.headers.get('etag')], [204, raised(before.headers.get('etag'))])
      }
      const refused = await writer.patch(path, { id: 'other' }, DRY)
      t.is(refused.body.error.details[0].code, 'READ_ONLY_FIELD')
    }
    const gone = await writer.delete(path, DRY)
    isDry(gone)
    t.is(gone.status, 204)
    const after = await reader.get(path)
    t.deepEqual([after.body, after.headers.get('etag')], [before.body, before.headers.get('etag')])
  })
}

/** The entity tag of the next version. */
function raised(tag: string | null): string | undefined {
  return tag?.replace(/(\d+)"$/, (_, version) => `${Number(version) + 1}"`)
}

test('a dry run is refused like the write, and uses up no idempotency key', async (t) => {
  const { writer, withScope } = service()
  const planet = { name: 'Tried' }
  const keyed = { 'Idempotency-Key': 'tried' }
  t.is((await writer.post('/planets', planet, { ...DRY, ...keyed })).status, 201)
  t.is((await writer.post('/planets', { name: 'Kept' }, keyed)).status, 201)
  const again = await writer.post('/planets', { name: 'kept' }, DRY)
  t.deepEqual([again.status, again.body.error.details[0].field], [409, 'name'])
  t.is((await writer.post('/planets', {}, DRY)).status, 400)
  t.is((await withScope('planets:read').post('/planets', planet, DRY)).status, 403)
  t.is((await writer.delete('/planets/unknown', { Prefer: 'tx=rollback, handling=strict' })).status, 404)
  const { headers } = await writer.post('/planets', planet, { Prefer: 'tx=rollback, graphql-operation' })
  t.regex(headers.get('graphql-operation') ?? '', /mutation \(.*\) @dryRun \{/)
})

test('operations of up to 6,000 characters are shown', async (t) => {
  const { writer } = service()
  const shownWith = async (length: number) => {
    const mission = { name: 'Long', objective: 'x'.repeat(length) }
    const prefer = { Prefer: 'tx=rollback, graphql-operation' }
    const { status, headers } = await writer.post('/missions', mission, prefer)
    t.is(status, 201)
    return headers.get('graphql-operation')?.length
  }
  const room = 6_000 - ((await shownWith(0)) ?? 0)
  t.is(await shownWith(room), 6_000)
  t.is(await shownWith(room + 1), undefined)
})

test('tx=commit is confirmed, and writes', async (t) => {
  const { writer, reader } = service()
  const { status, headers } = await writer.post('/planets', { name: 'Stored' }, { Prefer: 'tx=commit' })
  t.deepEqual([status, headers.get('preference-applied')], [201, 'tx=commit'])
  t.is((await reader.get(headers.get('location') as string)).status, 200)
})
